"""Skeletons of items: which of their bytes say what they are made of. Items that are alike in these are equally long,
and as good as each other, whatever else is in them; so one look at each such byte of all of them tells of very many.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from pilothouse.machinery.cbor import model, numbers
from pilothouse.machinery.cbor.heads import head
from pilothouse.machinery.cbor.model import CBORError

LONGEST: Final = 512  # bytes of an item that is worth it
SAME: Final = bytes(range(256))


def _alike(good: Iterable[int]) -> bytes:
    """A table in which these are alike."""
    good = frozenset(good)
    return bytes(0 if byte in good else byte or 1 for byte in range(256))


_PLAIN: Final = _alike((*range(0x18), *range(0x20, 0x38), 0xF4, 0xF5, 0xF6))  # numbers of one byte, and the like
_ASCII: Final = _alike(range(0x80))
_GOOD: Final = {  # of the second byte: the number is within int64, or finite; a few others that are, are left out
    **dict.fromkeys((0x1B, 0x3B), _ASCII),
    0xF9: _alike((*range(0x7C), *range(0x80, 0xFC))),
    **dict.fromkeys((0xFA, 0xFB), _alike((*range(0x7F), *range(0x80, 0xFF)))),
}
_SECONDS: Final = (0x18, 0x19, 0x1A)  # first bytes of times that have a text


class Skeleton(NamedTuple):
    """`columns`: places in an item, with a table each that takes bytes that are as good there for the same."""

    columns: list[tuple[int, bytes]]
    size: int


class _Odd(Exception):
    """An item that is refused, or not worth it."""


def skeleton(data: bytes, at: int, deeper: int) -> Skeleton | None:
    """That of the item at `at`, in which no more than `deeper` containers and tags may be in each other. None if the
    item would be refused, or is too long.
    """
    item = data[at : at + LONGEST]
    columns: list[tuple[int, bytes]] = []
    try:
        size = _item(item, 0, deeper, columns)
    except (_Odd, CBORError, IndexError):
        return None
    return Skeleton(columns, size) if size <= len(item) else None


def _item(data: bytes, at: int, deeper: int, columns: list[tuple[int, bytes]]) -> int:
    """Adds the columns of the item at `at`; the place behind it."""
    first = data[at]
    if not _PLAIN[first]:
        columns.append((at, _PLAIN))
        return at + 1
    if first in numbers.FORMS:
        columns.append((at, SAME))
        if first in _GOOD:
            _look(data, at + 1, _GOOD[first], columns)
        return at + numbers.FORMS[first].size
    major, argument, behind = head(data, at)
    columns += ((place, SAME) for place in range(at, behind))
    if major in (model.BYTES, model.TEXT):
        return _string(data, behind, major, argument, columns)
    if not deeper or major == model.SIMPLE:
        raise _Odd
    if major == model.TAG:
        if argument in model.BIGNUMS or (argument == model.TIME_NUMBER and data[behind] not in _SECONDS):
            raise _Odd
        return _item(data, behind, deeper - 1, columns)
    names: set[bytes] | None = set() if major == model.MAP else None
    while argument and not (argument < 0 and data[behind] == model.BREAK):
        if names is not None:
            behind = _name(data, behind, names, columns)
        behind = _item(data, behind, deeper - 1, columns)
        argument -= 1
    return _end(behind, argument, columns)


def _string(data: bytes, at: int, major: int, size: int, columns: list[tuple[int, bytes]]) -> int:
    while size < 0 and data[at] != model.BREAK:
        kind, length, behind = head(data, at)
        if kind != major or length < 0:
            raise _Odd
        columns += ((place, SAME) for place in range(at, behind))
        at = _string(data, behind, major, length, columns)
    if major == model.TEXT:
        for place in range(at, min(at + size, len(data))):
            _look(data, place, _ASCII, columns)
    return _end(at + max(size, 0), size, columns)


def _name(data: bytes, at: int, names: set[bytes], columns: list[tuple[int, bytes]]) -> int:
    """A name that is not among `names` yet."""
    major, size, begin = head(data, at)
    behind = begin + size
    name = data[begin:behind]
    if major not in (model.BYTES, model.TEXT) or size < 0 or name in names or not name.isascii():
        raise _Odd
    names.add(name)
    columns += ((place, SAME) for place in range(at, min(behind, len(data))))
    return behind


def _look(data: bytes, at: int, table: bytes, columns: list[tuple[int, bytes]]) -> None:
    if table[data[at]]:
        raise _Odd
    columns.append((at, table))


def _end(at: int, left: int, columns: list[tuple[int, bytes]]) -> int:
    """`left` is below 0 where the end is marked."""
    if left >= 0:
        return at
    columns.append((at, SAME))
    return at + 1
