"""Long runs of alike lines or items, cut out of a document before the parser reads the rest.

An event costs the parser and us a microsecond, a list of a hundred thousand short lines some tenths of a second. A run
that can only mean "so many more items of the same list", or "members of the same object", is read as a whole, and the
parser finds a mark in its place. The first and the last of a run stay, so that what is around it is read as it would
have been. Where a mark turns up anywhere else (the run stood in a text, say), the document is read without cuts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, Protocol

from pilothouse.machinery.yamlcodec.scalars import NUMERIC, WORDS, resolve

_LEAST: Final = 64  # lines or items that are worth a cut
_STEP: Final = 512  # bytes between places where a run is looked for: one that is worth it is longer


@dataclass(frozen=True, slots=True)
class Items:
    """More items of the list in which the mark stands."""

    values: list[Any]


@dataclass(frozen=True, slots=True)
class Members:
    """More members of the object in which the mark stands as a key; `names` as they come, `each` line or all in one."""

    values: dict[str, Any]
    names: list[str]
    each: bool


@dataclass(frozen=True, slots=True)
class Again:
    """The item before the mark, or a merge, so many times more; `alias`: it is, or merges, what this anchor means."""

    times: int
    alias: str | None
    merge: bool


@dataclass(frozen=True, slots=True)
class Cut:
    """A run and where it was: the line of its mark, and how many lines more it had than the mark has. From 0."""

    run: Items | Members | Again
    line: int
    more: int


@dataclass(frozen=True, slots=True)
class Shortened:
    """A document without its runs, and the cuts by their marks."""

    text: bytes
    cuts: dict[str, Cut]

    def line(self, short: int) -> int:
        """The line of the whole document, from 0, of one of the shortened."""
        return short + sum(cut.more for cut in self.cuts.values() if cut.line < short)


@dataclass(frozen=True, slots=True)
class _Span:
    """Bytes that a mark replaces, and what stands around the mark there."""

    start: int
    end: int
    before: bytes
    after: bytes
    run: Items | Members | Again


def shortened(data: bytes, aliases: bool) -> Shortened | None:
    """A document without its long runs; None where there are none. `aliases`: it may have some."""
    spans = [span for mark, forms in _FORMS for span in _spans(data, mark, forms, aliases)]
    if not spans:
        return None
    spans.sort(key=lambda span: span.start)
    marked = "cut" + blake2b(data, digest_size=12).hexdigest()
    parts: list[bytes] = []
    cuts: dict[str, Cut] = {}
    at = line = 0
    for span in spans:
        if span.start < at:
            continue  # within what is cut already
        mark = f"{marked}n{len(cuts)}"
        kept = data[at : span.start] + span.before
        parts += (kept, mark.encode(), span.after)
        line += kept.count(b"\n")
        cuts[mark] = Cut(span.run, line, data.count(b"\n", span.start, span.end) - span.before.count(b"\n"))
        at = span.end
    return Shortened(b"".join((*parts, data[at:])), cuts)


# What a scalar may be made of so that it means the same in every place: no sign that could end it or be an indicator.
_TEXT: Final = rb"[A-Za-z0-9_./+$(<=;^][A-Za-z0-9_./+$(<=;^:,@%)>~ -]*+"
_WORD: Final = rb"[A-Za-z0-9_./+][A-Za-z0-9_./+-]*+"
_QUOTED: Final = rb'"[ !#-\[\]-~]*+"'
_NAME: Final = rb"[A-Za-z_/][A-Za-z0-9_./-]{0,999}+"  # beyond 1,024 the parser takes none for a key
_ANCHOR: Final = rb"(?:&[A-Za-z0-9_-]++ )?"
_ANCHORED: Final = re.compile(r"&[A-Za-z0-9_-]+ ")
_TWICE: Final = re.compile(rb": [^\n]*: ")


class _Form(Protocol):
    def at(self, data: bytes, at: int, aliases: bool) -> tuple[_Span | None, int] | None:
        """The run that begins with the sign at `at`, and where to look on; None where none begins."""


def _spans(data: bytes, mark: bytes, forms: Sequence[_Form], aliases: bool) -> Iterator[_Span]:
    """The runs of a document whose lines or items begin with `mark`."""
    at = data.find(mark)
    while at >= 0:
        behind = at + _STEP
        for form in forms:
            found = form.at(data, at, aliases)
            if found is not None:
                span, behind = found
                if span is not None:
                    yield span
                break
        at = data.find(mark, behind)


class _Alike:
    """Items or members that follow one another, `mark` and spaces before each: how they are found and read."""

    def __init__(self, mark: bytes, dash: bytes, name: bytes, value: bytes) -> None:
        one = name + value
        self._mark, self._dash, self._one, self._members = mark, dash, one, bool(name)
        self._free = value.endswith(_TEXT)  # may have a colon or a space where it means something
        self._quoted = value is _QUOTED
        more = rb"%b\1%b%b" % (mark, dash, one)
        self._begins = re.compile(rb"%b( *)%b%b(?:%b){%d}(?=%b)" % (mark, dash, one, more, _LEAST, mark))

    def at(self, data: bytes, at: int, aliases: bool) -> tuple[_Span | None, int] | None:
        """The run that begins with the sign at `at`, and where to look on; None where none begins."""
        found = self._begins.match(data, at)
        if found is None:
            return None
        between = b"%b%b%b" % (self._mark, found[1], self._dash)
        ends = re.compile(rb"%b(?!%b%b%b)" % (self._mark, re.escape(between[1:]), self._one, self._mark))
        last = ends.search(data, at)
        end = behind = len(data) if last is None else last.start()
        start = data.index(self._mark, at + 1)
        if self._free:
            end = self._sure(data, start, end)
        end = data.rfind(self._mark, start, end)
        return self._span(data, start, end, between, aliases) if end > start else None, behind

    def _sure(self, data: bytes, start: int, end: int) -> int:
        """Where a run ends at the latest: what is before means a text for each line, nothing else."""
        for fault in (b":\n", b" \n") if self._members else (b":\n", b" \n", b": "):
            at = data.find(fault, start, end + 1)
            if at >= 0:
                end = data.rfind(b"\n", start, at)
        if self._members and end > start and data.count(b": ", start, end) != data.count(b"\n", start, end):
            twice = _TWICE.search(data, start, end)
            end = data.rfind(b"\n", start, twice.start()) if twice is not None else start
        return end

    def _span(self, data: bytes, start: int, end: int, between: bytes, aliases: bool) -> _Span | None:
        text, sep = data[start + len(between) : end].decode("ascii"), between.decode()
        if not self._members:
            if not aliases and not self._quoted and "&" in text:
                text = _ANCHORED.sub("", text)
            values = _values(text.split(sep), self._quoted) if self._quoted or "&" not in text else None
            return None if values is None else _Span(start, end, between, b"", Items(values))
        pairs = _quoted_pairs(text, sep) if self._quoted else text.replace(sep, ": ").split(": ")
        names = pairs[::2]
        members = _values(pairs[1::2], self._quoted)
        made = dict(zip(names, members, strict=True)) if members is not None else {}
        if not made or not made.keys().isdisjoint(WORDS):
            return None
        return _Span(start, end, between, b": 0", Members(made, names, each=self._mark == b"\n"))


def _quoted_pairs(text: str, sep: str) -> list[str]:
    """Names and values in quotes, which may have anything in them but quotes."""
    return [part for pair in text[:-1].split(f'"{sep}') for part in f'{pair}"'.split(": ", 1)]


def _values(texts: list[str], quoted: bool) -> list[Any] | None:
    """What scalars mean; None where one is a number that needs care."""
    if quoted:
        return [text[1:-1] for text in texts]
    distinct = set(texts)
    special = [text for text in distinct if text[0] in NUMERIC or text in WORDS]
    if not special:
        return list(texts)
    meant: dict[str, Any] = {}
    for text in special:
        value = int(text) if text.isdigit() and len(text) < 19 and text[0] != "0" else resolve(text)
        if value.__class__ is float:
            return None
        meant[text] = value
    if len(meant) == len(distinct):
        return [meant[text] for text in texts]
    return [meant.get(text, text) for text in texts]


_ALIAS: Final = re.compile(rb"[,\n] *(?:- |<<: )?\*(\w+)")
_EQUAL_LINES: Final = rb"\n *(?:-(?: [^\n]{0,200}+)?|<<: \*\w++|\?)"
_EQUAL_ITEMS: Final = (
    rb", ?(?:\[[^\[\]{}\n]{0,200}+\]|\{[^\[\]{}\n]{0,200}+\}|\"[^\"\\\n]{0,200}+\"|[^,\[\]{}\n\"]{1,200}+)"
)


class _Equal:
    """The same line or item, again and again."""

    def __init__(self, one: bytes) -> None:
        self._begins = re.compile(rb"(%b)\1{%d}(?=%b)" % (one, _LEAST, one[:2] if one[:1] == b"\\" else one[:1]))

    def at(self, data: bytes, at: int, aliases: bool) -> tuple[_Span | None, int] | None:
        """The run that begins with the sign at `at`, and where to look on; None where none begins."""
        found = self._begins.match(data, at)
        if found is None:
            return None
        one = found[1]
        times = _times(data, at, one)
        alias = _ALIAS.fullmatch(one)
        if aliases and alias is None and b"*" in one:
            return None, at + times * len(one)
        word = one[1:].lstrip(b" ")
        lead, sign = one[: len(one) - len(word)], word[:1] if one[:1] == b"\n" else b""
        before = lead + {b"-": b"- ", b"?": b"? "}.get(sign, b"")
        merge = sign in (b"<", b"?")  # of a null, which is refused already
        after = b": 0" if sign == b"<" else b""
        run = Again(times - 2, alias[1].decode() if alias is not None else None, merge)
        start = at + len(one)
        return _Span(start, start + run.times * len(one), before, after, run), start + (times - 1) * len(one)


def _times(data: bytes, start: int, one: bytes) -> int:
    """How often a piece stands one after the other."""
    times = step = _LEAST
    while step:
        more = one * step
        if data.startswith(more, start + times * len(one)):
            times += step
            step *= 2
        else:
            step //= 2
    return times


_FORMS: Final[tuple[tuple[bytes, tuple[_Form, ...]], ...]] = (
    (b"\n", (
        _Equal(_EQUAL_LINES),
        _Alike(b"\n", b"- ", b"", _ANCHOR + _TEXT),
        _Alike(b"\n", b"- ", b"", _QUOTED),
        _Alike(b"\n", b"", _NAME + b": ", _TEXT),
        _Alike(b"\n", b"", _NAME + b": ", _QUOTED),
    )),
    (b",", (
        _Equal(_EQUAL_ITEMS),
        _Alike(b",", b"", b"", _WORD),
        _Alike(b",", b"", _NAME + b": ", _WORD),
    )),
)  # fmt: skip
