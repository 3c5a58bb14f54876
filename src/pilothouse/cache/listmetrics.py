"""What lists cost: how many there were, what they read, looked at and returned. Names and labels are the original's.

Lists of clients are served by the watch cache; what is below it is listed once, to fill the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from pilothouse.kit.metrics import Counter, Registry, Value

CACHE: Final = "watchcache"
DATABASE: Final = "etcd"  # as the original calls it
_NO_INDEX: Final = ""
_TOTAL: Final = "[ALPHA] Number of LIST requests served from storage"
_FETCHED: Final = "[ALPHA] Number of objects read from storage in the course of serving a LIST request"
_EVALUATED: Final = "[ALPHA] Number of objects tested in the course of serving a LIST request from storage"
_RETURNED: Final = "[ALPHA] Number of objects returned for a LIST request from storage"
_CONSISTENT: Final = "[ALPHA] Counter for consistent reads from cache."
Samples = Iterator[tuple[tuple[str, ...], float]]


class Loaded(NamedTuple):
    """How often the cache of a kind was filled, and with how many objects in all."""

    group: str
    resource: str
    loads: float
    objects: float


class ListSeries:
    """The lists of one kind."""

    __slots__ = ("_consistent", "_evaluated", "_fetched", "_lists", "_returned")

    def __init__(self, lists: Value, fetched: Value, evaluated: Value, returned: Value, consistent: Value) -> None:
        self._lists = lists
        self._fetched = fetched
        self._evaluated = evaluated
        self._returned = returned
        self._consistent = consistent

    def count(self, looked: int, returned: int, *, consistent: bool) -> None:
        """One page. `looked`: at so many objects. `consistent`: the newest state was asked for."""
        self._lists.value += 1
        self._fetched.value += looked
        self._evaluated.value += looked
        self._returned.value += returned
        if consistent:
            self._consistent.value += 1


class ListMetrics:
    """`loads`: asked at each scrape."""

    def __init__(self, registry: Registry, loads: Callable[[], Iterable[Loaded]] = tuple) -> None:
        kind, place = ("group", "resource"), ("group", "resource", "storage")
        indexed = ("group", "resource", "index", "storage")
        self._loads = loads
        self._lists = registry.add(Counter("apiserver_storage_list_total", _TOTAL, indexed, self._filled))
        self._fetched = registry.add(
            Counter("apiserver_storage_list_fetched_objects_total", _FETCHED, indexed, self._fetched_to_fill)
        )
        self._evaluated = registry.add(
            Counter("apiserver_storage_list_evaluated_objects_total", _EVALUATED, place, self._filling)
        )
        self._returned = registry.add(
            Counter("apiserver_storage_list_returned_objects_total", _RETURNED, place, self._filling)
        )
        read = ("success", "fallback", *kind)
        self._consistent = registry.add(Counter("apiserver_watch_cache_consistent_read_total", _CONSISTENT, read))
        self._known: dict[tuple[str, str], ListSeries] = {}

    def of(self, group: str, resource: str) -> ListSeries:
        """The lists of a kind that clients ask for."""
        found = self._known.get((group, resource))
        if found is None:
            found = self._known[group, resource] = ListSeries(
                self._lists.bind(group, resource, _NO_INDEX, CACHE),
                self._fetched.bind(group, resource, _NO_INDEX, CACHE),
                self._evaluated.bind(group, resource, CACHE),
                self._returned.bind(group, resource, CACHE),
                self._consistent.bind("true", "false", group, resource),
            )
        return found

    def _filled(self) -> Samples:
        for one in self._loads():
            yield (one.group, one.resource, _NO_INDEX, DATABASE), one.loads

    def _fetched_to_fill(self) -> Samples:
        for one in self._loads():
            yield (one.group, one.resource, _NO_INDEX, DATABASE), one.objects

    def _filling(self) -> Samples:
        for one in self._loads():
            yield (one.group, one.resource, DATABASE), one.objects
