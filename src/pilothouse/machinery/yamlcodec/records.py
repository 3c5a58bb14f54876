"""Runs of list items that take several lines each and differ in their scalars only, as a manifest's containers do.

Without its scalars, one such item is the same text as the next. The first is read by the parser, with marks for the
scalars; what comes of it is the form into which the scalars of all the others are put at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

import orjson

from pilothouse.machinery.yamlcodec.cuts import LEAST, QUOTED, SINGLE, TEXT, Items, Read, Span, text_of, values_of
from pilothouse.machinery.yamlcodec.errors import YAMLError

_WINDOW: Final = 16 << 10  # bytes in which an item and the next one must begin
_PAIRS: Final = 4  # neighbours of one level that are compared
_LEVELS: Final = 3
_ITEM: Final = re.compile(rb"\n( *)- ")
_SCALARS: Final = (
    (re.compile(rb": %b(?=\n)" % TEXT), b": v"),
    (re.compile(rb": (?:%b|%b)(?=\n)" % (QUOTED, SINGLE)), b": q"),
    (re.compile(rb"- (?![^\n]*:[ \n])%b(?=\n)" % TEXT), b"- v"),
    (re.compile(rb"- (?:%b|%b)(?=\n)" % (QUOTED, SINGLE)), b"- q"),
)
_SURE: Final = re.compile(rb"[A-Za-z0-9_./: \n{}\[\]-]*")  # what may be around the scalars
_UNSURE: Final = re.compile(rb":[ \n]| \n")  # in a plain scalar, or behind it
_ALL_PLAIN: Final = re.compile(rb"(?:%b\n)*" % TEXT)
_ALL_QUOTED: Final = re.compile(rb"(?:(?:%b|%b)\n)*" % (QUOTED, SINGLE))


def record_spans(data: bytes, read: Read) -> Iterator[Span]:
    """The runs of a document."""
    at = data.find(b"\n")
    while at >= 0:
        span = _run(data, at, read)
        if span is not None:
            yield span
        at = data.find(b"\n", at + _WINDOW // 2 if span is None else span.end + 1)


def _form(text: bytes) -> bytes:
    """A text without its scalars."""
    for pattern, instead in _SCALARS:
        text = pattern.sub(instead, text)
    return text


def _run(data: bytes, at: int, read: Read) -> Span | None:
    """A run that begins within a window."""
    window = data[at : at + _WINDOW]
    if b"- " not in window or b":" not in window:
        return None
    levels: dict[bytes, list[int]] = {}
    for found in _ITEM.finditer(window):
        levels.setdefault(found[1], []).append(found.start())
    for indent in sorted(levels)[:_LEVELS]:
        places = levels[indent]
        for first, second, third in zip(places[:_PAIRS], places[1:], places[2:], strict=False):
            form = _form(window[first : second + 1])
            if b":" in form and form == _form(window[second : third + 1]) and _SURE.fullmatch(form):
                span = _grown(data, at + first, form[:-1], indent, read)
                if span is not None:
                    return span
    return None


def _grown(data: bytes, start: int, form: bytes, indent: bytes, read: Read) -> Span | None:
    """The whole of a run whose first item starts at `start`, without its first and its last."""
    behind = re.compile(rb"\n(?!%b(?: |- ))" % indent).search(data, start)
    end = len(data) if behind is None else behind.start()
    lines = data[start + 1 : end].split(b"\n")
    slots = form[1:].split(b"\n")
    times = _times(lines, slots)
    height = len(slots)
    if (times - 2) * height < LEAST:
        return None
    first, rest = lines[:height], lines[height : (times - 1) * height]
    items = _items(first, rest, slots, read)
    if items is None:
        return None
    begin = start + len(b"\n".join(first)) + 1
    return Span(begin, begin + len(b"\n".join(rest)) + 1, b"\n%b- " % indent, b"", Items(items))


def _times(lines: list[bytes], slots: list[bytes]) -> int:
    """How many items, one after the other, are of one form."""
    most = len(lines) // len(slots)
    times, step = 1, 1
    while step and times < most:
        more = min(times + step, most)
        if _fit(lines, slots, times, more):
            times = more
            step *= 2
        else:
            step //= 2
    return times


def _fit(lines: list[bytes], slots: list[bytes], start: int, end: int) -> bool:
    """Whether items, by their numbers, are of one form."""
    height = len(slots)
    for place, slot in enumerate(slots):
        column = lines[start * height + place : end * height : height]
        if column.count(lines[place]) != len(column) and (slot == lines[place] or _scalars(column, slot) is None):
            return False
    return True


def _scalars(column: list[bytes], slot: bytes) -> bytes | None:
    """The scalars of lines that begin alike, one a line; None where one is not as simple as the slot wants it."""
    lead = b"\n" + slot[:-1]
    text = b"\n%b\n" % b"\n".join(column)
    if text.count(lead) != len(column):
        return None
    text = text.replace(lead, b"\n")[1:]
    if slot[-1:] == b"q":
        return text if _ALL_QUOTED.fullmatch(text) else None
    return text if _ALL_PLAIN.fullmatch(text) and not _UNSURE.search(text) else None


def _items(first: list[bytes], lines: list[bytes], slots: list[bytes], read: Read) -> list[Any] | None:
    """The values of items of one form; None where the form of the first tells too little."""
    template: list[bytes] = []
    columns: dict[str, list[Any]] = {}  # of scalars that are not the same everywhere, by their marks
    for place, (line, slot) in enumerate(zip(first, slots, strict=True)):
        column = lines[place :: len(slots)]
        if column.count(line) == len(column):
            template.append(line)
            continue
        text = _scalars(column, slot)
        plain = None if text is None else text_of(text[:-1])
        values = None if plain is None else values_of(plain.split("\n"), slot[-1:] == b"q")
        if values is None:
            return None
        mark = f"mark{place}ed"
        template.append(slot[:-1] + mark.encode())
        columns[mark] = values
    try:
        value, repeated = read(b"\n".join(template) + b"\n")
    except YAMLError:
        return None
    if repeated or value.__class__ is not list or len(value) != 1 or (len(slots) == 1 and not columns):
        return None
    try:
        return _filled(orjson.dumps(value[0]).decode(), columns, len(lines) // len(slots))
    except TypeError:  # of a number that is kept as it was written
        return None


def _filled(text: str, columns: dict[str, list[Any]], times: int) -> list[Any] | None:
    """Values that differ in the scalars that have marks in the JSON text of one of them."""
    text = text.replace("%", "%%")
    for mark, values in columns.items():
        if text.count(f'"{mark}"') != 1:
            return None
        if all(value.__class__ is str for value in values):
            continue
        columns[mark] = [f'"{value}"' if value.__class__ is str else orjson.dumps(value).decode() for value in values]
        text = text.replace(f'"{mark}"', mark)
    ordered = [columns[mark] for mark in sorted(columns, key=text.index)]
    for mark in columns:
        text = text.replace(mark, "%s")
    scalars = tuple(chain.from_iterable(zip(*ordered, strict=True)))
    filled: list[Any] = orjson.loads(f"[{f'{text},' * (times - 1)}{text}]" % scalars)
    return filled
