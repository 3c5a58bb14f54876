"""Maps on the wire: one field for each entry, in which a key and then a value stand.

Generated decoders read entries as the original writes them; what is here reads all others: some writers leave out what
is empty, and any order is allowed. The first few are read one by one; what comes behind them is likely to be short and
much, so a regular expression finds the entries and a small loop takes them apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from pilothouse.kit import sorting
from pilothouse.machinery.protobuf.repair import entry_parts, length
from pilothouse.machinery.protobuf.wire import ProtobufError, narrow, read_unsigned, run

# (data, the same as wire text, from, to, what was read so far, its last key, depth) -> the map, and the place behind
# the last entry that could be read
Reader = Callable[..., tuple[dict[str, Any], int]]

MANY: Final = 8192  # bytes of a map that are read entry by entry
_PIECE: Final = 16 << 10  # bytes of a map that are read at once
_TINY: Final = 8  # bytes of entries that are likely to be told more than once


def entry_reader(tag: str, value: Callable[..., Any] | None, values: Callable[[list[str]], list[Any]] | None) -> Reader:
    """Reads the entries of a map field up to another field, or (in no order then) to an entry that is none.

    `value` makes a value of (data, wire text, from, to, depth), None where the text is the value. `values` makes many
    of wire texts, if there is a better way than one by one.
    """
    first, second, width = ord(tag[0]), ord(tag[-1]), len(tag)

    def read(
        data: bytes, text: str, at: int, end: int, into: dict[str, Any], last: str, *depth: int
    ) -> tuple[dict[str, Any], int]:
        rising = True
        alone = end if value is not None and values is None else at + MANY
        while at < end and data[at] == first and (width == 1 or data[at + 1] == second):
            if at > alone:
                behind = _take(tag, text, at, min(at + _PIECE, end), into, values)
                rising = False  # so far as is known
                alone = behind if behind - at > _PIECE // 2 else behind + _PIECE
                at = behind
                continue
            try:
                start = at + width + 1
                size = data[start - 1]
                if size > 127:
                    size, start = read_unsigned(data, start - 1)
                stop = start + size
                key_at, value_end = start + 2, stop
                size = data[start + 1]
                if size > 127:
                    size, key_at = read_unsigned(data, start + 1)
                key_end = key_at + size
                value_at = key_end + 2
                size = data[value_at - 1]
                if size > 127:
                    size, value_at = read_unsigned(data, value_at - 1)
                plain = data[start] == 10 and data[key_end] == 18 and value_at + size == stop <= end
            except (IndexError, ProtobufError):
                plain = False
            if not plain:
                try:
                    start, stop = length(data, at + width, end)
                    key_at, key_end, value_at, value_end = entry_parts(data, start, stop)
                except (IndexError, ProtobufError):
                    return into, at
            key = _whole(text[key_at:key_end])
            if key <= last:
                rising = rising and not into
                if key == last:  # the last of equal ones will do
                    stop = run(data, at, stop, end)
            last = key
            if value is None:
                into[key] = _whole(text[value_at:value_end])
            else:
                into[key] = value(data, text, value_at, value_end, *depth)
            at = stop
        return (into if rising else in_order(into)), at

    return read


def _take(
    tag: str, text: str, at: int, end: int, into: dict[str, Any], values: Callable[[list[str]], list[Any]] | None
) -> int:
    """Reads entries that are short, up to one that is not; the place behind them.

    Takes none where one is damaged, nor where a value that must be read has been replaced.
    """
    entries = _short_entries(tag).findall(text, at, end)
    if not entries[-1]:
        entries.pop()
    behind = at + sum(map(len, entries))
    if len(entries) * _TINY > behind - at:
        entries = [*dict.fromkeys(reversed(entries))][::-1]
    plain = values is None and text[at:behind].isascii()
    found = into if plain else {}
    try:
        _take_apart(entries, len(tag) + 1, found)
    except (IndexError, ProtobufError):
        return at
    if values is not None:
        if len(found) < len(entries):
            return at
        into.update(zip(map(_whole, found), values([*found.values()]), strict=True))
    elif not plain:
        into.update((_whole(key), _whole(wire)) for key, wire in found.items())
    return behind


def _take_apart(entries: list[str], start: int, into: dict[str, str]) -> None:
    """Put the value behind each key. An entry is a tag, a length and, from `start` on, a key and a value."""
    key_at = start + 2
    for entry in entries:
        try:
            if entry[start] == "\n":
                middle = ord(entry[start + 1]) + key_at
                value = entry[middle:]
                if value and value[0] == "\x12" and ord(value[1]) == len(value) - 2:
                    into[entry[key_at:middle]] = value[2:]
                    continue
                if middle == len(entry):
                    into[entry[key_at:]] = ""
                    continue
        except IndexError:
            pass
        data = entry.encode("latin-1")
        key_from, key_to, value_from, value_to = entry_parts(data, start, len(data))
        into[entry[key_from:key_to]] = entry[value_from:value_to]


@cache
def _short_entries(tag: str) -> re.Pattern[str]:
    """Finds fields one behind the other, each with its tag and length, and "" for what does not begin with one."""
    sizes = "|".join(f"{re.escape(chr(size))}.{{{size}}}" for size in range(128))
    return re.compile(f"({re.escape(tag)}(?:{sizes}))|.+", re.DOTALL)


def _whole(wire: str) -> str:
    return wire if wire.isascii() else narrow(wire)


def in_order(entries: dict[str, Any]) -> dict[str, Any]:
    """The same map by key."""
    keys = list(entries)
    ordered = sorting.in_order(keys)
    return entries if ordered == keys else {key: entries[key] for key in ordered}
