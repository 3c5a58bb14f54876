"""Long lists of things that are nearly all fine: what can be said of a whole run in one call is not asked of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, TypeVar

from pilothouse.kit.sorting import smallest_first

V = TypeVar("V")

RUN: Final = 128  # items
_PART: Final = 16  # items of a run that are looked at closer


def doubtful(
    items: Sequence[V], fine: Callable[[Sequence[V]], bool], enough: Callable[[], bool] | None = None
) -> Iterator[tuple[int, V]]:
    """Index and item of those that stand in no run of which `fine` says that all are. Stops when there are `enough`."""
    for start in range(0, len(items), RUN):
        if enough is not None and enough():
            return
        run = items[start : start + RUN]
        if fine(run):
            continue
        for at in range(0, len(run), _PART):
            part = run[at : at + _PART]
            if not fine(part):
                yield from enumerate(part, start + at)


def doubtful_names(
    names: Collection[str], fine: Callable[[Sequence[str]], bool], enough: Callable[[], bool]
) -> Iterator[str]:
    """As `doubtful`, of names in any order; those that are left come in order."""
    left = [name for _, name in doubtful([*names], fine)] if len(names) > RUN else names
    for name in smallest_first(left):
        if enough():
            return
        yield name
