"""The outline of a long JSON document: it decodes as the document does, and is read in no time.

What a type has no place for counts no more than that it is there: the answer names the member, whatever is in it. So
before anything is made of a dense document, such lists and objects are emptied in its text. What is taken out is known
to be JSON: the outline is well-formed exactly if the document is.
"""

from __future__ import annotations

import re
from array import array
from contextlib import suppress
from itertools import accumulate
from operator import indexOf
from typing import Final, NoReturn

import orjson

from pilothouse.machinery import jsondeep, jsonexact, jsonpieces
from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Schema

_TEXT: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*"'
_VALUE: Final = rb'([\[{]|%b|[^\s\[\]{}",:]++)' % _TEXT
_ITEM: Final = re.compile(rb"[ \t\r\n]*+()%b" % _VALUE, re.DOTALL)
_MEMBER: Final = re.compile(rb"[ \t\r\n]*+(%b)[ \t\r\n]*+:[ \t\r\n]*+%b" % (_TEXT, _VALUE), re.DOTALL)
_AFTER: Final = re.compile(rb"[ \t\r\n]*+([,\]}])")
_OBJECT: Final = b"{"
_CLOSED: Final = {b"{": b"}", b"[": b"]"}

_SCALARS: Final = frozenset(
    (
        s.STRING, s.BOOL, s.INT32, s.INT64, s.FLOAT64, s.QUANTITY, s.INT_OR_STRING, s.TIME, s.MICRO_TIME, s.DURATION,
    )
)  # fmt: skip
_FITS: Final = {s.STRUCT: b"{", s.MAP: b"{", s.LIST: b"["}
_MOST_STEPS: Final = 1000  # members and items that are looked at
_DEEPEST: Final = 50  # levels of types in each other
_FEW: Final = 1000  # containers
_WORTH: Final = 64  # bytes that are emptied
_NEAR: Final = 4096  # bytes of what is known, and passed over

_NEXT: Final = 64  # bytes in which most containers end
_WINDOW: Final = 4096  # bytes
_OPENS: Final = b"\x01"
_CLOSES: Final = b"\xff"
_NO_STEP: Final = bytes((0,))
_PAIR: Final = _OPENS + _CLOSES
_PASSES: Final = 3
_SPACE: Final = b" \t\r\n"
_TORN: Final = (b"[]", b"{}", b",]", b",}", b":]", b":}", b"[,", b"{,", b"}:", b"]:")
# Behind a digit that is in no escape.
_EXPONENT: Final = re.compile(rb"[eE](?<=[0-9].)(?<!\\u..)(?<!\\u...)(?<!\\u....)[+-]?[0-9]{3,}")
_BLANK: Final = bytes(0x20 if byte in b"[]" else byte for byte in range(256))


def outline(schema: Schema, data: bytes, *, sound: bool, lists: bool = False) -> bytes:
    """A document that decodes as this one does; this one where there is nothing to empty. `sound`: it is JSON.

    `lists`: only members that are not known are emptied, and only if no object has a member in them: what has the
    wrong type is shown to the client, and so are repeated members, wherever they are.
    """
    walk = _Walk(data, sound, lists)
    found = _ITEM.match(data)
    try:
        if found is not None and found[2] == _OBJECT and schema.kind == s.STRUCT:
            walk.at = found.end()
            walk.container(schema, _OBJECT, 0)
    except _EnoughError:
        pass  # the rest stays as it is
    return walk.outlined()


class _EnoughError(Exception):
    """The rest of the document is left as it is: nothing is known about it, or it is not worth the time."""


def _enough() -> NoReturn:
    raise _EnoughError


class _Walk:
    def __init__(self, data: bytes, sound: bool, lists: bool) -> None:
        self.data = data
        self.sound = sound
        self.lists = lists
        self.at = 0
        self.left = _MOST_STEPS
        self.plain = jsonpieces.unquoted(data)
        self.cuts: list[tuple[int, int]] = []  # behind a bracket, and before the one that closes it

    def outlined(self) -> bytes:
        """What is left."""
        if not self.cuts:
            return self.data
        parts: list[bytes] = []
        at = 0
        for start, end in self.cuts:
            parts.append(self.data[at:start])
            at = end
        return b"".join((*parts, self.data[at:]))

    def container(self, schema: Schema, opening: bytes, level: int) -> None:
        """Goes through a container of a type that has a place for it, from behind the bracket that opens it."""
        element = _MEMBER if opening == _OBJECT else _ITEM
        fields = schema.properties if schema.kind == s.STRUCT else None
        if level == _DEEPEST:
            _enough()
        while True:
            found = element.match(self.data, self.at)
            if found is None:
                break
            self.left -= 1
            if not self.left:
                _enough()
            inner: Schema | None = schema.items if fields is None else None
            if fields is not None:
                field = fields.get(_name(found[1]))
                inner = None if field is None else field.schema
            self.at = found.end()
            if found[2] in _CLOSED:
                self._inside(inner, found[2], level)
            after = _AFTER.match(self.data, self.at)
            if after is None:
                _enough()
            self.at = after.end()
            if after[1] != b",":
                return
        after = _AFTER.match(self.data, self.at)
        if after is None or after[1] != _CLOSED[opening]:
            _enough()
        self.at = after.end()

    def _inside(self, schema: Schema | None, opening: bytes, level: int) -> None:
        """Goes over what a bracket opens."""
        if schema is None or (
            not self.lists and (schema.kind in _SCALARS or _FITS.get(schema.kind, opening) != opening)
        ):
            self._empty(level + 1)
        elif _FITS.get(schema.kind) == opening:
            self.container(schema, opening, level + 1)
        else:
            self.at = self._end(self.at + _NEAR, level + 1)

    def _empty(self, depth: int) -> None:
        """Takes out what is in a container."""
        start = self.at
        end = self._end(len(self.data), depth)
        if end - start >= _WORTH:
            text = self.data[start - 1 : end]
            if not self.lists or is_of_lists(text, 1):
                if not self.sound and not _is_json(text):
                    _enough()
                self.cuts.append((start, end - 1))
        self.at = end

    def _end(self, most: int, depth: int) -> int:
        """The place behind the container that has been opened, if that is no farther than about `most`.

        Where so many brackets are open that none of a window can be the one, they are only counted.
        """
        at, level, size = self.at, 1, _NEXT
        while at < most:
            end = at + size
            size = min(2 * size, _WINDOW)
            if self.plain.count(b'"', at, end) % 2:  # it shall not end in a text
                end = self.plain.find(b'"', end) + 1
                if not end:
                    break
            steps = jsonpieces.without_texts(self.plain[at:end]).translate(jsonpieces.STEPS)
            brackets = steps.translate(None, _NO_STEP)
            closed = brackets.count(_CLOSES)
            opened = len(brackets) - closed
            if level <= closed and level <= _at_most_closed(brackets):
                with suppress(ValueError):
                    return at + indexOf(accumulate(array("b", steps), initial=level), 0)
            if level + opened + depth > jsondeep.DEEPEST:
                if max(accumulate(array("b", brackets), initial=level)) + depth > jsondeep.DEEPEST:
                    break
            level += opened - closed
            at = end
        _enough()


def _at_most_closed(brackets: bytes) -> int:
    """How many containers that were open before may be closed by these brackets: no fewer than are."""
    for _ in range(_PASSES):
        brackets = brackets.replace(_PAIR, b"")
    return brackets.count(_CLOSES)


def _name(quoted: bytes) -> str:
    try:
        name: str = orjson.loads(quoted)
    except orjson.JSONDecodeError:
        _enough()
    return name


def _is_json(text: bytes) -> bool:
    """Whether a container surely is JSON, that is known to have as many brackets that close as those that open.

    What is in lists, and in nothing else, is well-formed if it is so in a row, when no list is empty and no bracket
    stands where it would tear a comma from what is beside it; so with objects.
    """
    flat = text.replace(b"{}", b'""').replace(b"[]", b'""')
    if b"\\u" in flat:
        flat = flat.replace(b"\\ud", b"\\u0").replace(b"\\uD", b"\\u0")  # a half of a pair is no fault
    if not flat.isascii():
        flat = flat.translate(jsonexact.PLAIN)  # nor is what is no UTF-8
    close = flat.translate(None, _SPACE)
    if any(pair in close for pair in _TORN):
        pass
    elif _OBJECT not in flat:
        flat = b"[%b]" % flat.translate(_BLANK)
    elif b"[" not in flat:
        flat = b"{%b}" % flat[1:].replace(b": {", b":0,").replace(b":{", b":0,").replace(b"}", b" ")
    if b"e" in flat or b"E" in flat:
        flat = _EXPONENT.sub(b"e0", flat)  # nor is a number that is too great
    try:
        jsonpieces.loads(flat)
    except orjson.JSONDecodeError as refused:
        return jsonexact.too_deep(refused) and jsondeep.is_sound(flat)
    return True


def is_of_lists(data: bytes, few: int = _FEW) -> bool:
    """Whether all containers in a document but a few are lists, those aside that are empty."""
    return data.count(b"{") - data.count(b"{}") < few
