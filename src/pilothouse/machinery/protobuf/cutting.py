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
_WITHIN: Final = 4  # of which the entry's length counts these
_INNER: Final = 2  # bytes more of a value that is a message of one text
_HEADS: Final = [f"\n{chr(size)}" for size in range(len(_SIGNS))]  # what such a value begins with
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
    inner = _INNER if _is_wrapped(data, at + len(tag)) else 0
    piece = data[at:end]
    signs = piece.translate(None, _CONTENT)
    parts = piece.translate(_SPLIT).decode("latin-1").split("\0")
    # Of each entry there are so many parts: what is between tag and length, ..., key, ..., value. A tag that is
    # no such sign stands behind the value of the entry before.
    frame = _FRAME + inner
    step = frame if tag < " " else frame - 1
    first = step - frame
    count = min(len(signs), len(parts) - 1) // step - 1  # the last one may go on behind the piece
    stop = count * step
    keys, texts = parts[first + 4 : stop : step], parts[first + frame : stop + 1 : step]
    if first:
        tags = [text[-1:] for text in texts]
        count = _agree(tags, [tag] * count) if parts[0] == tag else 0
        texts = [text[:-1] for text in texts]
    column = [signs[first + place : stop : step] for place in range(-first, frame)]
    told = dict(zip(range(-first, frame), column, strict=True))
    empty = [parts[first + place : stop : step] for place in range(1, frame) if first + place and place != 4]
    if any(map(any, empty)):
        count = min(count, *(_agree(part, [""] * count) for part in empty))
    for place, sign in ((0, tag.encode("latin-1")), (2, b"\n"), (4, b"\x12"), (6, b"\n")):
        if place in told:
            count = min(count, _agree(told[place], sign * count))
    sizes = [*map(len, keys)]
    count = min(count, _agree(sizes, [*told[3]]), _agree([*map(len, texts)], [*told[frame - 1]]))
    if inner:
        count = min(count, _agree([size + inner for size in told[7]], [*told[5]]))
        texts = [*map(add, map(_HEADS.__getitem__, told[7]), texts)]
    count = min(count, _agree([*map(add, sizes, told[5])], [size - _WITHIN for size in told[1]]))
    if count < _FEW:
        return None
    behind = at + count * _FRAME + sum(sizes[:count]) + sum(told[5][:count])
    return keys[:count], texts[:count], behind


def _is_wrapped(data: bytes, at: int) -> bool:
    """Whether the value in an entry, whose length is at `at`, is a message of one text."""
    size = data[at]
    entry = data[at + 1 : at + 1 + size]
    start, stop = entry_parts(entry, 0, size)[2:]
    return stop - start >= _INNER and entry[start] == 10 and entry[start + 1] == stop - start - _INNER


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
    behind = at + count * size
    keys, wires = _pieces(text[at:behind].encode("latin-1"), size, ((key_at, key_end), (value_at, value_end)))
    return keys, wires, behind


def _same(signs: str) -> int:
    """How many there are of the first one, from the start."""
    return len(signs) - len(signs.lstrip(signs[0]))


def _pieces(data: bytes, size: int, places: tuple[tuple[int, int], ...]) -> tuple[list[str], ...]:
    """What stands at these places of each of the entries, which have the same size.

    Column by column that is put together with a zero behind each text, and split at these.
    """
    count = len(data) // size
    step = sum(stop - begin + 1 for begin, stop in places)
    whole = bytearray(step * count)
    column = 0
    for begin, stop in places:
        for place in range(begin, stop):
            whole[column::step] = data[place::size]
            column += 1
        column += 1
    parts = whole.decode("latin-1").split("\0")
    if len(parts) == len(places) * count + 1:
        return tuple(parts[first : -1 : len(places)] for first in range(len(places)))
    text, starts = data.decode("latin-1"), range(0, len(data), size)
    return tuple([text[start + begin : start + stop] for start in starts] for begin, stop in places)


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
