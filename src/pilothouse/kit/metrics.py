"""Counters, gauges and histograms that cost a dict look-up and an addition, and a registry that renders them all.

Values are kept in plain lists, bound once per label set; `kit/exposition.py` makes the text of a scrape. Names, labels
and buckets are the caller's. All functions are for one thread (the loop's), but for `samples`, which may run in
another.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from math import ceil
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
    """One histogram series."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


Read = Callable[[], Iterable[tuple[Labels, float]]]


class Counter:
    """A family of ever growing numbers, counted here or read at a scrape. `name` ends in _total."""

    def __init__(self, name: str, text: str, labels: Labels = (), read: Read | None = None) -> None:
        self.name, self.text, self.labels = name, text, labels
        self._series: dict[Labels, Value] = {}
        self._read = read

    def bind(self, *values: str) -> Value:
        return _bound(self._series, values, Value)

    def reset(self) -> None:
        """Count from 0 again."""
        for value in self._series.values():
            value.value = 0.0

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

    `sparse`: series are bound for all that may come, and shown once something came.
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
    ) -> None:
        self.name, self.text, self.labels = name, text, labels
        self.bounds = tuple(bounds)
        self._series: dict[Labels, Buckets] = {}
        self._read = read
        self._sparse = sparse

    def bind(self, *values: str) -> Buckets:
        return _bound(self._series, values, lambda: Buckets(self.bounds))

    def reset(self) -> None:
        """Count from 0 again."""
        for series in self._series.values():
            series.counts[:] = [0] * len(series.counts)
            series.total = 0.0

    def samples(self) -> list[Distribution]:
        """Every series."""
        kept = [(labels, list(series.counts), series.total) for labels, series in list(self._series.items())]
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
    """All metrics of one server."""

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

    def families(self) -> list[Family]:
        return list(self._families)

    def reset(self) -> None:
        """Counters and histograms begin anew; gauges say what is."""
        for family in self._families:
            if not isinstance(family, Gauge):
                family.reset()
