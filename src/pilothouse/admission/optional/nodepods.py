"""Pods that a node may make: copies of its own static pods, which use nothing of the API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pilothouse.registry.resource import Object

MIRROR: Final = "kubernetes.io/config.mirror"
_SOURCES: Final = (
    ("secret", "secrets"),
    ("configMap", "configmaps"),
    ("persistentVolumeClaim", "persistentvolumeclaims"),
    ("serviceAccountToken", "a service account"),
    ("clusterTrustBundle", "clustertrustbundles"),
)


def refused_mirror(node: str, pod: Object) -> str:
    """Why the node may not make this pod; "" where it may."""
    metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    if MIRROR not in (metadata.get("annotations") or {}):
        return f'pod does not have "{MIRROR}" annotation, node "{node}" can only create mirror pods'
    if spec.get("nodeName") != node:
        return f'node "{node}" can only create pods with spec.nodeName set to itself'
    owners = metadata.get("ownerReferences") or []
    if len(owners) > 1:
        return f'node "{node}" can only create pods with a single owner reference set to itself'
    if not owners or (owners[0].get("kind"), owners[0].get("name")) != ("Node", node):
        return f'node "{node}" can only create pods with an owner reference set to itself'
    used = next(_uses(spec), "")
    return f'node "{node}" can not create pods that reference {used}' if used else ""


def _uses(spec: dict[str, Any]) -> Iterator[str]:
    if spec.get("serviceAccountName"):
        yield "a service account"
    if spec.get("resourceClaims"):
        yield "resourceclaims"
    for volume in spec.get("volumes") or ():
        for source in (volume, *((volume.get("projected") or {}).get("sources") or ())):
            yield from (what for member, what in _SOURCES if source.get(member) is not None)
    for kind in ("initContainers", "containers"):
        for container in spec.get(kind) or ():
            yield from _of_environment(container)


def _of_environment(container: dict[str, Any]) -> Iterator[str]:
    for variable in container.get("env") or ():
        value = variable.get("valueFrom") or {}
        if value.get("secretKeyRef") is not None:
            yield "secrets"
        if value.get("configMapKeyRef") is not None:
            yield "configmaps"
    for source in container.get("envFrom") or ():
        if source.get("secretRef") is not None:
            yield "secrets"
        if source.get("configMapRef") is not None:
            yield "configmaps"
