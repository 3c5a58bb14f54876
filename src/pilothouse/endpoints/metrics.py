"""What watches and lists of each kind do, and which old versions are still asked for. Names, labels and buckets are the
original's.

Events go out by the thousand: what is counted of one is its size, and all else follows from that at a scrape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from pilothouse.cache.listmetrics import ListMetrics, ListSeries
from pilothouse.kit.metrics import Buckets, Counter, Gauge, Histogram, Registry, Unheard, Value
from pilothouse.registry.metrics import ComparisonMetrics

_SIZES: Final = tuple(1024.0 * 2**power for power in range(8))
_LISTED: Final = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0)
_KIND: Final = ("group", "resource")
_VERSION: Final = ("group", "version", "resource")
_REMOVED: Final = re.compile(r"unavailable in v([0-9]+\.[0-9]+)\+")
_EVENTS: Final = "[BETA] Number of events sent in watch clients"
_SIZE: Final = "[BETA] Watch event size distribution in bytes"
_INITIAL: Final = "[ALPHA] Counter of init events processed in watch cache broken by resource type."
_TERMINATED: Final = "[ALPHA] Counter of watchers closed due to unresponsiveness broken by resource type."
_LISTING: Final = (
    "[BETA] Response latency distribution in seconds for watch list requests broken by group, version, "
    "resource and scope."
)
_DEPRECATED: Final = (
    "[STABLE] Gauge of deprecated APIs that have been requested, broken out by API group, version, resource, "
    "subresource, and removed_release."
)


class WatchSeries:
    """The watches of one kind in one version. `initial`: events of what was there before. `terminated`: watches ended
    because their readers lagged. `sizes`: bytes of each event.
    """

    __slots__ = ("initial", "listed", "sizes", "terminated")

    def __init__(self, sizes: Buckets, initial: Value, terminated: Value, listed: Callable[[str], Buckets]) -> None:
        """`listed`: how long the present state took to tell, by scope (cluster, namespace or resource)."""
        self.sizes = sizes
        self.initial = initial
        self.terminated = terminated
        self.listed = listed


class EndpointMetrics:
    def __init__(self, registry: Registry | None = None, lists: ListMetrics | None = None) -> None:
        registry = registry or Unheard()
        add = registry.add
        self._lists = lists or ListMetrics(registry)
        self.comparisons = ComparisonMetrics(registry)
        self._sizes = add(Histogram("apiserver_watch_events_sizes", _SIZE, _VERSION, _SIZES, sparse=True))
        add(Counter("apiserver_watch_events_total", _EVENTS, _VERSION, self._events))
        self._initial = add(Counter("apiserver_init_events_total", _INITIAL, _KIND))
        self._terminated = add(Counter("apiserver_terminated_watchers_total", _TERMINATED, _KIND))
        self._listed = add(Histogram("apiserver_watch_list_duration_seconds", _LISTING, (*_VERSION, "scope"), _LISTED))
        removed = (*_VERSION, "subresource", "removed_release")
        self._deprecated = add(Gauge("apiserver_requested_deprecated_apis", _DEPRECATED, removed))
        self._watches: dict[tuple[str, str, str], WatchSeries] = {}

    def lists(self, group: str, resource: str) -> ListSeries:
        return self._lists.of(group, resource)

    def watches(self, group: str, version: str, resource: str) -> WatchSeries:
        key = group, version, resource
        found = self._watches.get(key)
        if found is None:
            found = self._watches[key] = WatchSeries(
                self._sizes.bind(*key),
                self._initial.bind(group, resource),
                self._terminated.bind(group, resource),
                lambda scope: self._listed.bind(*key, scope),
            )
        return found

    def asked_for_deprecated(self, group: str, version: str, resource: str, subresource: str, warning: str) -> None:
        """Somebody uses a deprecated version; `warning`: what he is told, which may say when it is removed."""
        removed = _REMOVED.search(warning)
        release = removed.group(1) if removed is not None else ""
        self._deprecated.bind(group, version, resource, subresource, release).set(1.0)

    def _events(self) -> Iterator[tuple[tuple[str, ...], float]]:
        for labels, counts, _ in self._sizes.samples():
            yield labels, float(sum(counts))
