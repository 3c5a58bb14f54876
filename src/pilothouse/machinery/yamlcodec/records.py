"""Runs of items or members that take several lines each and differ in their scalars only, as a pod's containers do.

Without its scalars, one of them is the same text as the next. The first is read by the parser, with marks for the
scalars; what comes of it is the form into which the scalars of all the others are put at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final

import orjson

from pilothouse.machinery.yamlcodec.cuts import (
    LEAST,
    NAME,
    QUOTED,
    SINGLE,
    TEXT,
    Items,
    Members,
    Read,
    Span,
    Stride,
    text_of,
    values_of,
)
from pilothouse.machinery.yamlcodec.errors import YAMLError
from pilothouse.machinery.yamlcodec.flowjson import flow_values
from pilothouse.machinery.yamlcodec.scalars import WORDS

_WINDOW: Final = 16 << 10  # bytes in which an item and the next one must begin
_FARTHEST: Final = 128 << 10  # bytes from one to the next
_MOST_BEGUN: Final = 256  # items that are looked for in it
_PAIRS: Final = 4  # neighbours of one level that are compared
_LEVELS: Final = 3
_BEGINS: Final = re.compile(rb"\n( *)(- |%b:(?=\n))" % NAME)
_ITEM: Final = b"- "
_FLOW: Final = rb"[\[{][^\n]*[\]}]"
_SCALARS: Final = (
    (re.compile(rb": %b(?=\n)" % TEXT), b": v"),
    (re.compile(rb": (?:%b|%b)(?=\n)" % (QUOTED, SINGLE)), b": q"),
    (re.compile(rb"- (?![^\n]*:[ \n])%b(?=\n)" % TEXT), b"- v"),
    (re.compile(rb"- (?:%b|%b)(?=\n)" % (QUOTED, SINGLE)), b"- q"),
    (re.compile(rb": %b(?=\n)" % _FLOW), b": f"),
    (re.compile(rb"- %b(?=\n)" % _FLOW), b"- f"),
)
_SURE: Final = re.compile(rb"[A-Za-z0-9_./: \n{}\[\]-]*")  # what may be around the scalars
_UNSURE: Final = re.compile(rb":[ \n]| \n")  # in a plain scalar, or behind it
_ALL_PLAIN: Final = re.compile(rb"(?:%b\n)*" % TEXT)
_ALL_NAMES: Final = re.compile(rb"(?:%b:\n)*" % NAME)
_ALL_FLOW: Final = re.compile(rb"(?:%b\n)*" % _FLOW)
_ALL_QUOTED: Final = re.compile(rb"(?:(?:%b|%b)\n)*" % (QUOTED, SINGLE))
_ALL_IN: Final = {b"q": _ALL_QUOTED, b"f": _ALL_FLOW}  # by the sign of a kind of slot


def record_spans(data: bytes, read: Read) -> Iterator[Span]:
    """The runs of a document."""
    stride = Stride(_WINDOW, _FARTHEST)
    at = data.find(b"\n")
    while at >= 0:
        span = _run(data, at, read)
        if span is None:
            at = data.find(b"\n", at + stride.missed())
        else:
            yield span
            stride.found()
            at = data.find(b"\n", span.end + 1)


def _form(text: bytes, listed: bool) -> bytes:
    """A text without its scalars, and without the name in its first line if it is no item of a list."""
    return form_of(text) if listed else b"\n" + form_of(text[text.index(b"\n", 1) :])


def form_of(text: bytes) -> bytes:
    """A text without its scalars, for each of which a sign of its kind stands."""
    for pattern, instead in _SCALARS:
        text = pattern.sub(instead, text)
    return text


def is_sure(form: bytes) -> bool:
    """Whether nothing else in a form needs the parser."""
    return _SURE.fullmatch(form) is not None


def _run(data: bytes, at: int, read: Read) -> Span | None:
    """A run that begins within a window."""
    window = data[at : at + _WINDOW]
    if b":\n" not in window and (b"- " not in window or b":" not in window):
        return None
    levels: dict[tuple[bytes, bool], list[int]] = {}
    for found in islice(_BEGINS.finditer(window), _MOST_BEGUN):
        levels.setdefault((found[1], found[2] == _ITEM), []).append(found.start())
    for (indent, listed), places in sorted(level for level in levels.items() if len(level[1]) > 2)[:_LEVELS]:
        for first, second, third in zip(places[:_PAIRS], places[1:], places[2:], strict=False):
            form = _form(window[first : second + 1], listed)
            if listed and b":" not in form:
                continue
            if form == _form(window[second : third + 1], listed) and is_sure(form):
                slots = form[1:-1].split(b"\n")
                span = _grown(data, at + first, Form(indent, None if listed else indent, slots), read)
                if span is not None:
                    return span
    return None


@dataclass(frozen=True, slots=True)
class Form:
    """What items have in common: their lines, each up to a scalar of a kind or whole; `names`: before their names."""

    indent: bytes
    names: bytes | None  # None for items of a list
    slots: list[bytes]


def _grown(data: bytes, start: int, form: Form, read: Read) -> Span | None:
    """The whole of a run whose first item starts at `start`, without its first and its last."""
    height = len(form.slots)
    lines = data[start + 1 : start + _WINDOW].split(b"\n")[:-1]
    times = _times(lines, form)
    if (times + 1) * height > len(lines):
        behind = re.compile(rb"\n(?!%b(?: |- |%b))" % (form.indent, b"(?!)" if form.names is None else NAME))
        last = behind.search(data, start)
        lines = data[start + 1 : len(data) if last is None else last.start()].split(b"\n")
        times = _times(lines, form)
    least, values = LEAST // height + 2, None
    while values is None and times >= least:
        first, rest = lines[:height], lines[height : (times - 1) * height]
        values = values_of_form(first, rest, form, read)
        if values is None:  # flow style in one of them may be none
            times = times // 2 if any(slot[-1:] == b"f" for slot in form.slots) else 0
    if values is None:
        return None
    begin = start + len(b"\n".join(first)) + 1
    end = begin + len(b"\n".join(rest)) + 1
    if form.names is None:
        return Span(begin, end, b"\n%b- " % form.indent, b"", Items(values))
    names = b"".join(rest[::height]).decode("ascii").replace(form.names.decode(), "")[:-1].split(":")
    made = dict(zip(names, values, strict=True))
    if len(made) < len(names) or not made.keys().isdisjoint(WORDS):
        return None
    return Span(begin, end, b"\n%b" % form.indent, b": 0", Members(made, len(names), names.copy, lines=None))


def _times(lines: list[bytes], form: Form) -> int:
    """How many items, one after the other, are of one form."""
    most = len(lines) // len(form.slots)
    times, step = 1, 1
    while step and times < most:
        more = min(times + step, most)
        if _fit(lines, form, times, more):
            times = more
            step *= 2
        else:
            step //= 2
    return times


def _fit(lines: list[bytes], form: Form, start: int, end: int) -> bool:
    """Whether items, by their numbers, are of one form."""
    height = len(form.slots)
    for place, slot in enumerate(form.slots):
        column = lines[start * height + place : end * height : height]
        if place == 0 and form.names is not None:
            if not _are_names(column, form.names):
                return False
        elif column.count(lines[place]) != len(column) and (slot == lines[place] or _scalars(column, slot) is None):
            return False
    return True


def _are_names(column: list[bytes], lead: bytes) -> bool:
    lead = b"\n" + lead
    text = b"\n%b\n" % b"\n".join(column)
    return text.count(lead) >= len(column) and _ALL_NAMES.fullmatch(text.replace(lead, b"\n")[1:]) is not None


def _scalars(column: list[bytes], slot: bytes) -> str | None:
    """The scalars of lines that begin alike, one a line; None where one is not as simple as the slot wants it."""
    lead = b"\n" + slot[:-1]
    text = b"\n%b\n" % b"\n".join(column)
    if text.count(lead) != len(column):
        return None
    text = text.replace(lead, b"\n")[1:]
    form = _ALL_IN.get(slot[-1:])
    if form is not None:
        return text_of(text) if form.fullmatch(text) else None
    return text_of(text) if _ALL_PLAIN.fullmatch(text) and not _UNSURE.search(text) else None


def values_of_form(first: list[bytes], lines: list[bytes], form: Form, read: Read) -> list[Any] | None:
    """The values of items of one form; None where the form of the first tells too little."""
    template: list[bytes] = []
    columns: dict[str, list[Any]] = {}  # of scalars that are not the same everywhere, by their marks
    height = len(form.slots)
    for place, (line, slot) in enumerate(zip(first, form.slots, strict=True)):
        column = lines[place::height]
        if (place == 0 and form.names is not None) or column.count(line) == len(column):
            template.append(line)
            continue
        text = _scalars(column, slot)
        scalars = None if text is None else _meant(text[:-1], slot[-1:])
        if scalars is None:
            return None
        mark = f"mark{place}ed"
        template.append(slot[:-1] + mark.encode())
        columns[mark] = scalars
    if height == 1 and form.names is None and not columns:
        return None  # the same line again and again is read faster elsewhere
    try:
        return _filled(orjson.dumps(_read(template, form, read)).decode(), columns, len(lines) // height)
    except (YAMLError, TypeError):  # TypeError: of a number that is kept as it was written
        return None


def _meant(text: str, kind: bytes) -> list[Any] | None:
    """The values of lines, each of which is one of a kind; None where that is not sure."""
    if kind == b"f":
        return flow_values(text.encode().split(b"\n"))
    return values_of(text.split("\n"), quoted=kind == b"q")


def _read(template: list[bytes], form: Form, read: Read) -> Any:
    """The value of one item. Raises YAMLError if its lines are not one item."""
    last = form.indent + (b"- last" if form.names is None else b"last: last")  # not there if a line ended them all
    value, repeated = read(b"\n".join((*template, last, b"")))
    values = [*value.items()] if isinstance(value, dict) else value
    if repeated or not isinstance(values, list) or len(values) != 2:
        raise YAMLError("no item")
    if form.names is None and values[1] == "last":
        return values[0]
    named = dict(values) if isinstance(value, dict) else {}
    if named.pop("last", None) != "last" or len(named) != 1:
        raise YAMLError("no member")
    return named.popitem()[1]


def _filled(text: str, columns: dict[str, list[Any]], times: int) -> list[Any] | None:
    """Values that differ in the scalars that have marks in the JSON text of one of them."""
    text = text.replace("%", "%%")
    for mark, values in columns.items():
        if text.count(f'"{mark}"') != 1:
            return None
        if {*map(type, values)} == {str}:
            continue
        columns[mark] = [f'"{value}"' if value.__class__ is str else orjson.dumps(value).decode() for value in values]
        text = text.replace(f'"{mark}"', mark)
    ordered = [columns[mark] for mark in sorted(columns, key=text.index)]
    for mark in columns:
        text = text.replace(mark, "%s")
    scalars = tuple(chain.from_iterable(zip(*ordered, strict=True)))
    filled: list[Any] = orjson.loads(f"[{f'{text},' * (times - 1)}{text}]" % scalars)
    return filled
