"""Maps on the wire: one field for each entry, in which a key and then a value stand.

Generated decoders read entries as the original writes them; what is here reads all others: some writers leave out what
is empty, and any order is allowed. The first few are read one by one; what comes behind them is likely to be short and
much: entries that differ in nothing but what they say are cut all at once, at the same places; of others a regular
expression finds where each ends, and a small loop takes them apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import islice
from operator import le
from typing import Any, Final

from pilothouse.kit import sorting
from pilothouse.machinery.protobuf.repair import entry_parts, length
from pilothouse.machinery.protobuf.wire import ProtobufError, narrow, read_unsigned, run

# (data, the same as wire text, from, to, what was read so far, its last key, depth) -> the map, and the place behind
# it; any map, and the place of the first entry that cannot be read, if there is one
Reader = Callable[..., tuple[dict[str, Any], int]]

MANY: Final = 8192  # bytes of a map that are read entry by entry
_PIECE: Final = 32 << 10  # bytes of a map that are read at once
_TINY: Final = 8  # bytes of entries that are likely to be told more than once
_ALIKE: Final = 32  # entries that are worth being cut at the same places
_RUN: Final = 64  # texts that are read together, with a sign between them that is in none
_BETWEEN: Final = "".join(map(chr, range(128)))
_MARKS: Final = 16  # bytes of an entry, beside its key and its value, in which such entries are compared


def entry_reader(tag: str, value: Callable[..., Any] | None, values: Callable[[list[str]], list[Any]] | None) -> Reader:
    """Reads the entries of a map field up to another field, or to an entry that is none.

    `value` makes a value of (data, wire text, from, to, depth), None where the text is the value. `values` makes many
    of wire texts, if there is a better way than one by one.
    """
    first, second, width = ord(tag[0]), ord(tag[-1]), len(tag)

    def read(
        data: bytes, text: str, at: int, end: int, into: dict[str, Any], last: str, *depth: int
    ) -> tuple[dict[str, Any], int]:
        keys, found = [*into], [*into.values()]
        alone = end if value is not None and values is None else at + MANY
        while at < end and data[at] == first and (width == 1 or data[at + 1] == second):
            if at > alone:
                behind = _take(tag, text, at, min(at + _PIECE, end), keys, found, values)
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
                    return {}, at
            key = _whole(text[key_at:key_end])
            if key == last:  # the last of equal ones will do
                stop = run(data, at, stop, end)
            last = key
            keys.append(key)
            if value is None:
                found.append(_whole(text[value_at:value_end]))
            else:
                found.append(value(data, text, value_at, value_end, *depth))
            at = stop
        return in_order(keys, found), at

    return read


def _take(
    tag: str,
    text: str,
    at: int,
    end: int,
    keys: list[str],
    found: list[Any],
    values: Callable[[list[str]], list[Any]] | None,
) -> int:
    """Adds the entries that are short, up to one that is not, to keys and what was `found`; the place behind them.

    Takes none where one is damaged.
    """
    try:
        names, wires, behind = _alike(len(tag), text, at, end)
        if not names:
            names, wires, behind = _mixed(tag, text, at, end)
    except (IndexError, ProtobufError):
        return at
    if not text[at:behind].isascii():
        names = _all_whole(names)
        wires = wires if values is not None else _all_whole(wires)
    found += wires if values is None else values(wires)
    keys += names
    return behind


def _alike(width: int, text: str, at: int, end: int) -> tuple[list[str], list[str], int]:
    """Keys, the wire texts of values, and the place behind them: of all entries that look like the first.

    They are as long, and the same but for what is within key and value. None if those are few. `width` is the tag's.
    Raises IndexError, ProtobufError.
    """
    size = width + 1 + ord(text[at + width])
    if size > width + 128:
        return [], [], at
    entry = text[at : at + size].encode("latin-1")
    key_at, key_end, value_at, value_end = entry_parts(entry, width + 1, size)
    marks = [place for place in range(size) if not (key_at <= place < key_end or value_at <= place < value_end)]
    count = (end - at) // size
    for place in marks if len(marks) <= _MARKS else ():
        found = text[at + place : at + count * size : size]
        count -= len(found.lstrip(text[at + place]))
        if count < _ALIKE:
            break
    if count < _ALIKE or len(marks) > _MARKS:
        return [], [], at
    starts = range(at, at + count * size, size)
    return _cut(text, starts, key_at, key_end), _cut(text, starts, value_at, value_end), starts.stop


def _cut(text: str, starts: range, begin: int, stop: int) -> list[str]:
    """What stands from `begin` to `stop` behind each of these places."""
    if begin == stop:
        return [""] * len(starts)
    if stop - begin == 1:
        return [*text[starts.start + begin : starts.stop : starts.step]]
    return [text[start + begin : start + stop] for start in starts]


def _mixed(tag: str, text: str, at: int, end: int) -> tuple[list[str], list[str], int]:
    """As `_alike`, of short entries, up to one that is not."""
    entries = _short_entries(tag).findall(text, at, end)
    if not entries[-1]:
        entries.pop()
    behind = at + sum(map(len, entries))
    if len(entries) * _TINY > behind - at:
        entries = [*dict.fromkeys(reversed(entries))][::-1]
    return *_take_apart(entries, len(tag) + 1), behind


def _take_apart(entries: list[str], start: int) -> tuple[list[str], list[str]]:
    """The key and the value of each. An entry is a tag, a length and, from `start` on, a key and a value."""
    keys: list[str] = []
    wires: list[str] = []
    key_at = start + 2
    for entry in entries:
        try:
            if entry[start] == "\n":
                middle = ord(entry[start + 1]) + key_at
                value = entry[middle:]
                if value and value[0] == "\x12" and ord(value[1]) == len(value) - 2:
                    keys.append(entry[key_at:middle])
                    wires.append(value[2:])
                    continue
                if middle == len(entry):
                    keys.append(entry[key_at:])
                    wires.append("")
                    continue
        except IndexError:
            pass  # it is too short for that, and is read as any message
        data = entry.encode("latin-1")
        key_from, key_to, value_from, value_to = entry_parts(data, start, len(data))
        keys.append(entry[key_from:key_to])
        wires.append(entry[value_from:value_to])
    return keys, wires


@cache
def _short_entries(tag: str) -> re.Pattern[str]:
    """Finds fields one behind the other, each with its tag and length, and "" for what does not begin with one."""
    sizes = "|".join(f"{re.escape(chr(size))}.{{{size}}}" for size in range(128))
    return re.compile(f"({re.escape(tag)}(?:{sizes}))|.+", re.DOTALL)


def _whole(wire: str) -> str:
    return wire if wire.isascii() else narrow(wire)


def _all_whole(wires: list[str]) -> list[str]:
    found: list[str] = []
    for at in range(0, len(wires), _RUN):
        run = wires[at : at + _RUN]
        text = "".join(run)
        between = next((sign for sign in _BETWEEN if sign not in text), "")
        if text.isascii():
            found += run
        elif between:
            found += narrow(between.join(run)).split(between)
        else:
            found += map(_whole, run)
    return found


def in_order(keys: list[str], values: list[Any]) -> dict[str, Any]:
    """The map by key. Of equal keys the last counts."""
    if not all(map(le, keys, islice(keys, 1, None))):
        order = sorting.in_order(range(len(keys)), keys.__getitem__)
        keys, values = [*map(keys.__getitem__, order)], [*map(values.__getitem__, order)]
    return dict(zip(keys, values, strict=True))
