"""Sorting many texts in parts: one call for a hundred thousand of them would keep all others waiting for 40 ms."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator
from heapq import nsmallest
from itertools import islice
from operator import le
from typing import Any, Final, TypeVar

T = TypeVar("T", str, int, tuple[Any, ...])

MANY: Final = 16_384  # texts that one call may sort
_FIRST: Final = 1024  # texts that may be all that is asked for
_SAMPLES: Final = 16  # of each run, which tell where to cut all of them


def in_order(texts: Collection[T], key: Callable[[T], Any] | None = None) -> list[T]:
    """As `sorted`."""
    if len(texts) <= MANY:
        return sorted(texts, key=key)
    found = list(texts)
    if key is None and all(map(le, found, islice(found, 1, None))):
        return found
    runs: list[list[T]] = [sorted(found[at : at + MANY], key=key) for at in range(0, len(found), MANY)]
    samples: list[Any] = [text for run in runs for text in run[:: MANY // _SAMPLES]]
    bounds: list[Any] = sorted(samples if key is None else map(key, samples))[_SAMPLES::_SAMPLES]
    ordered: list[T] = []
    begins = [0] * len(runs)
    for ends in (*([bisect_left(run, bound, key=key) for run in runs] for bound in bounds), list(map(len, runs))):
        part: list[T] = []
        for run, begin, end in zip(runs, begins, ends, strict=True):
            part += run[begin:end]
        part.sort(key=key)  # which is quick with what is in order piece by piece
        ordered += part
        begins = ends
    return ordered


def smallest_first(texts: Collection[str]) -> Iterator[str]:
    """As `in_order`, for who is likely to ask for few of very many. No two of them are the same."""
    if len(texts) <= MANY:
        yield from sorted(texts)
        return
    yield from nsmallest(_FIRST, texts)
    yield from in_order(texts)[_FIRST:]
