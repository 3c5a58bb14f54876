"""Members whose names are equally long, and whose values are: many such behind each other are taken apart at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from pilothouse.machinery.cbor.firsts import SHORT, SMALL, small_values

LEAST: Final = 64  # members that are worth it
_MOST: Final = 1 << 13  # that are taken together
_SIGNS: Final = range(0x20)  # of which one is put between names and values: one that is in none of them
_TEXT: Final = 0x60  # the first of the first bytes of texts,
_LIST: Final = 0x80  # and of what is behind them
_LONGER: Final = 0x58  # bytes whose length is in the second byte
_SAME: Final = bytes(range(256))
_KINDS: Final = bytes(0 if SMALL[first] else first for first in range(256))  # all SMALL ones are alike


class Row(NamedTuple):
    """Members behind each other: none if they are not LEAST, or not simple. `length`: of all, in bytes. `raw`: whether
    byte strings were no UTF-8; their bytes are then in surrogates.
    """

    names: list[str]
    values: Iterable[Any]
    length: int
    raw: bool = False


def row(data: bytes, at: int, most: int) -> Row:
    """The members from `at` on; no more than `most`, if that is not negative."""
    name = SHORT[data[at]]
    if name < 2 or at + name + 1 >= len(data):
        return Row([], (), 0)
    first = data[at + name]
    size = 1 if SMALL[first] else 2 + data[at + name + 1] if first == _LONGER else SHORT[first]
    columns = [(0, _SAME), (name, _KINDS)]
    if first == _LONGER:
        columns.append((name + 1, _SAME))
    whole = name + size
    room = min(_MOST, (len(data) - at) // whole)
    number = _alike(data, at, whole, columns, room if most < 0 else min(most, room)) if size else 0
    if number < LEAST:
        return Row([], (), 0)
    return _taken_apart(data[at : at + number * whole], number, name, first)


def _taken_apart(data: bytes, number: int, name: int, first: int) -> Row:
    """`name`: how long names are with what is before them; `first`: of a value."""
    members = bytearray(data)
    whole = len(members) // number
    firsts = members[name::whole]
    if SMALL[first] or first == _LONGER:
        del members[name::whole]
        whole -= 1
    between = next((sign for sign in _SIGNS if sign not in members), None)
    if between is None:
        return Row([], (), len(data))
    for column in (0,) if SMALL[first] else (0, name):
        members[column::whole] = bytes((between,)) * number
    try:
        text, raw = members.decode(), False
    except UnicodeDecodeError:
        if data[0] >= _TEXT or _TEXT <= first < _LIST:
            return Row([], (), len(data))
        text, raw = members.decode("utf-8", "surrogateescape"), True
    parts = text.split(chr(between))[1:]
    if SMALL[first]:
        return Row(parts, small_values(bytes(firsts)), len(data), raw)
    return Row(parts[::2], parts[1::2], len(data), raw)


def _alike(data: bytes, at: int, whole: int, columns: list[tuple[int, bytes]], most: int) -> int:
    """How many members of this length, of `most`, have in each column what its table takes for the same byte."""
    kinds = [(column, table, bytes((table[data[at + column]],))) for column, table in columns]
    number, step = 0, LEAST
    while number < most:
        step = min(step, most - number)
        begin = at + number * whole
        end = begin + step * whole
        found = min(
            step - len(data[begin + column : end : whole].translate(table).lstrip(kind))
            for column, table, kind in kinds
        )
        number += found
        if found < step:
            break
        step *= 4
    return number
