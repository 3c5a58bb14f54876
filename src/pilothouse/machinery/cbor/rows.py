"""Items that are equally long and alike, or members whose names and values are: many such behind each other are taken
apart at once, as columns of a table.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from pilothouse.machinery.cbor.firsts import LONGER, SHORT, SMALL, small_values
from pilothouse.machinery.cbor.skeletons import SAME, Skeleton, skeleton
from pilothouse.machinery.cbor.texts import shown

LEAST: Final = 64  # members that are worth it
_MOST: Final = 1 << 13  # that are taken together
_OFTEN: Final = 8  # times that items come on an average, which is worth it
_SIGNS: Final = range(0x20)  # of which one is put between names and values: one that is in none of them
_TEXT: Final = 0x60  # the first of the first bytes of texts,
_LIST: Final = 0x80  # and of what is behind them
_KINDS: Final = bytes(0 if SMALL[first] else first for first in range(256))  # all SMALL ones are alike


_PLAINEST: Final = bytes(0 if 0xE0 <= first < 0xF8 else first or 1 for first in range(256))  # simple values are alike
_REFUSED: Final = Skeleton([(0, _PLAINEST)], 1)


class Row(NamedTuple):
    """Members behind each other: none if they are not LEAST, or not simple. `length`: of all, in bytes. `raw`: whether
    byte strings were no UTF-8; their bytes are then in surrogates; `shown`: whether they were, and are not. `encoded`:
    whether `values` are items still to be read, all of them good.
    """

    names: list[str]
    values: Iterable[Any]
    length: int
    raw: bool = False
    encoded: bool = False
    shown: bool = False


def row(
    data: bytes, at: int, most: int, deeper: int, *, loose: bool = False, texts: bool = False, equal: bool = False
) -> Row:
    """The members from `at` on; no more than `most`, if that is not negative. In a value, `deeper` (at least one)
    containers and tags may be in each other. `loose`: values may be simple ones that are refused.
    `texts`: strings among them are no bytes that are shown as base64. `equal`: items still to be read are of no use
    unless many are equal.
    """
    name = SHORT[data[at]]
    if name < 2 or at + name + 1 >= len(data):
        return Row([], (), 0)
    value = _REFUSED if loose and not _PLAINEST[data[at + name]] else None
    value = value or _simple(data, at + name)
    equal = equal and value is None
    value = value or skeleton(data, at + name, deeper)
    if value is None:
        return Row([], (), 0)
    whole = name + value.size
    if equal and not _often_equal(data[at : at + whole * LEAST], name, whole):
        return Row([], (), 0)
    columns = [(0, SAME), *((name + place, table) for place, table in value.columns)]
    number = _alike(data, at, whole, columns, most)
    if number < LEAST:
        return Row([], (), 0)
    return _taken_apart(data[at : at + number * whole], whole, name, texts=texts)


def items(data: bytes, at: int, most: int, deeper: int) -> list[bytes]:
    """Items from `at` on that are good and alike, many of them equal; none if they are not LEAST. The other arguments
    are as above.
    """
    item = skeleton(data, at, deeper)
    if item is None or not _often_equal(data[at : at + item.size * LEAST], 0, item.size):
        return []
    number = _alike(data, at, item.size, item.columns, most)
    if number < LEAST:
        return []
    run, first = data[at : at + number * item.size], data[at : at + item.size]
    return [first] * number if run == first * number else list(_pieces(run, 0, item.size))


def until_twice(made: dict[str, Any], before: int, names: list[str]) -> int:
    """Leaves the first `before` members in an object, and those behind them until a name comes that is there already.
    How many these are. What the values are matters no more: all is refused.
    """
    kept: dict[str, Any] = dict(islice(made.items(), before))
    for name in names:
        if name in kept:
            break
        kept[name] = None
    made.clear()
    made.update(kept)
    return len(kept) - before


def often_equal(encoded: Collection[bytes]) -> bool:
    """Whether it is worth it to read equal items once."""
    return len(set(encoded)) * _OFTEN <= len(encoded)


def _often_equal(data: bytes, begin: int, whole: int) -> bool:
    """The same of what rows that are `whole` long have from a column on. There have to be LEAST of them."""
    return len(data) == whole * LEAST and often_equal(list(_pieces(data, begin, whole)))


def _simple(data: bytes, at: int) -> Skeleton | None:
    """The skeleton of what is SMALL, or a string."""
    first = data[at]
    if SMALL[first]:
        return Skeleton([(0, _KINDS)], 1)
    if size := LONGER[first]:
        return Skeleton(
            [(place, SAME) for place in range(1 + size)], 1 + size + int.from_bytes(data[at + 1 : at + 1 + size])
        )
    return Skeleton([(0, SAME)], SHORT[first]) if SHORT[first] else None


def _taken_apart(data: bytes, whole: int, name: int, *, texts: bool) -> Row:
    """`name`: how long names are with what is before them. `texts` is as above."""
    first = data[name]
    number = len(data) // whole
    small = SMALL[first]
    encoded = not (small or SHORT[first] or LONGER[first])
    members = _cut(data, whole, name) if encoded else bytearray(data)
    for left in range(whole, whole - (1 if small else LONGER[first]), -1):
        del members[name::left]  # what is no text
    between = next((sign for sign in _SIGNS if sign not in members), None)
    if between is None:
        return Row([], (), len(data))
    for column in (0,) if small or encoded else (0, name):
        members[column :: len(members) // number] = bytes((between,)) * number
    bad = False
    try:
        text, raw = members.decode(), False
    except UnicodeDecodeError:
        if data[0] >= _TEXT or _TEXT <= first < _LIST:
            return Row([], (), len(data))
        raw = not texts or not _cut(data, whole, name).isascii()
        bad = not raw
        text = members.decode("utf-8", "surrogateescape") if raw else shown(members)
    parts = text.split(chr(between))[1:]
    if encoded:
        return Row(parts, _pieces(data, name, whole), len(data), raw, encoded=True)
    if small:
        return Row(parts, small_values(data[name::whole]), len(data), raw)
    return Row(parts[::2], parts[1::2], len(data), raw, shown=bad)


def _cut(data: bytes, whole: int, size: int) -> bytearray:
    """So many columns of rows that are `whole` long."""
    made = bytearray(len(data) // whole * size)
    for column in range(size):
        made[column::size] = data[column::whole]
    return made


def _pieces(data: bytes, begin: int, whole: int) -> Iterator[bytes]:
    """Rows that are `whole` long, each from a column on."""
    return chain.from_iterable(struct.iter_unpack(f"{begin}x{whole - begin}s", data))


def _alike(data: bytes, at: int, whole: int, columns: list[tuple[int, bytes]], most: int) -> int:
    """How many items of this length, of `most` if that is not negative, have in each column what its table takes for
    the same byte.
    """
    room = min(_MOST, (len(data) - at) // whole)
    most = room if most < 0 else min(most, room)
    kinds = [(column, table, bytes((table[data[at + column]],))) for column, table in columns] if most >= LEAST else []
    number, step = 0, LEAST
    while number < most:
        step = min(step, most - number)
        begin = at + number * whole
        end = begin + step * whole
        found = step
        for column, table, kind in kinds:
            found = min(found, step - len(data[begin + column : end : whole].translate(table).lstrip(kind)))
            if not found:
                break
        number += found
        if found < step:
            break
        step *= 4
    return number
