"""Runs of lines or items of one form: scalars in a list, members of an object, or the same again and again."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from pilothouse.kit.sorting import in_order
from pilothouse.machinery.jsoncopy import in_own_containers
from pilothouse.machinery.yamlcodec.cuts import (
    LEAST,
    QUOTED,
    SINGLE,
    TEXT,
    Aliases,
    Items,
    Members,
    Read,
    Span,
    text_of,
    values_of,
)
from pilothouse.machinery.yamlcodec.errors import YAMLError
from pilothouse.machinery.yamlcodec.scalars import WORDS

_SAMPLE: Final = 4 << 10  # characters of a run that tell whether its members are there twice
WORD: Final = rb"[A-Za-z0-9_./+][A-Za-z0-9_./+-]*+"
NUMBER: Final = rb"[1-9][0-9]{0,17}+"
QUOTED_NAME: Final = rb'"[ !#-9;-\[\]-~]{1,999}+"'
COMMENT: Final = rb"(?:(?<= )#[A-Za-z0-9_./ -]*+)?"
ANCHOR: Final = rb"(?:&[A-Za-z0-9_-]++ )?"
_ANCHORED: Final = re.compile(r"&[A-Za-z0-9_-]+ ")
_COMMENTED: Final = re.compile(r" +#[^\n]*")
_WIDE: Final = re.compile(r":  +")
_TRAILING: Final = re.compile(r" +(?=\n|\Z)")
COLON: Final = rb": ++"
_TWICE: Final = re.compile(rb": [^\n]*: ")


class Alike:
    """Items or members that follow one another, `mark` and spaces before each: how they are found and read."""

    def __init__(self, mark: bytes, dash: bytes, name: bytes, value: bytes) -> None:
        one = name + value
        self._mark, self._dash, self._one, self._members = mark, dash, one, bool(name)
        self._free = value.endswith((TEXT, COMMENT))  # may have a colon or a space where it means something
        self._lines = self._free and bool(name) and not dash and name[:1] != b'"'  # members, a line each
        self._numbers = name.startswith(NUMBER)
        self._quote = {QUOTED: '"', SINGLE: "'"}.get(value, "")
        more = rb"%b\1%b%b" % (mark, dash, one)
        self._begins = re.compile(rb"%b( *)%b%b(?:%b){%d}(?=%b)" % (mark, dash, one, more, LEAST, mark))

    def at(self, data: bytes, at: int, aliases: bool, read: Read) -> tuple[Span | None, int] | None:
        """The run that begins with the sign at `at`, and where to look on; None where none begins."""
        found = self._begins.match(data, at)
        if found is None:
            return None
        between = b"%b%b%b" % (self._mark, found[1], self._dash)
        ends = re.compile(rb"%b(?!%b%b%b)" % (self._mark, re.escape(between[1:]), self._one, self._mark))
        last = ends.search(data, at)
        end = behind = len(data) if last is None else last.start()
        if self._lines:
            at = self._first(data, at, between)
        start = data.index(self._mark, at + 1)
        if self._free:
            end = self._sure(data, at if self._lines else start, end)
        if not self._lines or re.compile(rb"\n {0,%d}[^ #\n]|\n?\Z" % len(found[1])).match(data, end) is None:
            end = data.rfind(self._mark, start, end)  # what follows may belong to the last
        if end <= start:
            return None, behind
        if self._lines:
            return self._lines_span(data, at, start, end, between), behind
        return self._span(data, start, end, between, aliases), behind

    def _first(self, data: bytes, at: int, between: bytes) -> int:
        """Where a run of lines begins of which one begins at `at`."""
        one = re.compile(rb"%b%b(?=\n)" % (between, self._one))
        while at > 0:
            before = data.rfind(b"\n", 0, at)
            if before < 0 or one.match(data, before) is None:
                break
            at = before
        return at

    def _sure(self, data: bytes, start: int, end: int) -> int:
        """Where a run ends at the latest: what is before means a text for each line, nothing else."""
        for fault in (b":\n",) if self._members else (b":\n", b": "):
            at = data.find(fault, start, end + 1)
            if at >= 0:
                end = data.rfind(b"\n", start, at)
        if self._members and end > start and data.count(b": ", start, end) != data.count(b"\n", start, end):
            twice = _TWICE.search(data, start, end)
            end = data.rfind(b"\n", start, twice.start()) if twice is not None else start
        return end

    def _lines_span(self, data: bytes, first: int, start: int, end: int, between: bytes) -> Span | None:
        """Members, a line each. They are sorted as lines, and the first is among them: objects are wanted by name."""
        text, sep = text_of(data[first + len(between) : end]), between.decode()
        if text is None:
            return None
        text = _tidied(text)
        if ",\n" in text:
            return None  # these are likely to be in flow style
        text = text.replace(": ", "\0")
        count, first_lines = text.count("\0"), text[:_SAMPLE].split(sep)
        pairs: list[str] = []  # as they come
        made: dict[str, Any] = {}
        if len({*first_lines}) == len(first_lines):  # else more of them are likely to be there twice
            made = _members("\0".join(in_order(text.split(sep))).split("\0"))
        if len(made) < count:
            pairs = _pairs(text, sep)
            made = _members(pairs)  # of several the last counts
        if not made or not made.keys().isdisjoint(WORDS):
            return None

        def names() -> list[str]:
            return (pairs or _pairs(text, sep))[2::2]

        run = Members(made, count - 1, names, None if self._numbers else 1, text.partition("\0")[0])
        return Span(start, end, between, b": 0", run)

    def _span(self, data: bytes, start: int, end: int, between: bytes, aliases: bool) -> Span | None:
        text, sep = text_of(data[start + len(between) : end]), between.decode()
        if text is None:
            return None
        if self._free:
            text = _tidied(text)
        if not self._members:
            if not aliases and not self._quote and "&" in text:
                text = _ANCHORED.sub("", text)
            values = values_of(text.split(sep), bool(self._quote)) if self._quote or "&" not in text else None
            return None if values is None else Span(start, end, between, b"", Items(values))
        pairs = _quoted_pairs(text, sep, self._quote) if self._quote else text.replace(sep, ": ").split(": ")
        names = [name[1:-1] for name in pairs[::2]] if pairs[0][:1] == '"' else pairs[::2]
        members = values_of(pairs[1::2], bool(self._quote))
        made = dict(zip(names, members, strict=True)) if members is not None else {}
        if not made or not made.keys().isdisjoint(WORDS):
            return None
        if self._dash:
            items = [{name: value} for name, value in zip(names, members or (), strict=True)]
            return Span(start, end, between, b"", Items(items))
        lines = None if self._numbers else int(self._mark == b"\n")
        return Span(start, end, between, b": 0", Members(made, len(names), names.copy, lines))


def _tidied(text: str) -> str:
    """Lines of names and plain scalars without comments, and without spaces that mean nothing."""
    for sign, pattern, instead in (("#", _COMMENTED, ""), (":  ", _WIDE, ": "), (" \n", _TRAILING, "")):
        if sign in text:
            text = pattern.sub(instead, text)
    return text.rstrip(" ")


def _pairs(text: str, sep: str) -> list[str]:
    """Names and values of lines, each of which is a name, a zero and a value."""
    return text.replace(sep, "\0").split("\0")


def _members(pairs: list[str]) -> dict[str, Any]:
    """The members; none where a value is none that JSON has."""
    values = values_of(pairs[1::2], quoted=False)
    return {} if values is None else dict(zip(pairs[::2], values, strict=True))


def _quoted_pairs(text: str, sep: str, quote: str) -> list[str]:
    """Names and values in quotes, which may have anything in them but quotes."""
    return [part for pair in text[:-1].split(f"{quote}{sep}") for part in f"{pair}{quote}".split(": ", 1)]


_ALIAS: Final = re.compile(rb"[,\n] *(?:- |<<: )?\*(\w+)")
EQUAL_LINES: Final = rb"\n *(?:-(?: [^\n]{0,200}+)?|<<: \*\w++|\?)"
EQUAL_ITEMS: Final = (
    rb", ?(?:\[[^\[\]{}\n]{0,200}+\]|\{[^\[\]{}\n]{0,200}+\}|\"[^\"\\\n]{0,200}+\"|[^,\[\]{}\n\"]{1,200}+)"
)


class Equal:
    """The same line or item, again and again."""

    def __init__(self, one: bytes) -> None:
        self._begins = re.compile(rb"(%b)\1{%d}(?=%b)" % (one, LEAST, one[:2] if one[:1] == b"\\" else one[:1]))

    def at(self, data: bytes, at: int, aliases: bool, read: Read) -> tuple[Span | None, int] | None:
        """The run that begins with the sign at `at`, and where to look on; None where none begins."""
        found = self._begins.match(data, at)
        if found is None:
            return None
        one = found[1]
        times = _times(data, at, one)
        start, end = at + len(one), at + (times - 1) * len(one)
        more = self._more(one, times - 2, aliases, read)
        if more is None:
            return None, end + len(one)
        word = one[1:].lstrip(b" ")
        lead, sign = one[: len(one) - len(word)], word[:1] if one[:1] == b"\n" else b""
        before = lead + {b"-": b"- ", b"?": b"? "}.get(sign, b"")
        return Span(start, end, before, b": 0" if sign == b"<" else b"", more), end + len(one)

    def _more(self, one: bytes, times: int, aliases: bool, read: Read) -> Items | Members | Aliases | None:
        """What so many of a line or an item mean; None where that cannot be told without the rest of the document."""
        alias = _ALIAS.fullmatch(one)
        if alias is not None:
            return Aliases(alias[1].decode(), times, merged=b"<" in one)
        if aliases and b"*" in one:
            return None
        if one.strip() == b"?":
            return Members({}, 0, list, lines=1)  # the first of them is refused
        try:
            value, repeated = read(b"[%b]" % one[1:] if one[:1] == b"," else one + b"\n")
        except YAMLError:
            return None
        alone = not repeated and value.__class__ is list and len(value) == 1
        return Items(copies(value[0], times)) if alone else None


def copies(value: Any, times: int) -> list[Any]:
    """So many equal values, none of them shared with another if it can be changed."""
    if value.__class__ is not dict and value.__class__ is not list:
        return [value] * times
    copied = copier(value)
    return [copied() for _ in range(times)]


def copier(value: Any) -> Callable[[], Any]:
    """What makes copies of a list or an object."""
    if any(item.__class__ in (dict, list) for item in (value.values() if value.__class__ is dict else value)):
        return partial(in_own_containers, value)
    copied: Callable[[], Any] = value.copy
    return copied


def _times(data: bytes, start: int, one: bytes) -> int:
    """How often a piece stands one after the other."""
    times = step = LEAST
    while step:
        more = one * step
        if data.startswith(more, start + times * len(one)):
            times += step
            step *= 2
        else:
            step //= 2
    return times
