"""Which container of which pod a request is for, and where it runs."""

from __future__ import annotations

from typing import Any

from pilothouse.machinery.errors import bad_request
from pilothouse.registry.resource import Object
from pilothouse.registry.store import GenericStore

_LISTS = ("initContainers", "containers", "ephemeralContainers")


async def pod_of(pods: GenericStore, namespace: str, name: str) -> Object:
    """Raises NotFound."""
    return pods.codec.decode(await pods.get(namespace, name))


def container_of(pod: Object, wanted: str) -> str:
    """The container that is named, or the only one. Raises BadRequest."""
    name = pod["metadata"]["name"]
    spec: dict[str, Any] = pod.get("spec") or {}
    names = [one.get("name", "") for part in _LISTS for one in spec.get(part) or ()]
    if wanted:
        if wanted not in names:
            raise bad_request(f"container {wanted} is not valid for pod {name}")
        return wanted
    own = spec.get("containers") or []
    if len(own) == 1:
        only: str = own[0].get("name", "")
        return only
    if not own:
        raise bad_request(f"a container name must be specified for pod {name}")
    raise bad_request(f"a container name must be specified for pod {name}, choose one of: [{' '.join(names)}]")


def node_of(pod: Object) -> str:
    """Raises BadRequest for a pod that no node has."""
    node: str = (pod.get("spec") or {}).get("nodeName") or ""
    if not node:
        raise bad_request(f"pod {pod['metadata']['name']} does not have a host assigned")
    return node
