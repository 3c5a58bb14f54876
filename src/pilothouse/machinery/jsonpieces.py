"""Long dense JSON, read in pieces: one call of the fast parser would keep all other threads waiting for its end.

Windows of PIECE bytes are cut behind the last whole element that ends in them, and what is before the cut is parsed.
Where to cut is known from how many brackets are open at each byte, which a few calls find for a whole window. A
container that is longer than a window is put together here: its elements are cut in the same way.

A cut needs no proof: what is parsed between two of them must be whole elements, or the parser refuses it. So where
elements are alike, the cut is first guessed from how the last one ended.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, Final

import orjson

PIECE: Final = 64 << 10  # bytes
_PART: Final = 32 << 10
_BEGINNING: Final = 16 << 10  # bytes
_LONG: Final = 512 << 10  # bytes of a document from which on it is looked at
_TOO_LONG: Final = 40_000_000  # nanoseconds of the fast parser from which on a document is read in pieces
_COMMA: Final = 10  # nanoseconds that one takes, and what stands beside it
_QUOTE: Final = 60
_CONTAINER: Final = 150
_NO_SIGN: Final = bytes(byte for byte in range(256) if byte not in b',"[{')

_DEEPEST: Final = 1000  # levels; the fast parser goes little deeper
_SPACE: Final = b" \t\r\n"
_KEY: Final = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_ITEM: Final = re.compile(rb"[ \t\r\n]*+()([\[{])")
_MEMBER: Final = re.compile(rb"[ \t\r\n]*+(%b)[ \t\r\n]*+:[ \t\r\n]*+([\[{])" % _KEY, re.DOTALL)
AFTER: Final = re.compile(rb"[ \t\r\n]*+([,\]}])")  # what stands behind a container that was put together
_OBJECT: Final = b"{"
STEPS: Final = bytes(1 if byte in b"[{" else 255 if byte in b"]}" else 0 for byte in range(256))  # 255: -1
_MARKS: Final = b"[]{},"
_NO_MARKS: Final = bytes.maketrans(_MARKS, bytes(len(_MARKS)))
_ENDS: Final = (b"},", b"],", b'",')  # how an element that is no number ends
_ALIKE: Final = 16  # bytes
_MOST_WRONG: Final = 3  # guesses
_MOST_QUOTES: Final = 3  # around a name, and before a long text
_DEEP: Final = 8  # levels in a window from which on it is worth to know where each is found last


def is_heavy(data: bytes) -> bool:
    """Whether the fast parser would take long: an estimate from what there is to make."""
    if len(data) < _LONG:
        return False
    signs = data.translate(None, _NO_SIGN)
    if _CONTAINER * len(signs) <= _TOO_LONG:
        return False
    plain = unquoted(data)
    signs = signs if plain is data else plain.translate(None, _NO_SIGN)
    if _time_for(plain, signs) <= _TOO_LONG:
        return False
    if (_QUOTE + _COMMA // 4) * plain.count(b'"') > _TOO_LONG:  # whatever stands in the texts
        return True
    if b'"' not in signs.replace(b'""', b""):  # nothing in them looks like structure
        return True
    around = map(without_texts, behind_texts(plain))
    return sum(_time_for(part, part.translate(None, _NO_SIGN)) for part in around) > _TOO_LONG


def _time_for(data: bytes, signs: bytes) -> float:
    """Nanoseconds that it takes to read what has these signs in it."""
    opening = signs.translate(None, b'",')
    commas = len(signs.translate(None, b'[{"'))
    quotes = len(signs) - len(opening) - commas
    containers = len(opening) - data.count(b"{}") / 2  # an empty object is made in half the time of others
    return _QUOTE * quotes + _COMMA * commas + _CONTAINER * containers


def loads(data: bytes) -> Any:
    """The value, exactly as orjson reads it, in pieces where that is better. Raises orjson.JSONDecodeError."""
    if not is_heavy(data) or _fails_early(data):
        return orjson.loads(data)
    try:
        return Pieces(data).read()
    except Odd:
        return orjson.loads(data)  # or it says what is wrong


def _fails_early(data: bytes) -> bool:
    """Whether the fast parser would not come far, as with levels that are too many for it."""
    try:
        orjson.loads(data[:_BEGINNING])
    except orjson.JSONDecodeError as wrong:
        return wrong.pos < _BEGINNING // 2
    return False


class Odd(Exception):
    """This is no JSON, or none that is worth the trouble."""


def unquoted(data: bytes) -> bytes:
    """A document without quotes that begin or end no text; it is as long. Escapes stand in texts only."""
    return data.replace(b"\\\\", b"__").replace(b'\\"', b"__") if b"\\" in data else data


def behind_texts(data: bytes) -> Iterator[bytes]:
    """Such a document in pieces that end behind a text: what is made of one is gone before the next makes as much."""
    at = 0
    while len(data) - at > _PART:
        end = data.find(b'"', at + _PART) + 1
        if data.count(b'"', at, end) % 2:  # that one begins a text
            end = data.find(b'"', end) + 1
        if not end:
            break
        yield data[at:end]
        at = end
    yield data[at:]


def without_texts(part: bytes) -> bytes:
    """A part of such a document that begins outside of texts, with nothing that looks like structure in them."""
    if b'"' not in part:
        return part
    pieces = part.split(b'"')
    texts = b'"'.join(pieces[1::2])
    if len(texts.translate(None, _MARKS)) == len(texts):
        return part
    pieces[1::2] = texts.translate(_NO_MARKS).split(b'"')
    return b'"'.join(pieces)


class _Window:
    """How many brackets are open behind each byte of a part of the document that begins outside of texts."""

    def __init__(self, part: bytes) -> None:
        self._part = part = without_texts(part)
        steps = part.translate(STEPS)
        self._flat = steps.count(0) == len(steps)  # no brackets: then there are no levels
        self._levels = [] if self._flat else list(accumulate(array("b", steps)))
        self._back: list[int] | None = None  # the levels from the last byte to the first
        self._last: dict[int, int] | None = None  # where each level is found last

    def end_of(self, level: int, at: int) -> int:
        """The place of the bracket that ends a container whose elements have `level`; -1 if it is not here."""
        try:
            return self._levels.index(level - 1, at) if self._may_have(level - 1, at) else -1
        except ValueError:
            return -1

    def _may_have(self, level: int, at: int) -> bool:
        """Whether a level may be found from there on. Deep down many would be looked for in vain, and far each time."""
        if level < _DEEP:
            return True
        if self._last is None:
            self._last = dict(zip(self._levels, range(len(self._levels)), strict=True))
        return self._last.get(level, -1) >= at

    def last_comma(self, level: int, at: int) -> int:
        """The place of the last comma between elements that have `level`; -1 if there is none."""
        found = self._part.rfind(b",", at)
        if self._flat:
            return found
        if found >= 0 and not self._may_have(level, at):
            return -1
        while found >= 0 and self._levels[found] != level:  # it is within an element; where does that begin?
            if self._back is None:
                self._back = self._levels[::-1]
            last = len(self._levels) - 1
            try:
                found = last - self._back.index(level, last - found)
            except ValueError:
                return -1
            found = self._part.rfind(b",", at, found + 1)
        return found


class Pieces:
    """Puts the value together. How its pieces are parsed and put into objects may be changed."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.plain = unquoted(data)
        self.stack: list[Any] = []  # containers that are put together
        self.at = 0
        self.expected = False  # whether an element must come, behind a comma
        self.wrong = 0  # guesses where to cut that were none

    def read(self) -> Any:
        root = self._open(_ITEM, len(self.data))
        if root is None:
            raise Odd
        size = PIECE
        while self.stack:
            begin = self.at
            end = begin + size
            if not self._guess(end):
                self._read(_Window(self.plain[begin:end]), begin, end)
            if self.at == begin:
                if end >= len(self.data) or self.plain.count(b'"', begin, end) > _MOST_QUOTES:
                    raise Odd
                size *= 4  # a long text
            else:
                size = PIECE
        if self.data[self.at :].strip(_SPACE):
            raise Odd
        return root

    def _guess(self, end: int) -> bool:
        """Reads on up to where an element seems to end, if that is right. The last one tells what to look for."""
        if not self.expected or self.wrong == _MOST_WRONG:
            return False
        mark = self.plain[max(0, self.at - _ALIKE) : self.at]  # elements that are alike end alike
        found = self.plain.rfind(mark, self.at, end)
        if found < 0:
            mark = mark[-2:] if mark[-2:] in _ENDS else b","
            found = self.plain.rfind(mark, self.at, end)
        if found < 0:
            return False
        try:
            self._parse(self.stack[-1], found + len(mark) - 1)
        except orjson.JSONDecodeError:
            self.wrong += 1
            return False
        self._step()
        return True

    def _read(self, window: _Window, begin: int, end: int) -> None:
        """Reads on as far as there are whole elements."""
        level = 0
        while self.stack and self.at < end:
            top = self.stack[-1]
            close = window.end_of(level, self.at - begin)
            if close >= 0:
                self._parse(top, begin + close)
                self._close(top)
                level -= 1
                continue
            comma = window.last_comma(level, self.at - begin)
            if comma >= 0:
                self.expected = True  # nothing may stand before a comma but an element
                self._parse(top, begin + comma)
                self._step()
                if end - self.at < PIECE // 4:
                    return  # what begins here is read as a whole with what follows
            if self._open(_MEMBER if top.__class__ is dict else _ITEM, end) is None:
                return
            level += 1

    def _open(self, begins: re.Pattern[bytes], end: int) -> Any:
        """The container that begins here, or None."""
        found = begins.match(self.data, self.at, end)
        if found is None:
            return None
        if len(self.stack) == _DEEPEST:
            raise Odd
        made: Any = {} if found[2] == _OBJECT else []
        if self.stack:
            into = self.stack[-1]
            if into.__class__ is dict:
                self.put(into, orjson.loads(found[1]), made)
            else:
                into.append(made)
        self.stack.append(made)
        self.at = found.end()
        self.expected = False
        return made

    def _parse(self, into: Any, end: int) -> None:
        """Takes the elements up to `end` into their container."""
        if self.at < end:
            run = self.data[self.at : end]
            try:
                made = self.parsed(b"{%b}" % run if into.__class__ is dict else b"[%b]" % run)
            except orjson.JSONDecodeError as wrong:
                raise self._placed(wrong) from None
            if made:
                self.expected = False
                if into.__class__ is dict:
                    self.put_all(into, made)
                else:
                    into += made
        self.at = end

    def parsed(self, text: bytes) -> Any:
        """The value of elements in a container of their own."""
        return orjson.loads(text)

    def put(self, into: dict[str, Any], name: str, value: Any) -> None:
        into[name] = value

    def put_all(self, into: dict[str, Any], values: dict[str, Any]) -> None:
        into.update(values)

    def _placed(self, wrong: orjson.JSONDecodeError) -> orjson.JSONDecodeError:
        """What is wrong with elements that are parsed on their own, with its place in the document, in characters."""
        before = self.data[: self.at]
        count = len(before) if before.isascii() else len(before.decode("utf-8", "replace"))
        return orjson.JSONDecodeError(wrong.msg, "", count + max(0, wrong.pos - 1))

    def _step(self) -> None:
        """Over the comma behind an element."""
        if self.expected:
            raise Odd
        self.at += 1
        self.expected = True

    def _close(self, top: Any) -> None:
        """Over the bracket that ends a container, and what stands behind it."""
        if self.expected or self.data[self.at] != (0x7D if top.__class__ is dict else 0x5D):
            raise Odd
        self.stack.pop()
        self.at += 1
        if self.stack:
            after = AFTER.match(self.data, self.at)
            if after is None:
                raise Odd
            self.at = after.start(1)
            if after[1] == b",":
                self._step()
