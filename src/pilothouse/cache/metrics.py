"""What operators see of watch caches: what came in and went out, how large they are, how long things took. Names,
labels and buckets are the original's.

A cache counts by itself, in numbers that are bound once; which kind it is of is looked up at a scrape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final, NamedTuple, Protocol

from pilothouse.cache.listmetrics import Loaded
from pilothouse.kit.metrics import Counter, Distribution, Gauge, Histogram, Registry, seen_by

_INITIALIZED: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 180.0, 600.0)
_LISTED: Final = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0,
    45.0, 60.0,
)  # fmt: skip
_LOADED: Final = tuple(sorted({*_INITIALIZED, *_LISTED}))
_WAITED: Final = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0)
_SENT: Final = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_KIND: Final = ("group", "resource")
_DIGITS: Final = 10**15  # of a revision: more a metric can't tell apart
_OBJECTS: Final = (
    "[ALPHA] Number of stored objects at the time of last check split by kind. In case of a fetching error, "
    "the value will be -1."
)
_CAPACITY: Final = "[ALPHA] Total capacity of watch cache broken by resource type."
_REVISION: Final = (
    "[ALPHA] Current resource version of watch cache broken by resource type. This is truncated to the 15 "
    "least significant digits."
)
_SIZE: Final = (
    "[ALPHA] Estimated size of stored objects in database. Estimate is based on sum of last observed sizes of "
    "serialized objects. In case of a fetching error, the value will be -1."
)
_RECEIVED: Final = "[ALPHA] Counter of events received in watch cache broken by resource type."
_DISPATCHED: Final = "[ALPHA] Counter of events dispatched in watch cache broken by resource type."
_FROM_STORAGE: Final = "[BETA] Number of etcd events received split by kind."
_LOADS: Final = "[ALPHA] Counter of watch cache initializations broken by resource type."
_LOADING: Final = "[ALPHA] Histogram of watch cache initialization duration in seconds, broken by resource type."
_LISTING: Final = (
    "[ALPHA] Latency of the storage layer GetList call in seconds, including object decode, split by whether "
    "etcd RangeStream was used."
)
_WAITING: Final = "[ALPHA] Histogram of time spent waiting for a watch cache to become fresh."
_SENDING: Final = (
    "[ALPHA] Histogram of watch event dispatch latency broken by resource type and pipeline stage. The 'total' "
    "stage is the end-to-end latency of a delivered event."
)


class Held(NamedTuple):
    """A loaded cache now: objects, how far it is, bytes of its objects, and how many changes it may remember."""

    number: int
    revision: int
    size: int
    capacity: int


class CacheStats:
    """The numbers of one cache. `events`: changes that came, all of which were told.

    `waited`: seconds that a read waited for a revision. `sent`: seconds to tell the changes of one commit to all.
    """

    __slots__ = ("_filled", "_loaded", "_loads", "events", "sent", "waited")

    def __init__(self, families: CacheFamilies, number: str) -> None:
        self.events = families.events.bind(number)
        self._loads = families.loads.bind(number)
        self._filled = families.filled.bind(number)
        self._loaded = families.loaded.bind(number).observe
        self.waited = families.waited.bind(number).observe
        self.sent = families.sent.bind(number).observe

    def loaded(self, seconds: float, objects: int) -> None:
        """It was loaded, in so many seconds."""
        self._loads.value += 1
        self._filled.value += objects
        self._loaded(seconds)


class CacheFamilies:
    """Series by the number of a cache."""

    def __init__(self, registry: Registry) -> None:
        beside = registry.beside
        self.events = Counter("", "", ("cache",))
        self.loads = Counter("", "", ("cache",))
        self.filled = Counter("", "", ("cache",))
        self.loaded = beside(Histogram("", "", ("cache",), _LOADED, sparse=True))
        self.waited = beside(Histogram("", "", ("cache",), _WAITED, sparse=True))
        self.sent = beside(Histogram("", "", ("cache",), _SENT, sparse=True))


class Cache(Protocol):
    @property
    def held(self) -> Held | None:
        """None before it is loaded."""
        ...


Kinds = Mapping[str, tuple[str, str]]  # number of a cache -> group and resource


class CacheMetrics:
    """Of all caches of a server. `kinds` is asked at each scrape; what it does not tell of is not shown."""

    def __init__(self, registry: Registry, kinds: Callable[[Mapping[str, Cache]], Kinds]) -> None:
        self._families = CacheFamilies(registry)
        self._caches: dict[str, Cache] = {}
        self._kinds = kinds
        self._show(registry)

    def stats(self) -> CacheStats:
        """Of a new cache; `opened` is to be called with it."""
        return CacheStats(self._families, str(len(self._caches)))

    def opened(self, cache: Cache) -> None:
        self._caches[str(len(self._caches))] = cache

    def loads(self) -> Iterator[Loaded]:
        """How often each cache was filled."""
        kinds = self._kinds(self._caches)
        filled = {number: value for (number,), value in self._families.filled.samples()}
        for (number,), value in self._families.loads.samples():
            if number in kinds and value:
                yield Loaded(*kinds[number], value, filled[number])

    def _show(self, registry: Registry) -> None:
        families, add = self._families, registry.add
        add(Gauge("apiserver_resource_objects", _OBJECTS, _KIND, lambda: self._held("number")))
        add(Gauge("watch_cache_capacity", _CAPACITY, _KIND, lambda: self._held("capacity")))
        add(Gauge("apiserver_watch_cache_resource_version", _REVISION, _KIND, lambda: self._held("revision")))
        add(Gauge("apiserver_resource_size_estimate_bytes", _SIZE, _KIND, lambda: self._held("size")))
        for name, text, counter in (
            ("apiserver_watch_cache_events_received_total", _RECEIVED, families.events),
            ("apiserver_watch_cache_events_dispatched_total", _DISPATCHED, families.events),
            ("apiserver_storage_events_received_total", _FROM_STORAGE, families.events),
            ("apiserver_watch_cache_initializations_total", _LOADS, families.loads),
        ):
            add(Counter(name, text, _KIND, partial(self._named, counter), of=[counter]))
        loaded, waited, sent = families.loaded, families.waited, families.sent
        for name, text, more, bounds, of in (
            ("apiserver_watch_cache_initialization_duration_seconds", _LOADING, {}, _INITIALIZED, loaded),
            ("apiserver_storage_list_duration_seconds", _LISTING, {"streamed": "false"}, _LISTED, loaded),
            ("apiserver_watch_cache_read_wait_seconds", _WAITING, {}, _WAITED, waited),
            ("apiserver_watch_events_dispatch_duration_seconds", _SENDING, {"stage": "total"}, _SENT, sent),
        ):
            read = self._reader(bounds, of, tuple(more.values()))
            add(Histogram(name, text, (*_KIND, *more), bounds, read, of=[of]))

    def _held(self, what: str) -> Iterator[tuple[tuple[str, ...], float]]:
        for number, kind in self._kinds(self._caches).items():
            held = self._caches[number].held
            if held is not None:
                value: int = getattr(held, what)
                yield kind, float(value % _DIGITS if what == "revision" else value)

    def _named(self, counter: Counter) -> Iterator[tuple[tuple[str, ...], float]]:
        kinds = self._kinds(self._caches)
        for (number,), value in counter.samples():
            if number in kinds and value:
                yield kinds[number], value

    def _reader(
        self, bounds: tuple[float, ...], of: Histogram, more: tuple[str, ...]
    ) -> Callable[[], Iterator[Distribution]]:
        def read() -> Iterator[Distribution]:
            kinds = self._kinds(self._caches)
            for (number,), counts, total in seen_by(bounds, of):
                if number in kinds:
                    yield (*kinds[number], *more), counts, total

        return read
