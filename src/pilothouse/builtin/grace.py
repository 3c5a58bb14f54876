"""How long a kind may take to go: pods that run on a node get time to stop (Kubernetes documentation,
"Pod Lifecycle").
"""

from __future__ import annotations

from typing import Final

from pilothouse.registry.deleter import Grace, no_grace
from pilothouse.registry.request import DeleteOptions
from pilothouse.registry.resource import Object

DEFAULT_SECONDS: Final = 30
_ENDED: Final = frozenset({"Succeeded", "Failed"})


def pod_grace(obj: Object, options: DeleteOptions) -> int:
    """Seconds: what the request says, else the pod's own; none for a pod on no node or one that has ended."""
    spec = obj.get("spec") or {}
    own: int | None = spec.get("terminationGracePeriodSeconds")
    seconds = options.grace_seconds if options.grace_seconds is not None else own
    if seconds is None:
        seconds = DEFAULT_SECONDS
    if not spec.get("nodeName") or (obj.get("status") or {}).get("phase") in _ENDED:
        return 0
    return max(seconds, 0)


def grace_of(group: str, plural: str) -> Grace:
    return pod_grace if (group, plural) == ("", "pods") else no_grace
