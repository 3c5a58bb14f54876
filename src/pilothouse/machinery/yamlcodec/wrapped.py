"""Runs of simple items or members in flow style, `[a, b,` or `{a: b, c: d,`, of which some begin in another line.

So libraries write long lists and maps of scalars. Where a member is there twice, or the end is missing, only such runs
can be read together.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Final

from pilothouse.machinery.yamlcodec.cuts import LEAST, NAME, Items, Members, Read, Span, text_of, values_of
from pilothouse.machinery.yamlcodec.scalars import WORDS

# What a word may be made of, so that it means the same wherever it stands in flow style.
_WORD: Final = rb"[A-Za-z0-9_./+$(<=;^~\x80-\xff][A-Za-z0-9_./+$(<=;^~\x80-\xff&*!|>%@'\"\\)-]*+"
_SPACE: Final = rb"[ \n]*+"
_SIGNS: Final = str.maketrans(",:", "  ")


class Wrapped:
    """Words, or names with words, a comma before each."""

    def __init__(self, *, named: bool) -> None:
        one = rb",%b%b(?=,)" % (_SPACE, NAME + b": " + _WORD if named else _WORD)
        self._named = named
        self._begins = re.compile(rb"(?:%b){%d}" % (one, LEAST))
        self._ends = re.compile(rb",(?!%b)" % one[1:])

    def at(self, data: bytes, at: int, aliases: bool, read: Read) -> tuple[Span | None, int] | None:
        """The run that begins with the sign at `at`, and where to look on; None where none begins."""
        found = self._begins.match(data, at)
        if found is None or b"\n" not in found[0]:  # runs in one line are read faster elsewhere
            return None
        last = self._ends.search(data, at)
        behind = len(data) if last is None else last.start()
        start = data.index(b",", at + 1)
        end = data.rfind(b",", start, behind)
        text = text_of(data[start + 1 : end]) if end > start else None
        run = None if text is None else self._members(text) if self._named else self._items(text)
        if run is None:
            return None, behind
        broken = b"\n" if b"\n" in data[start:end] else b""
        after = b": 0%b" % broken if self._named else broken
        return Span(start, end, b", ", after, run), behind

    def _items(self, text: str) -> Items | None:
        values = values_of(text.replace(",", " ").split(), quoted=False)
        return None if values is None else Items(values)

    def _members(self, text: str) -> Members | None:
        words = text.translate(_SIGNS).split()
        names = words[::2]
        values = values_of(words[1::2], quoted=False)
        made = dict(zip(names, values, strict=True)) if values is not None else {}
        if not made or not made.keys().isdisjoint(WORDS):
            return None

        def lines() -> list[int]:
            return [*accumulate(member.count("\n") for member in text.split(","))]

        return Members(made, len(names), names.copy, lines)
