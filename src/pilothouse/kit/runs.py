"""Long lists of things that are nearly all fine: what can be said of a whole run in one call is not asked of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, TypeVar

from pilothouse.kit.sorting import smallest_first

V = TypeVar("V")

RUN: Final = 128  # items
_LONGEST: Final = 16 * RUN
_PART: Final = 16  # items of a run that are looked at closer


def doubtful(
    items: Sequence[V], fine: Callable[[Sequence[V]], bool], enough: Callable[[], bool] | None = None
) -> Iterator[tuple[int, V]]:
    """Index and item of those that stand in no run of which `fine` says that all are. Stops when there are `enough`."""
    start, size = 0, RUN
    while start < len(items) and not (enough is not None and enough()):
        run = items[start : start + size]
        if fine(run):
            start += size
            size = min(2 * size, _LONGEST)  # as it goes on, longer ones are tried
        elif size > RUN:
            size = RUN
        else:
            for at in range(0, len(run), _PART):
                part = run[at : at + _PART]
                if not fine(part):
                    yield from enumerate(part, start + at)
            start += size


def doubtful_names(
    names: Collection[str], fine: Callable[[Sequence[str]], bool], enough: Callable[[], bool]
) -> Iterator[str]:
    """As `doubtful`, of names in any order; those that are left come in order."""
    left = [name for _, name in doubtful([*names], fine)] if len(names) > RUN else names
    for name in smallest_first(left):
        if enough():
            return
        yield name
