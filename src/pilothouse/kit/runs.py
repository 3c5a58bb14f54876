"""Long lists of things that are nearly all fine: what can be said of a whole run in one call is not asked of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

V = TypeVar("V")

RUN: Final = 128  # items


def doubtful(items: Sequence[V], fine: Callable[[Sequence[V]], bool]) -> Iterator[tuple[int, V]]:
    """Index and item of those that stand in no run of which `fine` says that all are."""
    for start in range(0, len(items), RUN):
        run = items[start : start + RUN]
        if not fine(run):
            yield from enumerate(run, start)
