"""What is cut out of a document that has long runs, and what a scalar may be made of in one."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from math import isfinite
from operator import itemgetter
from typing import Any, Final

import orjson

from pilothouse.machinery.jsoncodec import plain_floats
from pilothouse.machinery.yamlcodec.scalars import NUMERIC, WORDS, resolve

_TRIES: Final = 4  # places with no run before the next ones are sought farther away
_MANY: Final = 1000  # different scalars that are better read all at once
_PLAIN_NUMBERS: Final = re.compile("[0-9.,]*")
_SURE_DIGITS: Final = 18  # digits of a number that is one of int64
# Not of the digits of other scripts: those are texts.
_WHOLE: Final = re.compile(f"[1-9][0-9]{{0,{_SURE_DIGITS - 1}}}")
_ODD: Final = re.compile("[\x80-\xa0\u2028\u2029\ufeff\ufffe\uffff]")  # controls, breaks, marks
_FIRST: Final = itemgetter(0)
_MAY_BE_SPECIAL: Final = NUMERIC | {word[0] for word in WORDS if word}  # how scalars begin that may be no texts
LEAST: Final = 64  # lines or items that are worth a cut

Read = Callable[[bytes], tuple[Any, list[str]]]  # the value of a short document, and its notes; raises YAMLError

# What a scalar may be made of so that it means the same in every place: no sign that could end it or be an indicator.
TEXT: Final = rb"[A-Za-z0-9_./+$(<=;^\x80-\xff][A-Za-z0-9_./+$(<=;^:,@%)>~\x80-\xff -]*+"
NAME: Final = rb"[A-Za-z_/][A-Za-z0-9_./-]{0,999}+"  # beyond 1,024 signs the parser takes none for a key
QUOTED: Final = rb'"[ !#-\[\]-~]*+"'
SINGLE: Final = rb"'[ !#-&(-\[\]-~]*+'"


@dataclass(frozen=True, slots=True)
class Items:
    """More items of the list in which the mark stands."""

    values: list[Any]


@dataclass(frozen=True, slots=True)
class Members:
    """More members of the object in which the mark stands as a key.

    `names` as they come, so many as `count`; `lines` that each of them takes, 0 if all stand in one, or how many lines
    behind the mark each is; None if only the parser knows what is to be told of those that are there twice. `first` is
    before the mark, and in `values` too.
    `alone`: its mark shows by itself that it is in block style, so it may be the first of an object.
    """

    values: dict[str, Any]
    count: int
    names: Callable[[], Iterable[str]]
    lines: int | Callable[[], Iterable[int]] | None
    first: str | None = None
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Aliases:
    """What an anchor stands for, so many times more as an item, or merged into the object."""

    name: str
    times: int
    merged: bool


@dataclass(frozen=True, slots=True)
class Whole:
    """The value for which the mark stands."""

    value: Any


@dataclass(frozen=True, slots=True)
class Cut:
    """A run and where it was: the line of its mark, and how many lines more it had than the mark has. From 0."""

    run: Items | Members | Aliases | Whole
    line: int
    more: int

    def holds(self, line: int) -> bool:
        """Whether the mark has several lines, and that is one of them."""
        return isinstance(self.run, Members) and self.run.alone and self.line <= line <= self.line + 1


@dataclass(frozen=True, slots=True)
class Shortened:
    """A document without its runs, and the cuts by their marks."""

    text: bytes
    cuts: dict[str, Cut]  # in the order of their lines
    _lines: list[int]
    _more: list[int]  # lines that the cuts so far have taken away

    @classmethod
    def of(cls, text: bytes, cuts: dict[str, Cut]) -> Shortened:
        """A text, and what was cut out of it."""
        return cls(text, cuts, [cut.line for cut in cuts.values()], [0, *accumulate(cut.more for cut in cuts.values())])

    def line(self, short: int) -> int:
        """The line of the whole document, from 0, of one of the shortened."""
        return short + self._more[bisect_left(self._lines, short)]


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes that a mark replaces, and what stands around the mark there."""

    start: int
    end: int
    before: bytes
    after: bytes
    run: Items | Members | Aliases | Whole


def without(data: bytes, spans: Iterable[Span]) -> Shortened:
    """A document without some spans, which come in order; one that begins within another is left out."""
    marked = "cut" + blake2b(data, digest_size=12).hexdigest()
    parts: list[bytes] = []
    cuts: dict[str, Cut] = {}
    at = line = 0
    for span in spans:
        if span.start < at:
            continue  # within what is cut already
        name = f"{marked}n{len(cuts)}"
        kept = data[at : span.start] + span.before
        parts += (kept, name.encode(), span.after)
        line += kept.count(b"\n")
        after = span.after.count(b"\n")
        cuts[name] = Cut(span.run, line, data.count(b"\n", span.start, span.end) - span.before.count(b"\n") - after)
        line += after
        at = span.end
    return Shortened.of(b"".join((*parts, data[at:])), cuts)


def text_of(data: bytes) -> str | None:
    """The text of a run; None where it has a sign that means something else, or nothing, to the parser."""
    if data.isascii():
        return data.decode("ascii")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if _ODD.search(text) else text


def values_of(texts: list[str], quoted: bool) -> list[Any] | None:
    """What scalars mean; None where one is a number that JSON has not."""
    if quoted:
        return [text[1:-1] for text in texts]
    differ = len({*texts[:LEAST]}) > LEAST // 2  # then it is dear to find out which of them do
    if differ and _MAY_BE_SPECIAL.isdisjoint({*map(_FIRST, texts)}):
        return list(texts)
    distinct = set(texts)
    if len(distinct) > _MANY and texts[0][0].isdecimal() and texts[-1][0].isdecimal():
        numbers = _numbers(texts)
        if numbers is not None:
            return numbers
    special = [text for text in distinct if text[0] in NUMERIC or text in WORDS]
    if not special:
        return list(texts)
    meant: dict[str, Any] = {}
    for text in special:
        value = int(text) if _WHOLE.fullmatch(text) else resolve(text)
        if value.__class__ is float:
            if not isfinite(value):
                return None
            value = plain_floats(value)
        meant[text] = value
    if len(meant) == len(distinct):
        return [*map(meant.__getitem__, texts)]
    return [meant.get(text, text) for text in texts]


def _numbers(texts: list[str]) -> list[Any] | None:
    """The same where all are numbers as JSON has them, without exponents."""
    joined = ",".join(texts)
    if _PLAIN_NUMBERS.fullmatch(joined) is None or len(max(texts, key=len)) > _SURE_DIGITS:
        return None
    try:
        numbers: list[Any] = orjson.loads(f"[{joined}]")
    except orjson.JSONDecodeError:  # of one that begins with 0
        return None
    return plain_floats(numbers) if "." in joined else numbers


class Stride:
    """How far it is to the next place where a run is looked for: farther and farther while none is found."""

    def __init__(self, least: int, most: int) -> None:
        self._least, self._most = least, most
        self._now = least
        self._tries = 0

    def missed(self) -> int:
        """Bytes to go on."""
        self._tries += 1
        if self._tries > _TRIES and self._now < self._most:
            self._now *= 2
            self._tries = 0
        return self._now

    def found(self) -> None:
        """There may be more of them near."""
        self._now, self._tries = self._least, 0
