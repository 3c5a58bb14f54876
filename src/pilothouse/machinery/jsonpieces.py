"""Long dense JSON, read in pieces: one call of the fast parser would keep all other threads waiting for its end.

A scan over brackets and commas finds runs of whole elements of about PIECE bytes, each of which is parsed by itself.
Containers that are longer than a piece are put together here, all others are part of some run. Between pieces, and
within the scan, other threads have their turns.
"""

from __future__ import annotations

import re
from typing import Any, Final

import orjson

PIECE: Final = 64 << 10  # bytes
_LONG: Final = 512 << 10  # bytes of a document from which on it is looked at
_TOO_LONG: Final = 40_000_000  # nanoseconds of the fast parser from which on a document is read in pieces

_TEXT: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_SMALL: Final = rb'[\[{](?:[^"\[\]{}]{1,256}+|%b){0,16}+[\]}]' % _TEXT  # a container without others in it
_ELEMENT: Final = rb'(?:[^"\[\]{},]++|%b|%b)*+' % (_TEXT, _SMALL)
# Some elements with their commas, the last element as far as it is simple, and the bracket or comma that ends it.
_NEXT: Final = re.compile(rb"(?:%b,){0,256}+(%b)[\[\]{},]" % (_ELEMENT, _ELEMENT), re.DOTALL)
_AFTER: Final = re.compile(rb"([ \t\r\n]*+)[\]},]")  # what stands behind a container that was put together
_COMMA: Final = 0x2C
_OPENS: Final = {0x5B: 0x5D, 0x7B: 0x7D}  # brackets and what closes them
_OBJECT: Final = 0x7D
_DEEPEST: Final = 1000  # levels; the fast parser goes little deeper
_SPACE: Final = b" \t\r\n"


def is_heavy(data: bytes) -> bool:
    """Whether the fast parser would take long: an estimate from what there is to make."""
    if len(data) < _LONG:
        return False
    containers = data.count(b"[") + data.count(b"{")
    return 25 * data.count(b",") + 100 * containers + 85 * data.count(b'"') > _TOO_LONG


def loads(data: bytes) -> Any:
    """The value, exactly as orjson reads it, in pieces where that is better. Raises orjson.JSONDecodeError."""
    if not is_heavy(data):
        return orjson.loads(data)
    try:
        return _Pieces(data).read()
    except (orjson.JSONDecodeError, _Odd):
        return orjson.loads(data)  # or it says what is wrong


class _Odd(Exception):
    """The scan met what no JSON is."""


class _Open:
    """A container that is being read. Its elements from `start` on are not parsed yet; the last begins at `last`."""

    __slots__ = ("closing", "joined", "last", "made", "opened", "start")

    def __init__(self, closing: int, opened: int) -> None:
        self.closing = closing
        self.opened = opened
        self.start = self.last = opened + 1
        self.made: Any = None  # once some of it is parsed
        self.joined = False  # whether the last element was put together, and no comma came yet


class _Pieces:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.stack: list[_Open] = []

    def read(self) -> Any:
        data, stack = self.data, self.stack
        top: _Open | None = None
        end = 0
        # Each match begins where the last one ended: a search could look at the same text again and again.
        while found := (_AFTER if top is not None and top.joined else _NEXT).match(data, end):
            begin, last, end = end, found.start(1), found.end()
            sign = data[end - 1]
            if top is not None and not top.joined and last > begin:
                self._comma(top, last)
            if sign in _OPENS:
                if len(stack) == _DEEPEST or (top is None and data[: end - 1].strip(_SPACE)):
                    raise _Odd
                top = _Open(_OPENS[sign], end - 1)
                stack.append(top)
            elif top is None:
                raise _Odd
            elif sign == _COMMA:
                self._comma(top, end)
            else:
                if sign != top.closing:
                    raise _Odd
                if top.made is not None:
                    self._flush(end - 1)
                done = stack.pop()
                top = stack[-1] if stack else None
                if top is None:
                    return self._whole(done, end)
                if done.made is not None:
                    self._join(top, done, end)
        raise _Odd

    def _comma(self, top: _Open, end: int) -> None:
        """A comma before `end`, in the innermost container."""
        if top.joined or end - top.start > PIECE:
            self._flush(end - 1)
            top.start = end
        top.last = end

    def _whole(self, done: _Open, end: int) -> Any:
        if done.made is None:
            return orjson.loads(self.data)
        if self.data[end:].strip(_SPACE):
            raise _Odd
        return done.made

    def _flush(self, end: int) -> None:
        """Parses the elements of the innermost container up to `end`, and what stands before it in those around it."""
        inner = self.stack[-1]
        if inner.made is None:  # else those around it are so far already
            for one in self.stack[:-1]:
                if one.joined:
                    raise _Odd
                if one.last > one.start:
                    self._parse(one, one.last - 1)
                    one.start = one.last
                elif one.made is None:
                    one.made = {} if one.closing == _OBJECT else []
        if not inner.joined:
            self._parse(inner, end)
        elif self.data[inner.start : end].strip(_SPACE):
            raise _Odd
        inner.joined = False

    def _parse(self, into: _Open, end: int) -> None:
        run = self.data[into.start : end]
        made = orjson.loads(b"{%b}" % run if into.closing == _OBJECT else b"[%b]" % run)
        if not made:
            raise _Odd
        if into.made is None:
            into.made = made
        elif into.closing == _OBJECT:
            into.made.update(made)
        else:
            into.made += made

    def _join(self, into: _Open, done: _Open, end: int) -> None:
        """Puts a container that was put together into the one around it."""
        before = self.data[into.start : done.opened]
        if into.closing == _OBJECT:
            (key,) = orjson.loads(b"{%b0}" % before)
            into.made[key] = done.made
        elif before.strip(_SPACE):
            raise _Odd
        else:
            into.made.append(done.made)
        into.start, into.joined = end, True
