"""What a pod or a persistent volume refers to: its node may read that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

Object = Mapping[str, Any]
Reference = tuple[str, str, str]  # resource, namespace, name
SECRETS: Final = "secrets"
CONFIG_MAPS: Final = "configmaps"
CLAIMS: Final = "persistentvolumeclaims"
RESOURCE_CLAIMS: Final = "resourceclaims"
ACCOUNTS: Final = "serviceaccounts"
MIRROR: Final = "kubernetes.io/config.mirror"

# Volumes of a pod that name a secret of its namespace: source -> where the name is.
_POD_SECRETS: Final = {
    "secret": ("secretName",),
    "azureFile": ("secretName",),
    "cephfs": ("secretRef", "name"),
    "cinder": ("secretRef", "name"),
    "flexVolume": ("secretRef", "name"),
    "iscsi": ("secretRef", "name"),
    "rbd": ("secretRef", "name"),
    "scaleIO": ("secretRef", "name"),
    "storageos": ("secretRef", "name"),
    "csi": ("nodePublishSecretRef", "name"),
}
# Sources of a persistent volume that name a secret, with its namespace beside the name.
_VOLUME_SECRETS: Final = {
    "cephfs": ("secretRef",),
    "cinder": ("secretRef",),
    "flexVolume": ("secretRef",),
    "iscsi": ("secretRef",),
    "rbd": ("secretRef",),
    "scaleIO": ("secretRef",),
    "storageos": ("secretRef",),
    "csi": ("controllerPublishSecretRef", "nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef"),
}


def pod_references(pod: Object) -> frozenset[Reference]:
    """All that a pod names. A mirror pod names nothing: its node made it up."""
    metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    if MIRROR in (metadata.get("annotations") or {}):
        return frozenset()
    namespace = metadata.get("namespace", "")
    found = {(resource, namespace, name) for resource, name in _named(pod, spec) if name}
    return frozenset(found)


def _named(pod: Object, spec: Object) -> Iterator[tuple[str, str]]:
    name = (pod.get("metadata") or {}).get("name", "")
    yield ACCOUNTS, spec.get("serviceAccountName", "")
    for pull in spec.get("imagePullSecrets") or ():
        yield SECRETS, pull.get("name", "")
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(group) or ():
            yield from _of_container(container)
    for volume in spec.get("volumes") or ():
        yield from _of_volume(name, volume)
    for claim in spec.get("resourceClaims") or ():
        yield RESOURCE_CLAIMS, claim.get("resourceClaimName", "")
    status = pod.get("status") or {}
    for claim in status.get("resourceClaimStatuses") or ():
        yield RESOURCE_CLAIMS, claim.get("resourceClaimName", "")
    yield RESOURCE_CLAIMS, (status.get("extendedResourceClaimStatus") or {}).get("resourceClaimName", "")


def _of_container(container: Object) -> Iterator[tuple[str, str]]:
    for source in container.get("envFrom") or ():
        yield SECRETS, (source.get("secretRef") or {}).get("name", "")
        yield CONFIG_MAPS, (source.get("configMapRef") or {}).get("name", "")
    for variable in container.get("env") or ():
        source = variable.get("valueFrom") or {}
        yield SECRETS, (source.get("secretKeyRef") or {}).get("name", "")
        yield CONFIG_MAPS, (source.get("configMapKeyRef") or {}).get("name", "")


def _of_volume(pod: str, volume: Object) -> Iterator[tuple[str, str]]:
    for source, path in _POD_SECRETS.items():
        yield SECRETS, _at(volume.get(source), path)
    yield CONFIG_MAPS, (volume.get("configMap") or {}).get("name", "")
    yield CLAIMS, (volume.get("persistentVolumeClaim") or {}).get("claimName", "")
    if volume.get("ephemeral"):
        yield CLAIMS, f"{pod}-{volume.get('name', '')}"
    for source in (volume.get("projected") or {}).get("sources") or ():
        yield SECRETS, (source.get("secret") or {}).get("name", "")
        yield CONFIG_MAPS, (source.get("configMap") or {}).get("name", "")


def volume_secrets(volume: Object) -> frozenset[Reference]:
    """Secrets that a persistent volume names. Where no namespace is said it is that of its claim."""
    spec = volume.get("spec") or {}
    home = (spec.get("claimRef") or {}).get("namespace", "")
    found = set()
    for source, members in _VOLUME_SECRETS.items():
        for member in members:
            named = (spec.get(source) or {}).get(member) or {}
            if named.get("name"):
                found.add((SECRETS, named.get("namespace") or home, named["name"]))
    azure = spec.get("azureFile") or {}
    if azure.get("secretName"):
        found.add((SECRETS, azure.get("secretNamespace") or home, azure["secretName"]))
    return frozenset(found)


def _at(source: Object | None, path: tuple[str, ...]) -> str:
    value: Any = source
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""
