"""The keys of a range as they stand, or as they stood: what both engines keep sorted in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TypeVar

from sortedcontainers import SortedDict

V = TypeVar("V")


def slice_of(
    standing: SortedDict[str, V], start: str, end: str, limit: int, undone: Mapping[str, V | None]
) -> tuple[list[tuple[str, V]], int]:
    """At most `limit` (0: all) keys of [start, end) with what stands there, and how many there are.

    `undone`: what stood at keys of the range that changed since the time asked for; nothing where it is falsy.
    """
    count = standing.bisect_left(end) - standing.bisect_left(start)
    keys: Iterator[str] = standing.irange(start, end, (True, False))
    if not undone:
        return [(key, standing[key]) for key in (islice(keys, limit) if limit else keys)], count
    count += sum(bool(before) - (key in standing) for key, before in undone.items())
    back = [(key, before) for key, before in undone.items() if before]
    unchanged = (key for key in keys if key not in undone)
    found = [(key, standing[key]) for key in (islice(unchanged, limit) if limit else unchanged)]
    found = sorted(found + back, key=_key)
    return (found[:limit] if limit else found), count


def _key(pair: tuple[str, object]) -> str:
    return pair[0]
