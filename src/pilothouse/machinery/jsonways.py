"""The ways to some objects of a long document, found level by level: the rest of it need not be walked through."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from itertools import accumulate, chain, compress
from typing import Any, Final

_CONTAINERS: Final[frozenset[type]] = frozenset((dict, list))


def leading_to(targets: Collection[int], value: Any) -> set[int]:
    """The ids of all containers of a value that are among `targets` (ids), and of all that these stand in."""
    levels: list[tuple[list[Any], list[int], list[Any], list[bool]]] = []
    level, left = [value], len(targets)
    while level and left:
        found = list(compress(range(len(level)), map(targets.__contains__, map(id, level))))
        left -= len(found)
        inner = [one.values() if one.__class__ is dict else one for one in level]
        items = list(chain.from_iterable(inner))
        are_containers = list(map(_CONTAINERS.__contains__, map(type, items)))
        levels.append((level, found, inner, are_containers))
        level = list(compress(items, are_containers))
    ways: set[int] = set()
    below: set[int] = set()
    for level, found, inner, are_containers in reversed(levels):
        here = set(found)
        if below:
            places = list(compress(range(len(are_containers)), are_containers))
            ends = list(accumulate(map(len, inner)))
            here.update(bisect_right(ends, places[index]) for index in below)
        ways.update(id(level[index]) for index in here)
        below = here
    return ways
