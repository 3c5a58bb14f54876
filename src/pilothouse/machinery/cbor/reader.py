"""From CBOR to the JSON form of a value, by the rules the original sets its decoder.

Byte strings are texts; tags 21 to 23 turn them into base64 or hexadecimal text, other tags are looked through.
Refused are keys that are not text or come twice, numbers beyond int64, NaN and infinity, bignums, and simple values
but false, true and null. All is read once: what is refused is only told when the rest is known to be well-formed.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.cbor import model, numbers, runs
from pilothouse.machinery.cbor.heads import EOF, head
from pilothouse.machinery.cbor.model import MAX_DEPTH, REFUSED, TYPES, CBORError, CBORTooLong
from pilothouse.machinery.cbor.numbers import FORMS
from pilothouse.machinery.cbor.texts import ENCODED, settle, time_text
from pilothouse.machinery.decode.generate import most_items
from pilothouse.machinery.jsoncodec import plain_floats
from pilothouse.machinery.schema import Schema

_SIMPLE: Final = {20: False, 21: True, 22: None}
_OTHER: Final = object()
_ONE_BYTE: Final[dict[int, Any]] = {
    **{number: number for number in range(24)},
    **{0x20 + number: -1 - number for number in range(24)},
    0x40: "",
    0x60: "",
    **{model.SIMPLE << 5 | info: value for info, value in _SIMPLE.items()},
}
_TINY: Final = tuple(_ONE_BYTE.get(first, _OTHER) for first in range(256))
_SMALL: Final = bytes(first in _ONE_BYTE or first in runs.EMPTY for first in range(256))
# Strings whose length is in their first byte: how long they are with it, else 0. Bytes may have to be encoded later.
_SHORT: Final = bytes(
    (first & 31) + 1 if first >> 5 in (model.BYTES, model.TEXT) and first & 31 < 24 else 0 for first in range(256)
)
_SHORT_TEXT: Final = bytes(size if first >> 5 == model.TEXT else 0 for first, size in enumerate(_SHORT))
# How many items, or pairs, a container has whose count is in its first byte; -1 where their end is marked.
_COUNTS: Final = tuple(
    (-1 if first & 31 == model.INDEFINITE else first & 31)
    if first >> 5 in (model.ARRAY, model.MAP) and (first & 31 < 24 or first & 31 == model.INDEFINITE)
    else None
    for first in range(256)
)
_PIECE: Final = 1 << 16  # items that one call makes
_PATIENCE: Final = 1 << 12  # bytes until members are tried to be stepped over again
_WITHIN_SIGNS: Final = bytes(range(0x80, 0xC0))  # what in UTF-8 begins none
_TOO_DEEP: Final = f"cbor: exceeded max nested level {MAX_DEPTH}"
_REPEATED: Final = 'cbor: found duplicate map key "{}" at map element index {}'
_TAG: Final = object()  # steps to an item that are no names
_ITEM: Final = object()


def loads(data: bytes | memoryview, schema: Schema | None = None) -> Any:
    """The one item in `data`. `schema` is the type of a built-in object. Raises CBORError in the original's words."""
    return _Reader(bytes(data), schema).whole()


def loads_body(data: bytes, schema: Schema | None = None, room: int = sys.maxsize) -> Any:
    """The same with the numbers of JSON, and without the items of long lists where the type knows nothing.

    Raises CBORTooLong for more than `room` bytes of JSON, and for lists that would be longer than any object, as soon
    as that is sure.
    """
    reader = _Reader(data, schema, room)
    reader.body = True
    return reader.whole()


def loads_applied(data: bytes, schema: Schema | None = None, room: int = sys.maxsize) -> Any:
    """An applied configuration, the same way; but bytes are texts as others are, and lists may be long."""
    reader = _Reader(data, schema, room)
    reader.body = reader.applied = True
    return reader.whole()


def loads_sequence(data: bytes) -> list[Any]:
    """Each item of a CBOR sequence: the events of a watch."""
    items = []
    while data:
        reader = _Reader(data)
        reader.one()
        items.append(loads(data[: reader.at]))
        data = data[reader.at :]
    return items


class _Reader:
    """`at`: the place behind what was read last. `error`: the first thing that is refused. `path`: the steps to the
    item at hand: names, or why there is none. `named`: whether the names at the top are good. `raw`: whether a byte
    string was no UTF-8; its bytes are then in surrogates. `room`: bytes of JSON that may still come.

    In its methods, `depth` counts what an item is in: containers and tags. `left`: items of a container (or pairs) to
    come, below 0 where their end is marked. `later`: the tag (21 to 23) that says what byte strings are to become.
    """

    __slots__ = ("applied", "at", "body", "data", "error", "named", "path", "raw", "room", "schema", "text")

    def __init__(self, data: bytes, schema: Schema | None = None, room: int = sys.maxsize) -> None:
        self.data = data
        self.text = data.decode("latin-1")  # a sign for each byte
        self.schema = schema
        self.room = room
        self.at = 0
        self.body = self.applied = self.raw = False
        self.named = True
        self.error: CBORError | None = None
        self.path: list[Any] = [_TAG] * (MAX_DEPTH + 1)

    def whole(self) -> Any:
        """The only item. Raises CBORError, CBORTooLong."""
        data = self.data
        if not data:
            raise CBORError("EOF")
        value = self.one()
        error = self.error
        if error is None and self.at != len(data):
            error = CBORError(f"cbor: {len(data) - self.at} bytes of extraneous data starting at index {self.at}")
        if error is None and self.raw:
            try:
                return settle(value, None if self.applied else self.schema)
            except CBORError as refused:
                error = refused
        if error is None:
            return value
        error.readable = self.named and value.__class__ is dict and self.at == len(data)
        raise error

    def one(self) -> Any:
        """The next item. Raises CBORError, CBORTooLong."""
        try:
            value = self.item(0, 0, 0)
        except IndexError:
            raise CBORError(EOF) from None
        if self.at > len(self.data):
            raise CBORError(EOF)
        return value

    def refuse(self, why: str) -> None:
        """All of it: but first it must be known whether the rest is well-formed."""
        if self.error is None:
            self.error = CBORError(why)
            self.room = sys.maxsize

    def item(self, at: int, depth: int, later: int) -> Any:
        """Any item."""
        data = self.data
        first = data[at]
        count = _COUNTS[first]
        if count is not None:
            at += 1
        elif (first == 0x58 or first == 0x59) and not later:  # bytes, as long as most that are longer than short
            begin = at + first - 0x56
            self.at = at = begin + (data[at + 1] if first == 0x58 else data[at + 1] << 8 | data[at + 2])
            shown = self.text[begin:at]
            return shown if shown.isascii() else self._byte_text(data[begin:at], 0)
        elif first in FORMS:
            value = self._number(first, at)
            return plain_floats(value) if self.body and value.__class__ is float else value
        elif first >> 5 == model.TAG:
            return self._tagged(at, depth, later)
        else:
            major, argument, at = head(data, at)
            if major not in (model.ARRAY, model.MAP):
                return self._scalar(major, argument, at, later)
            count = argument
        if depth >= MAX_DEPTH:
            raise CBORError(_TOO_DEEP)
        if not count:
            self.at = at
            return {} if first & 0x20 else []
        if count > len(data) - at:  # whatever comes
            self.refuse(EOF)
            count = len(data)
        return (self._map if first & 0x20 else self._list)(at, count, depth + 1, later)

    def _map(self, at: int, left: int, depth: int, later: int) -> dict[str, Any]:
        data, text, path, tiny, short = self.data, self.text, self.path, _TINY, _SHORT
        short_value = _SHORT_TEXT if later else short
        made: dict[str, Any] = {}
        while left:
            start = at
            first = data[at]
            size = short[first]
            if size:
                at += size
                key = text[start + 1 : at]
                if not key.isascii():
                    key = self._key(start, depth)
            elif left < 0 and first == model.BREAK:
                at += 1
                break
            else:
                key, at = self._key(at, depth), self.at
            if key in made:
                self._refuse_name(_REPEATED.format(key, len(made)), depth)
                return self._unmade(start, left, depth)
            left -= 1
            first = data[at]
            size = short_value[first]
            value = tiny[first]
            if value is not _OTHER:
                at += 1
            elif size:
                begin = at + 1
                at += size
                value = text[begin:at]
                if not value.isascii():
                    value = self._beyond_ascii(first, value)
            elif first == 0xA0 and depth < MAX_DEPTH:
                value = {}
                at += 1
            else:
                path[depth] = key
                value = self.item(at, depth, later)
                at = self.at
            made[key] = value
        self.at = at
        self.room -= 4 * len(made) + 1  # all but what is longer than one byte in its items
        if self.room < 0:
            raise CBORTooLong
        return made

    def _list(self, at: int, left: int, depth: int, later: int) -> list[Any]:
        data, text, tiny, small = self.data, self.text, _TINY, _SMALL
        short = _SHORT_TEXT if later else _SHORT
        made: list[Any] = []
        self.path[depth] = _ITEM
        while left:
            first = data[at]
            size = short[first]
            if small[first]:
                if left != 1 and small[data[at + 1]]:
                    at, left = self._run(made, at, left, depth)
                    continue
                value = tiny[first] if first not in runs.EMPTY else self.item(at, depth, later)
                at += 1
            elif size:
                begin = at + 1
                at += size
                value = text[begin:at]
                if not value.isascii():
                    value = self._beyond_ascii(first, value)
            elif left < 0 and first == model.BREAK:
                at += 1
                break
            elif first in FORMS and (alike := numbers.many(data, at, left, plain=self.body)):
                made += alike
                at += len(alike) * FORMS[first].size
                left -= len(alike)
                if left and len(alike) >= runs.MANY:
                    at, left = self._many(len(made), at, left, depth)
                continue
            else:
                value = self.item(at, depth, later)
                at = self.at
            made.append(value)
            left -= 1
            if left and not left % runs.MANY:
                at, left = self._many(len(made), at, left, depth)
        self.at = at
        self.room -= len(made) + 1
        if self.room < 0:
            raise CBORTooLong
        return made

    def _run(self, into: list[Any], at: int, left: int, depth: int) -> tuple[int, int]:
        """Takes items of one byte into a list. The place behind them, and how many are left."""
        data = self.data
        found = runs.ONE_BYTE.match(data, at, min(at + left, len(data)) if left > 0 else len(data))
        run = found[0] if found is not None else b""
        behind = at + len(run), left - len(run)
        empty = len(run) - len(run.translate(None, runs.EMPTY))
        if depth >= MAX_DEPTH and empty:
            raise CBORError(_TOO_DEEP)
        if len(run) >= runs.MANY:
            most = self._most(depth)
            if not most:
                return behind
            if len(into) + len(run) > most:
                raise CBORTooLong
        if 2 * len(run) + empty >= self.room:  # with commas and brackets
            raise CBORTooLong
        self.room -= empty
        for start in range(0, len(run), _PIECE):
            piece = run[start : start + _PIECE]
            if empty:
                into += [[] if byte == 0x80 else {} if byte == 0xA0 else _TINY[byte] for byte in piece]
            else:
                into += map(_TINY.__getitem__, piece)
        return behind

    def _many(self, made: int, at: int, left: int, depth: int) -> tuple[int, int]:
        """Looks at a list of which many items were `made`, or come. Where its items go on, and how many are left: those
        that nobody wants are stepped over, as far as they are simple. Raises CBORTooLong.
        """
        most = self._most(depth)
        if made > most > 0:
            raise CBORTooLong
        if most == sys.maxsize or (most and made > runs.MANY):
            return at, left
        pattern = runs.plain_items(MAX_DEPTH - depth)
        ahead, behind = at, left
        while behind < 0 or behind > runs.MANY:
            found = pattern.match(self.data, ahead)
            if found is None:
                break
            ahead, behind = found.end(), behind - runs.MANY
            if made + left - behind > most > 0:  # already
                raise CBORTooLong
        return (at, left) if most else (ahead, behind)

    def _most(self, depth: int) -> int:
        """How many items of a list are wanted: none if its type has no place for it, or all is refused."""
        if self.error is not None:
            return 0
        schema = self.schema if self.body else None
        if schema is None:
            return sys.maxsize
        for step in self.path[1:depth]:
            if step is _TAG:
                continue
            if schema.kind == (s.LIST if step is _ITEM else s.MAP):
                schema = schema.items
            elif schema.kind == s.STRUCT and step is not _ITEM:
                field = schema.properties.get(step)
                if field is None:
                    return 0
                schema = field.schema
            else:
                return sys.maxsize
        if self.applied or schema.kind != s.LIST or schema.items.kind != s.STRUCT or self.path[depth - 1] == "items":
            return sys.maxsize
        return most_items(schema.items)  # the items of a list of objects may be more

    def _key(self, at: int, depth: int) -> str:
        """The name of a member, whatever it is."""
        major = self.data[at] >> 5
        if major == model.BYTES or major == model.TEXT:
            raw = self._string(major, *head(self.data, at)[1:])
            if major == model.BYTES:
                return self._byte_text(raw, 0)
            try:
                return raw.decode()
            except UnicodeDecodeError:
                self._refuse_name("cbor: invalid UTF-8 string", depth)
                return ""
        self._refuse_name(f"cbor: cannot unmarshal {TYPES[major]} into Go value of type string", depth)
        self.item(at, depth, 0)
        return ""

    def _unmade(self, at: int, left: int, depth: int) -> dict[str, Any]:
        """Steps over members of an object that is refused: nothing is made of them."""
        data = self.data
        patience = at  # the place from where on it is worth to look for many
        while left:
            if left < 0 and data[at] == model.BREAK:
                at += 1
                break
            if at >= patience and not 0 < left < runs.MANY:
                found = runs.PLAIN_MEMBERS.match(data, at)
                if found is not None:
                    at, left = found.end(), left - runs.MANY
                    continue
                patience = at + _PATIENCE
            self._key(at, depth)
            self.item(self.at, depth, 0)
            at, left = self.at, left - 1
        self.at = at
        return {}

    def _refuse_name(self, why: str, depth: int) -> None:
        """A name of an object whose members are at `depth`."""
        self.refuse(why)
        self.named = self.named and any(step is not _TAG for step in self.path[1:depth])

    def _tagged(self, at: int, depth: int, later: int) -> Any:
        data = self.data
        timed = False
        while data[at] >> 5 == model.TAG:
            _, tag, at = head(data, at)
            if depth >= MAX_DEPTH:
                raise CBORError(_TOO_DEEP)
            depth += 1
            self.path[depth] = _TAG
            if tag in model.BIGNUMS:
                self.refuse(REFUSED.format("tag", "bignum"))
            elif tag in ENCODED:
                later = tag
            timed = timed or tag == model.TIME_NUMBER
        first = data[at]
        if not timed:
            return self.item(at, depth, later)
        value = self._number(first, at) if first in FORMS else self.item(at, depth, later)
        if value.__class__ is not int and value.__class__ is not float:
            return value
        try:
            return time_text(value)
        except OverflowError:
            self.refuse(f"cbor: time {value} is out of range")
            return ""

    def _number(self, first: int, at: int) -> int | float:
        """A number that does not fit its head."""
        self.at = at + FORMS[first].size
        try:
            return numbers.one(self.data, at)
        except numbers.Refused as refused:
            self.refuse(str(refused))
            return 0

    def _scalar(self, major: int, argument: int, at: int, later: int) -> Any:
        """What is neither a container nor a number that does not fit its head, and no tag."""
        if major == model.BYTES:
            return self._byte_text(self._string(major, argument, at), later)
        if major == model.TEXT:
            return self._utf8(self._string(major, argument, at))
        self.at = at
        if major == model.SIMPLE:
            if argument not in _SIMPLE:
                self.refuse(REFUSED.format("primitives", f"simple value {argument} is not recognized"))
            return _SIMPLE.get(argument)
        return argument if major == model.UNSIGNED else -1 - argument

    def _string(self, major: int, size: int, at: int) -> bytes:
        data = self.data
        if size >= 0:
            self.at = at + size
            if self.at > len(data):
                raise CBORError(EOF)
            return data[at : self.at]
        chunks = []
        short = major << 5
        while (first := data[at]) != model.BREAK:
            start = at
            if short <= first < short + 24:
                at += first - short + 1
                start += 1
                run = runs.pieces(first).match(data, start - 1) if data[at] == first else None
                if run is not None:
                    at = run.end()
                    chunks.append(self._joined(major, run[0], first - short))
                    continue
            else:
                found, size, start = head(data, at)
                if found != major or size < 0:
                    raise CBORError(f"cbor: wrong element type {TYPES[found]} for indefinite-length {TYPES[major]}")
                at = start + size
            if at > len(data):
                raise CBORError(EOF)
            chunks.append(data[start:at])
            if major == model.TEXT:
                self._utf8(chunks[-1])
        self.at = at + 1
        return b"".join(chunks)

    def _joined(self, major: int, pieces: bytes, size: int) -> bytes:
        """Pieces of a string, each of `size`, without their heads."""
        joined = bytearray(pieces)
        del joined[:: size + 1]
        if major == model.TEXT and size:
            firsts = pieces[1 :: size + 1]
            whole = firsts.translate(None, _WITHIN_SIGNS) == firsts  # no sign is in two pieces
            self._utf8(bytes(joined) if whole else _WITHIN_SIGNS)
        return bytes(joined)

    def _beyond_ascii(self, first: int, shown: str) -> str:
        """A short string, `shown` with a sign for each byte."""
        raw = shown.encode("latin-1")
        return self._byte_text(raw, 0) if first < 0x60 else self._utf8(raw)

    def _utf8(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.refuse("cbor: invalid UTF-8 string")
            return ""

    def _byte_text(self, raw: bytes, later: int) -> str:
        if later:
            return ENCODED[later](raw).decode()
        if self.raw:
            return raw.decode("utf-8", "surrogateescape")
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.raw = True
            return raw.decode("utf-8", "surrogateescape")
