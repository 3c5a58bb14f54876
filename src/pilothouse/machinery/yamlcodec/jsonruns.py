"""Documents that are JSON but for some odd places: a word without quotes, a comment, a member that is there twice.

The JSON parser tells where it stops. The elements before that are whole and mean in YAML what they mean in JSON, so
they are cut out as runs, on each level. Behind the odd place the parser is tried again from one of the next commas on.
What is left is short.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import orjson

from pilothouse.machinery import jsonpieces
from pilothouse.machinery.digits import has_digits
from pilothouse.machinery.jsoncodec import surely_unique
from pilothouse.machinery.jsonfault import sign_before
from pilothouse.machinery.yamlcodec.cuts import Items, Members, Shortened, Span, text_of
from pilothouse.machinery.yamlcodec.flows import NO_BRACKETS, place_of
from pilothouse.machinery.yamlcodec.jsonvalue import ordered

_FAR: Final = 1_025  # characters from a name to its colon that are too many
_LONG: Final = 4 * _FAR  # bytes of a run
_LEAST: Final = 8 << 10  # bytes of a window
_LARGEST: Final = 64 << 10
_NEAR_END: Final = 16  # bytes of a window at whose end the parser stops only because it is the end
_MOST_TRIES: Final = 64  # odd places
_MOST_WRONG: Final = 8  # guesses
_LINE: Final = 60  # bytes
_ENDING: Final = 4
_DEEPEST: Final = 64  # levels
_SPACES: Final = b" \t\r\n"
_CLOSING: Final = {b"{": b"}", b"[": b"]"}
_BEGUN: Final = {"{": "{0: ", "[": "[0,"}  # before an element
_BACK: Final = bytes(255 if byte in b"]}" else 1 if byte in b"[{" else 0 for byte in range(256))  # 255: -1
_BEYOND: Final = 18  # digits of a number that may be none of int64
_HUGE: Final = re.compile(rb"[\[:, \t\n]-?[0-9]{19}")
_MEMBER: Final = re.compile(rb'[ \t\n]*+"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"[ \t]*+:')
# What YAML takes otherwise: halves of pairs. And escaped colons, for which members that are there twice are not seen.
_OTHER: Final = (b"\\ud", b"\\uD", b"\\u003a", b"\\u003A")
_SHORT_NAME: Final = 250  # bytes: a fourth of what is too long
_LONG_NAME: Final = re.compile(rb'"[^"\n]{250,}"[ \t]*+:|"[ \t]{250}')


@dataclass(frozen=True, slots=True)
class Elements:
    """Whole elements that follow one another: where, and the bracket in which they are."""

    start: int
    end: int
    bracket: bytes

    def text(self, data: bytes) -> bytes:
        """A document of their own."""
        return b"%b%b%b" % (self.bracket, data[self.start : self.end], _CLOSING[self.bracket])

    def span(self, run: Items | Members) -> Span:
        """Where they are cut out.

        A break is behind the mark: the parser takes what is before it, which is far away in the whole document, for no
        name of what is behind it. So it looks no farther ahead, and finds faults in the same order.
        """
        return Span(self.start, self.end, b"", b": 0\n" if self.bracket == b"{" else b"\n", run)


def same_in_yaml(data: bytes) -> bool:
    """Whether all of a text that is JSON surely means the same in YAML."""
    if text_of(data) is None or b"\r" in data or (b"\\" in data and any(other in data for other in _OTHER)):
        return False
    if b"\n" in data and b"\n:" in data.translate(None, b" \t"):
        return False
    plain = jsonpieces.unquoted(data)
    if any(plain.find(b'"', at, at + _SHORT_NAME) < 0 for at in range(0, len(plain), _SHORT_NAME)):
        return not _LONG_NAME.search(plain)
    return True


def stop_of(data: bytes, wrong: orjson.JSONDecodeError) -> int:
    """The byte at which the parser stopped."""
    if data.isascii():
        return wrong.pos
    return len(data[: 4 * wrong.pos].decode("utf-8", "ignore")[: wrong.pos].encode())


def shortly_before(data: bytes, stop: int) -> Shortened | None:
    """A document that is JSON up to `stop`, with no more before that place than YAML's parser looks at."""
    text = data.decode("latin-1")
    found = sign_before(text, max(stop - _LONG, 0))
    if found is None or len(found[1]) > _DEEPEST:
        return None
    place, around = found
    if not place:
        return Shortened.of(data, {})
    opened = "".join(_BEGUN[bracket] for bracket in around)
    if text[place] == ",":
        opened = opened.removesuffix(",") + ("0" if around[-1] == "{" else "")
    # No name goes on behind a break.
    return Shortened(b"%b\n%b" % (opened.encode(), data[place:]), {}, [0], [0, data.count(b"\n", 0, place) - 1])


def _before(data: bytes, stop: int, start: int = 0, bracket: bytes = b"") -> tuple[list[Elements], int]:
    """The long runs of elements before a place up to which a document is JSON, one for each level at most; and the
    last comma or bracket that opens before that place.

    `bracket`: of elements that begin at `start`, behind a comma.
    """
    shift = start - len(bracket)
    bare = jsonpieces.without_texts(jsonpieces.unquoted(bracket + data[start:stop]))
    place = max(map(bare.rfind, (b",", b"[", b"{")))
    found: list[Elements] = []
    opened = _opened(bare[: place + 1])
    for at, inner in zip(opened, [*opened[1:], None][: len(opened)], strict=True):
        end = place if inner is None else bare.rfind(b",", at, inner)
        if end - at > _LONG:
            found.append(Elements(shift + at + 1, shift + end, bare[at : at + 1]))
    return found, shift + place


def _opened(bare: bytes) -> list[int]:
    """The places of the brackets that are open at the end of a text; none if they are very many."""
    brackets = bare.translate(None, NO_BRACKETS)
    levels = list(accumulate(array("b", brackets[::-1].translate(_BACK))))
    behind: list[int] = []
    while len(behind) <= _DEEPEST:
        try:
            behind.append(levels.index(len(behind) + 1, behind[-1] + 1 if behind else 0))
        except ValueError:
            return [place_of(bare, len(brackets) - 1 - at, NO_BRACKETS) for at in reversed(behind)]
    return []


def difference(text: bytes, written: bytes) -> int:
    """The first place where a document is not what was written again of it: near a member that comes twice, if it has
    one.
    """
    bare, written = text.translate(None, _SPACES), written.translate(None, _SPACES)
    low, high = 0, min(len(bare), len(written))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if bare[low:middle] == written[low:middle] else (low, middle - 1)
    return place_of(text, min(low, len(bare) - 1), _SPACES)


def json_spans(data: bytes) -> list[Span]:
    """The runs of a long document for which `same_in_yaml` holds; none where there are too many odd places."""
    runs = _Runs(data)
    try:
        spans = list(runs.spans())
    except TypeError:  # too many levels
        return []
    return spans if runs.left else []


class _Runs:
    """Looks for the runs of one document, a window at a time."""

    def __init__(self, data: bytes) -> None:
        self.left = _MOST_TRIES  # odd places that may still come
        self._data = data
        self._mark = b","  # how the last element ended that was followed by another one of the same list or object
        self._wrong = 0  # guesses where elements end that were none
        self._size = _LARGEST  # of a window: after an odd place they are small again

    def spans(self) -> Iterator[Span]:
        """From the beginning to the end."""
        data, start, bracket = self._data, 0, b""
        while self.left:
            spans, at = self._next(start, bracket)
            yield from spans
            comma = data.find(b",", at)
            if comma < 0:
                break
            start = comma + 1
            bracket = b"{" if _MEMBER.match(data, start) else b"["

    def _next(self, start: int, bracket: bytes) -> tuple[list[Span], int]:
        """The runs from `start` on, and where to look on: at a comma if an element begins behind it."""
        data = self._data
        end = start + self._size
        guess = data.rfind(self._mark, start, end) + len(self._mark) - 1
        if bracket and guess - start > self._size // 2 and self._wrong < _MOST_WRONG:
            try:
                found = self._span(Elements(start, guess, bracket))
            except orjson.JSONDecodeError:
                self._wrong += 1
            else:
                self._size = min(2 * self._size, _LARGEST)
                return ([found], guess) if isinstance(found, Span) else self._until(start, bracket, found)
        stop = self._stop(start, bracket, end)
        closing = len(data[start:stop].rstrip(_SPACES)) + start - 1
        if bracket and data[closing : closing + 1] == _CLOSING[bracket]:
            return self._closed(Elements(start, closing, bracket), stop)
        return self._until(start, bracket, stop, odd=stop < end - _NEAR_END or end >= len(data))

    def _stop(self, start: int, bracket: bytes, end: int) -> int:
        """Where the parser stops that reads elements from `start` on, up to `end`."""
        text = bracket + self._data[start:end]
        if not text.isascii():
            text = text.decode("utf-8", "ignore").encode()  # a sign may be cut in two
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError as wrong:
            return start - len(bracket) + stop_of(text, wrong)
        return end

    def _closed(self, run: Elements, stop: int) -> tuple[list[Span], int]:
        """The same of elements up to the end of their list or object."""
        if run.end - run.start < _LONG:
            return [], run.end
        try:
            found = self._span(run)
        except orjson.JSONDecodeError:
            return self._until(run.start, run.bracket, stop)
        return ([found], run.end) if isinstance(found, Span) else self._until(run.start, run.bracket, found)

    def _until(self, start: int, bracket: bytes, stop: int, *, odd: bool = True) -> tuple[list[Span], int]:
        """The same up to a place; `odd`: where it is no JSON any more, or has a member twice."""
        spans: list[Span] = []
        runs, place = _before(self._data, stop, start, bracket)
        for run in runs:
            found = self._span(run)
            if not isinstance(found, Span):
                return self._until(start, bracket, found)
            spans.append(found)
            if not odd and run.end - start > self._size // 2:
                self._size = min(2 * self._size, _LARGEST)
                line = self._data.rfind(b"\n", run.end - _LINE, run.end)
                self._mark = self._data[line if line >= 0 else run.end - _ENDING : run.end + 1]
                return spans, run.end
        if odd:
            self.left -= 1
            self._size = _LEAST
            return spans, stop + 1
        if spans or place > start:
            self._size = min(2 * self._size, _LARGEST)
            return spans, max(place, start)
        self._size *= 4  # a long text
        return [], max(start - 1, 0)

    def _span(self, run: Elements) -> Span | int:
        """A run that is cut out; or where it is no run: an object has a member twice, or a number is too great."""
        text = run.text(self._data)
        value = jsonpieces.loads(text)
        written = orjson.dumps(value)
        if not surely_unique(text, value, written):
            return run.start + difference(text, written) - 1
        if has_digits(written, _BEYOND) and (huge := _HUGE.search(text)):
            return run.start + huge.end() - 1
        value = ordered(value, written)
        if value.__class__ is list:
            return run.span(Items(value))
        # Right behind its brace a mark needs no member before it.
        alone = self._data[run.start - 1 : run.start] == b"{"
        return run.span(Members(value, len(value), list, None, alone=alone))
