"""Sorting many texts in parts: one call for a hundred thousand of them would keep all others waiting for 40 ms."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection
from itertools import islice
from operator import le
from typing import Final

MANY: Final = 16_384  # texts that one call may sort


def in_order(texts: Collection[str]) -> list[str]:
    """As `sorted`."""
    if len(texts) <= MANY:
        return sorted(texts)
    found = list(texts)
    if all(map(le, found, islice(found, 1, None))):
        return found
    bounds = sorted(found[:: MANY // 4])
    parts: list[list[str]] = [[] for _ in range(len(bounds) + 1)]
    for text in found:
        parts[bisect(bounds, text)].append(text)
    ordered: list[str] = []
    for part in parts:
        part.sort()
        ordered += part
    return ordered
