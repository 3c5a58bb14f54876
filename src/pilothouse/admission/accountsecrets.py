"""Accounts that let their pods have only the secrets they name (annotation kubernetes.io/enforce-mountable-secrets)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pilothouse.registry.resource import Object

ENFORCED: Final = "kubernetes.io/enforce-mountable-secrets"
_CONTAINERS: Final = (
    ("initContainers", "init container"),
    ("containers", "container"),
    ("ephemeralContainers", "ephemeral container"),
)


def unreferenced_secret(spec: dict[str, Any], account: Object) -> str:
    """What is wrong with the secrets that a pod uses; "" where nothing is."""
    metadata = account["metadata"]
    if (metadata.get("annotations") or {}).get(ENFORCED, "").lower() != "true":
        return ""
    known = {one.get("name") for one in account.get("secrets") or ()}
    for place, secret in _uses(spec):
        if secret not in known:
            who = f"service account {metadata['name']} does not reference that secret"
            return f'{place} secret.secretName="{secret}" is not allowed because {who}'
    pulls = {one.get("name") for one in account.get("imagePullSecrets") or ()}
    for index, one in enumerate(spec.get("imagePullSecrets") or ()):
        if one.get("name") not in pulls:
            who = f"service account {metadata['name']} does not reference that imagePullSecret"
            return f'imagePullSecrets[{index}].name="{one.get("name")}" is not allowed because {who}'
    return ""


def _uses(spec: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(where, secret)."""
    for volume in spec.get("volumes") or ():
        if volume.get("secret") is not None:
            yield "volume with", volume["secret"].get("secretName", "")
    for kind, word in _CONTAINERS:
        for container in spec.get(kind) or ():
            who = f"{word} {container.get('name', '')}"
            for variable in container.get("env") or ():
                reference = (variable.get("valueFrom") or {}).get("secretKeyRef")
                if reference is not None:
                    yield f"{who} with envVar {variable.get('name', '')} referencing", reference.get("name", "")
            for source in container.get("envFrom") or ():
                if source.get("secretRef") is not None:
                    yield f"{who} with envFrom referencing", source["secretRef"].get("name", "")
