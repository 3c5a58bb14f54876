"""How long the graph of the node authorizer takes to follow a change. Names and buckets are the original's."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final, TypeVar

from pilothouse.kit.metrics import Histogram, Registry, Unheard

_BOUNDS: Final = tuple(0.0001 * 2**power for power in range(12))
_NAME: Final = "node_authorizer_graph_actions_duration_seconds"
_TEXT: Final = "[ALPHA] Histogram of duration of graph actions in node authorizer."
_KINDS: Final = {
    "pods": "Pod",
    "persistentvolumes": "PV",
    "volumeattachments": "VolumeAttachment",
    "resourceslices": "ResourceSlice",
    "podcertificaterequests": "PodCertificateRequest",
}
T = TypeVar("T")


class GraphMetrics:
    """`clock`: seconds, monotonic."""

    def __init__(self, registry: Registry | None = None, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._actions = (registry or Unheard()).add(Histogram(_NAME, _TEXT, ("operation",), _BOUNDS, sparse=True))

    def timed(self, plural: str, take: Callable[[str, str, T | None], None]) -> Callable[[str, str, T | None], None]:
        """`take` (namespace, name, object or None), measured."""
        kind = _KINDS[plural]
        added, deleted = (self._actions.bind(f"{word}{kind}").observe for word in ("Add", "Delete"))
        clock = self._clock

        def timed(namespace: str, name: str, obj: T | None) -> None:
            began = clock()
            take(namespace, name, obj)
            (deleted if obj is None else added)(clock() - began)

        return timed
