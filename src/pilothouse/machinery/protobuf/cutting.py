"""Many short entries of a map, cut out of the wire in few calls: a mebibyte may hold a hundred thousand of them.

Each way of cutting takes the entries from a place on for which it is made, and none if those are few:

- columns: keys and values are any printable text. All that stands between them are signs below a space, tags and
  lengths, as many for each entry. So the text is split at these, and they are compared, column by column, with what
  they should be.
- alike: entries differ in nothing but what their keys and values say, so all are cut at the same places.
- mixed: a regular expression finds where each entry ends, and a small loop takes them apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from operator import add, lt
from typing import Final

from pilothouse.machinery.protobuf.repair import entry_parts

# Keys, the wire texts of values, and the place behind them
Cut = tuple[list[str], list[str], int]

_SIGNS: Final = bytes(range(32))  # of which lengths and most tags are made, if the entries are short
_CONTENT: Final = bytes(range(32, 256))
_SPLIT: Final = bytes(0 if byte in _SIGNS else byte for byte in range(256))
_COLUMNS: Final = 16 << 10  # bytes that are split at once
_TRIED: Final = 1 << 10  # bytes that are split first
_LONGEST: Final = 64  # bytes of an entry that may be cut off at their end
_FRAME: Final = 6  # bytes of an entry beside its key and its value: three tags, three lengths
_INNER: Final = 4  # of which the entry's length counts these
_FEW: Final = 16  # entries that are not worth a split
_TINY: Final = 8  # bytes of entries that are likely to be told more than once
_SOME: Final = 2 << 10  # bytes of entries that are worth being cut at the same places
_LONG: Final = 32 << 10  # bytes in which such are looked for
_MARKS: Final = 16  # bytes of an entry, beside its key and its value, in which such entries are compared
_MIXED: Final = 4 << 10  # bytes of all others that are read at once


def cut(tag: str, data: bytes, text: str, at: int, end: int) -> Cut:
    """The short entries from `at` on, up to one that is not. `text` is the wire text of `data`.

    Raises IndexError, ProtobufError where one is damaged.
    """
    found = _alike(len(tag), text, at, end)
    if found is None and data[at + len(tag)] < len(_SIGNS):
        found = _columns(tag, data, at, min(at + _TRIED, end))
        if found is not None and found[2] > at + _TRIED - _LONGEST:
            found = _columns(tag, data, at, min(at + _COLUMNS, end))
    return _mixed(tag, text, at, min(at + _MIXED, end)) if found is None else found


def _columns(tag: str, data: bytes, at: int, end: int) -> Cut | None:
    piece = data[at:end]
    signs = piece.translate(None, _CONTENT)
    parts = piece.translate(_SPLIT).decode("latin-1").split("\0")
    # Of each entry there are so many parts: what is between tag and length, ..., key, ..., value. A tag that is
    # no such sign stands behind the value of the entry before.
    step = _FRAME if tag < " " else _FRAME - 1
    first = step - _FRAME
    count = min(len(signs), len(parts) - 1) // step - 1  # the last one may go on behind the piece
    stop = count * step
    keys, wires = parts[first + 4 : stop : step], parts[first + 6 : stop + 1 : step]
    if first:
        tags = [wire[-1:] for wire in wires]
        count = _agree(tags, [tag] * count) if parts[0] == tag else 0
        wires = [wire[:-1] for wire in wires]
    else:
        count = _agree(signs[:stop:step], tag.encode() * count)
    empty = [parts[first + place : stop : step] for place in ((1, 2, 3, 5) if not first else (2, 3, 5))]
    if any(map(any, empty)):
        count = min(count, *(_agree(part, [""] * count) for part in empty))
    for place, sign in ((2, b"\n"), (4, b"\x12")):
        count = min(count, _agree(signs[first + place : stop : step], sign * count))
    told, of_key, of_value = (signs[first + place : stop : step] for place in (1, 3, 5))
    sizes, lengths = [*map(len, keys)], [*map(len, wires)]
    count = min(count, _agree(sizes, [*of_key]), _agree(lengths, [*of_value]))
    count = min(count, _agree([*map(add, sizes, lengths)], [size - _INNER for size in told]))
    if count < _FEW:
        return None
    behind = at + count * _FRAME + sum(sizes[:count]) + sum(lengths[:count])
    return keys[:count], wires[:count], behind


def _agree(one: Sequence[object], other: Sequence[object]) -> int:
    """How many are the same from the start."""
    if one == other:
        return len(one)
    for index, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return index
    return min(len(one), len(other))


def _alike(width: int, text: str, at: int, end: int) -> Cut | None:
    """`width` is the tag's."""
    size = width + 1 + ord(text[at + width])
    if size > width + 128 or text[at + size : at + size + width + 1] != text[at : at + width + 1]:
        return None
    entry = text[at : at + size].encode("latin-1")
    key_at, key_end, value_at, value_end = entry_parts(entry, width + 1, size)
    marks = [place for place in range(size) if not (key_at <= place < key_end or value_at <= place < value_end)]
    if len(marks) > _MARKS:
        return None
    count = 0
    for reach in (_SOME, _LONG):
        most = (min(reach, end - at)) // size
        if most <= count:
            break
        count = min(_same(text[at + place : at + most * size : size]) for place in marks)
        if count < most:
            break
    if count * size < _SOME:
        return None
    starts = range(at, at + count * size, size)
    return _pieces(text, starts, key_at, key_end), _pieces(text, starts, value_at, value_end), starts.stop


def _same(signs: str) -> int:
    """How many there are of the first one, from the start."""
    return len(signs) - len(signs.lstrip(signs[0]))


def _pieces(text: str, starts: range, begin: int, stop: int) -> list[str]:
    """What stands from `begin` to `stop` behind each of these places."""
    if begin == stop:
        return [""] * len(starts)
    if stop - begin == 1:
        return [*text[starts.start + begin : starts.stop : starts.step]]
    return [text[start + begin : start + stop] for start in starts]


def _mixed(tag: str, text: str, at: int, end: int) -> Cut:
    entries = _short_entries(tag).findall(text, at, end)
    if not entries[-1]:
        entries.pop()
    behind = at + sum(map(len, entries))
    if len(entries) * _TINY > behind - at:
        entries = [*dict.fromkeys(reversed(entries))][::-1]
    return *_take_apart(entries, len(tag) + 1), behind


def _take_apart(entries: list[str], start: int) -> tuple[list[str], list[str]]:
    """The key and the value of each. An entry is a tag, a length and, from `start` on, a key and a value."""
    usual = _halves(entries, start, "\n", "\x12")
    if usual is not None:
        return usual
    turned = _halves(entries, start, "\x12", "\n")
    if turned is not None:
        return turned[::-1]
    keys: list[str] = []
    wires: list[str] = []
    for entry in entries:
        data = entry.encode("latin-1")
        key_from, key_to, value_from, value_to = entry_parts(data, start, len(data))
        keys.append(entry[key_from:key_to])
        wires.append(entry[value_from:value_to])
    return keys, wires


def _halves(entries: list[str], start: int, first: str, second: str) -> tuple[list[str], list[str]] | None:
    """What stands behind a first tag and behind a second one, if all entries are of these two. The second may lack."""
    if [entry[start : start + 1] for entry in entries].count(first) < len(entries):
        return None
    begin = start + 2
    try:
        middles = [ord(entry[start + 1]) + begin for entry in entries]
    except IndexError:
        return None
    if any(map(lt, map(len, entries), middles)):
        return None
    nothing = second + "\0"
    rests = [entry[middle:] or nothing for entry, middle in zip(entries, middles, strict=True)]
    if [rest[:1] for rest in rests].count(second) < len(rests):
        return None
    others = [rest[2:] for rest in rests]
    if [rest[1:2] for rest in rests] != [*map(chr, map(len, others))]:
        return None
    return [entry[begin:middle] for entry, middle in zip(entries, middles, strict=True)], others


@cache
def _short_entries(tag: str) -> re.Pattern[str]:
    """Finds fields one behind the other, each with its tag and length, and "" for what does not begin with one."""
    sizes = "|".join(f"{re.escape(chr(size))}.{{{size}}}" for size in range(128))
    return re.compile(f"({re.escape(tag)}(?:{sizes}))|.+", re.DOTALL)
