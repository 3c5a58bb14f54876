"""Counters, gauges and histograms that cost an addition, or one `append`, and a registry of them all.

Series are bound once per label set; `kit/exposition.py` makes the text of a scrape. Names, labels and buckets are the
caller's. All functions are for one thread (the loop's), but for `samples`, which may run in another.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from math import ceil
from threading import Lock
from typing import Final, NamedTuple, TypeVar

T = TypeVar("T")
Labels = tuple[str, ...]
MAX_SERIES: Final = 5000  # of one metric; further label sets share one series called "other"


class Value:
    """One number."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def add(self, amount: float = 1.0) -> None:
        self.value += amount

    def set(self, value: float) -> None:
        self.value = value


class Buckets:
    """One histogram series. To observe is to append to a list: what came is sorted into buckets now and then."""

    __slots__ = ("_coming", "_counts", "_lock", "_total", "bounds", "observe", "observe_all")
    observe: Callable[[float], None]
    observe_all: Callable[[Iterable[float]], None]

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._total = 0.0
        self._coming: list[float] = []
        self.observe = self._coming.append
        self.observe_all = self._coming.extend
        self._lock = Lock()  # a scrape settles, too, and has a thread of its own

    @property
    def counts(self) -> list[int]:
        """How many fell into each bucket, not accumulated; the last one is for all that is larger."""
        self.settle()
        return list(self._counts)

    @property
    def total(self) -> float:
        """The sum of what was observed."""
        self.settle()
        return self._total

    def settle(self) -> None:
        """Sort what came into the buckets."""
        if not self._coming:
            return
        with self._lock:
            came = self._coming[:]
            del self._coming[: len(came)]
            if came and max(came) <= self.bounds[0]:  # almost always: one step for them all
                self._counts[0] += len(came)
            else:
                came.sort()
                before = 0
                for place, bound in enumerate(self.bounds):
                    until = bisect_right(came, bound)
                    self._counts[place] += until - before
                    before = until
                self._counts[-1] += len(came) - before
            self._total += sum(came)

    def add_to_first(self, number: int, total: float) -> None:
        """So many that all fell into the first bucket, and their sum."""
        with self._lock:
            self._counts[0] += number
            self._total += total

    def reset(self) -> None:
        """Count from 0 again."""
        self.settle()
        self._counts = [0] * len(self._counts)
        self._total = 0.0


class _Deaf(Buckets):
    """Forgets what it observes."""

    __slots__ = ()

    def __init__(self, bounds: Sequence[float]) -> None:
        super().__init__(bounds)
        self.observe = self.observe_all = _forget


def _forget(value: object) -> None:
    pass


Read = Callable[[], Iterable[tuple[Labels, float]]]


class Counter:
    """A family of ever growing numbers, counted here or read at a scrape. `of`: whose numbers `read` gives."""

    def __init__(
        self, name: str, text: str, labels: Labels = (), read: Read | None = None, *, of: Sequence[Counter] = ()
    ) -> None:
        self.name, self.text, self.labels = name, text, labels
        self._series: dict[Labels, Value] = {}
        self._read = read
        self._of = of

    def bind(self, *values: str) -> Value:
        return _bound(self._series, values, Value)

    def reset(self) -> None:
        """Count from 0 again."""
        for value in self._series.values():
            value.value = 0.0
        for other in self._of:
            other.reset()

    def samples(self) -> list[tuple[Labels, float]]:
        """Every series and its number now."""
        kept = [(labels, value.value) for labels, value in list(self._series.items())]
        return kept + list(self._read()) if self._read is not None else kept


class Gauge:
    """A family of numbers that go up and down, set by their owner or read at a scrape."""

    def __init__(
        self,
        name: str,
        text: str,
        labels: Labels = (),
        read: Callable[[], Iterable[tuple[Labels, float]]] | None = None,
    ) -> None:
        self.name, self.text, self.labels = name, text, labels
        self._series: dict[Labels, Value] = {}
        self._read = read

    def bind(self, *values: str) -> Value:
        return _bound(self._series, values, Value)

    def unbind(self, *values: str) -> None:
        """The thing is gone: its series is shown no longer."""
        self._series.pop(values, None)

    def samples(self) -> list[tuple[Labels, float]]:
        """Every series and its number now."""
        kept = [(labels, value.value) for labels, value in list(self._series.items())]
        return kept + list(self._read()) if self._read is not None else kept


Distribution = tuple[Labels, list[int], float]  # how many fell into each bucket (not accumulated); their sum


class Histogram:
    """A family of distributions, observed here or read at a scrape; `bounds` without +Inf.

    `sparse`: series are bound for all that may come, and shown once something came. `of`: whose numbers `read` gives.
    """

    def __init__(
        self,
        name: str,
        text: str,
        labels: Labels,
        bounds: Sequence[float],
        read: Callable[[], Iterable[Distribution]] | None = None,
        *,
        sparse: bool = False,
        of: Sequence[Histogram] = (),
    ) -> None:
        self.name, self.text, self.labels = name, text, labels
        self.bounds = tuple(bounds)
        self._series: dict[Labels, Buckets] = {}
        self._read = read
        self._sparse = sparse
        self._of = of
        self.deaf = False  # what is observed is forgotten at once
        self.before: Callable[[], None] | None = None  # called on the loop before it is settled

    def bind(self, *values: str) -> Buckets:
        return _bound(self._series, values, lambda: (_Deaf if self.deaf else Buckets)(self.bounds))

    def reset(self) -> None:
        """Count from 0 again."""
        self.settle()
        for series in self._series.values():
            series.reset()
        for other in self._of:
            other.reset()

    def settle(self) -> None:
        """Sort what came into buckets."""
        if self.before is not None:
            self.before()
        for series in self._series.values():
            series.settle()
        for other in self._of:
            other.settle()

    def samples(self) -> list[Distribution]:
        """Every series."""
        kept = [(labels, series.counts, series.total) for labels, series in list(self._series.items())]
        if self._sparse:
            kept = [one for one in kept if any(one[1])]
        return kept + list(self._read()) if self._read is not None else kept


class Summed(NamedTuple):
    """One series of a summary. `quantiles`: each with its value, not a number where nothing was observed."""

    labels: Labels
    number: int
    total: float
    quantiles: Sequence[tuple[float, float]]


class Summary:
    """A family of quantiles, read at a scrape from numbers that are kept elsewhere."""

    def __init__(self, name: str, text: str, labels: Labels, read: Callable[[], Iterable[Summed]]) -> None:
        self.name, self.text, self.labels = name, text, labels
        self._read = read

    def reset(self) -> None:
        """Whoever keeps the numbers begins anew."""

    def samples(self) -> list[Summed]:
        """Every series."""
        return list(self._read())


def quantiles(values: Sequence[float], asked: Sequence[float]) -> list[tuple[float, float]]:
    """The smallest of the values that so many do not exceed, for each share asked for."""
    ordered = sorted(values)
    if not ordered:
        return [(share, float("nan")) for share in asked]
    return [(share, ordered[max(ceil(share * len(ordered)) - 1, 0)]) for share in asked]


def seen_by(bounds: Sequence[float], fine: Histogram) -> list[Distribution]:
    """The series of a histogram in coarser buckets: one observation is enough for two metrics of different buckets."""
    return [(labels, folded(counts, fine.bounds, bounds), total) for labels, counts, total in fine.samples()]


def folded(counts: Sequence[int], bounds: Sequence[float], coarse: Sequence[float]) -> list[int]:
    """What was counted by `bounds` as counted by `coarse`, each of which is one of them."""
    found = [0] * (len(coarse) + 1)
    for bound, count in zip((*bounds, float("inf")), counts, strict=True):
        found[bisect_left(coarse, bound)] += count
    return found


def _bound(series: dict[Labels, T], values: Labels, make: Callable[[], T]) -> T:
    found = series.get(values)
    if found is None:
        if len(series) >= MAX_SERIES:
            values = ("other",) * len(values)
            found = series.get(values)
        if found is None:
            found = series[values] = make()
    return found


Family = Counter | Gauge | Histogram | Summary
F = TypeVar("F", bound=Family)


_STABILITIES: Final = ("ALPHA", "BETA", "STABLE")  # as texts begin with them


class Registry:
    """All metrics of one server. `settle` is to be called every second or so, or what is observed piles up."""

    def __init__(self) -> None:
        self._families: list[Family] = []

    def show_itself(self) -> None:
        """A metric of how many metrics there are."""
        text = "[BETA] The count of registered metrics broken by stability level and deprecation version."
        self.add(
            Counter("registered_metrics_total", text, ("stability_level", "deprecated_version"), self._stabilities)
        )

    def _stabilities(self) -> Iterable[tuple[Labels, float]]:
        for level in _STABILITIES:
            yield (level, ""), float(sum(family.text.startswith(f"[{level}]") for family in self._families))

    def add(self, family: F) -> F:
        self._families.append(family)
        return family

    def beside(self, histogram: Histogram) -> Histogram:
        """One that is not shown itself: others are made of it (`Histogram.of`)."""
        return histogram

    def families(self) -> list[Family]:
        return list(self._families)

    def settle(self) -> None:
        """Sort what histograms observed, which is kept till then one by one."""
        for family in self._families:
            if isinstance(family, Histogram):
                family.settle()

    def reset(self) -> None:
        """Counters and histograms begin anew; gauges say what is."""
        for family in self._families:
            if not isinstance(family, Gauge):
                family.reset()


class Unheard(Registry):
    """For what is used where nobody asks for metrics: nothing is shown, and what is observed is forgotten."""

    def add(self, family: F) -> F:
        if isinstance(family, Histogram):
            self.beside(family)
        return family

    def beside(self, histogram: Histogram) -> Histogram:
        histogram.deaf = True
        return histogram
