"""From CBOR to the JSON form of a value, by the rules the original sets its decoder.

Byte strings are texts; tags 21 to 23 turn them into base64 or hexadecimal text, other tags are looked through.
Refused are keys that are not text or come twice, numbers beyond int64, NaN and infinity, bignums, and simple values
but false, true and null. All is read once: what is refused is only told when the rest is known to be well-formed.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from pilothouse.machinery.cbor import firsts, model, numbers, runs
from pilothouse.machinery.cbor.firsts import COUNTS, LONGER, OTHER, SHORT, SHORT_COUNTS, SHORT_TEXT, SMALL, TINY
from pilothouse.machinery.cbor.heads import EOF, head
from pilothouse.machinery.cbor.many import FEW, LEAST, Many
from pilothouse.machinery.cbor.model import MAX_DEPTH, REFUSED, TOO_DEEP, TYPES, CBORError, CBORTooLong
from pilothouse.machinery.cbor.numbers import FORMS
from pilothouse.machinery.cbor.places import ITEM, TAG
from pilothouse.machinery.cbor.texts import BAD, ENCODED, only_base64, settle, time_text
from pilothouse.machinery.jsoncodec import plain_floats
from pilothouse.machinery.schema import Schema

_REPEATED: Final = 'cbor: found duplicate map key "{}" at map element index {}'


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


class _Reader(Many):
    __slots__ = ()

    def whole(self) -> Any:
        """The only item. Raises CBORError, CBORTooLong."""
        data = self.data
        if not data:
            raise CBORError("EOF")
        value = self.one()
        error = self.error
        if error is None and self.at != len(data):
            error = CBORError(f"cbor: {len(data) - self.at} bytes of extraneous data starting at index {self.at}")
        if error is None and (self.raw or self.shown):
            schema = None if self.applied else self.schema
            try:
                return settle(value, schema) if self.raw else only_base64(value, schema)
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

    def item(self, at: int, depth: int, later: int) -> Any:
        """Any item."""
        data = self.data
        first = data[at]
        count = COUNTS[first]
        if count is not None:
            at += 1
        elif (extra := LONGER[first]) and not later:
            begin = at + 1 + extra
            self.at = at = begin + (data[at + 1] if extra == 1 else data[at + 1] << 8 | data[at + 2])
            latin = self.text[begin:at]
            return latin if latin.isascii() else self._beyond_ascii(first, latin, self.path[depth], depth)
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
            raise CBORError(TOO_DEEP)
        if not count:
            self.at = at
            return {} if first & 0x20 else []
        if count > len(data) - at:  # whatever comes
            self.refuse(EOF)
            count = len(data)
        return (self._map if first & 0x20 else self._list)(at, count, depth + 1, later)

    def _map(self, at: int, left: int, depth: int, later: int) -> dict[str, Any]:
        data, text, path, tiny, short, longer = self.data, self.text, self.path, TINY, SHORT, LONGER
        short_value = SHORT_TEXT if later else short
        made: dict[str, Any] = {}
        value: Any
        while left:
            mark = 0
            if not 0 < left < LEAST:
                at, left, mark = self._wide(made, at, left, depth, later)
            while left != mark:
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
                    left = 0
                    break
                else:
                    key, at = self._key(at, depth), self.at
                if key in made:
                    self._refuse_name(_REPEATED.format(key, len(made)), depth)
                    return self._unmade(start, left, depth)
                left -= 1
                first = data[at]
                size = short_value[first]
                if size:
                    begin = at + 1
                    at += size
                    value = text[begin:at]
                    if not value.isascii():
                        value = self._beyond_ascii(first, value, key, depth)
                elif (value := tiny[first]) is not OTHER:
                    at += 1
                elif first == 0xA0 and depth < MAX_DEPTH:
                    value = {}
                    at += 1
                elif longer[first] == 1 and not later:
                    begin = at + 2
                    at = begin + data[at + 1]
                    value = text[begin:at]
                    if not value.isascii():
                        value = self._beyond_ascii(first, value, key, depth)
                else:
                    path[depth] = key
                    if depth < MAX_DEPTH and (count := SHORT_COUNTS[first]):
                        value = (self._map if first & 0x20 else self._list)(at + 1, count, depth + 1, later)
                    else:
                        value = self.item(at, depth, later)
                    at = self.at
                    if self.error is not None and left and self._is_unmade(depth):
                        return self._unmade(at, left, depth)
                made[key] = value
        if self.waiting or self.misnamed:
            made = self._ended(made, depth)
        self.at = at
        self.room -= 4 * len(made) + 1  # all but what is longer than one byte in its items
        if self.room < 0:
            raise CBORTooLong
        return made

    def _list(self, at: int, left: int, depth: int, later: int) -> list[Any]:
        data, text, tiny, small = self.data, self.text, TINY, SMALL
        short = SHORT_TEXT if later else SHORT
        made: list[Any] = []
        self.path[depth] = ITEM
        if left >= FEW and self.lessons and not later:
            made, length = self._alike(at, left, depth)
            at, left = at + length, left - len(made)
        while left:
            first = data[at]
            size = short[first]
            if small[first]:
                if not 0 < left < FEW and small[data[at + 1]]:
                    at, left = self._run(made, at, left, depth)
                    continue
                value = tiny[first] if first not in runs.EMPTY else self.item(at, depth, later)
                at += 1
            elif size:
                if not 0 < left < FEW and at + size < len(data) and short[data[at + size]]:
                    at, left = self._texts(made, at, left, depth, later)
                    continue
                begin = at + 1
                at += size
                value = text[begin:at]
                if not value.isascii():
                    value = self._beyond_ascii(first, value, len(made), depth)
            elif depth < MAX_DEPTH and (count := SHORT_COUNTS[first]):
                value = (self._map if first & 0x20 else self._list)(at + 1, count, depth + 1, later)
                at = self.at
            elif left < 0 and first == model.BREAK:
                at += 1
                break
            elif (
                first in FORMS
                and left != 1
                and data[at + FORMS[first].size] == first
                and (alike := numbers.many(data, at, left, plain=self.body))
            ):
                made += alike
                at += len(alike) * FORMS[first].size
                left -= len(alike)
                if left and len(alike) >= runs.MANY:
                    at, left = self._many(made, at, left, depth, later)
                continue
            else:
                value = self.item(at, depth, later)
                at = self.at
            made.append(value)
            left -= 1
            if left and (self.error is not None or not left % runs.MANY):
                at, left = self._many(made, at, left, depth, later)
        if self.waiting:
            self._show(made, depth)
        self.at = at
        self.room -= len(made) + 1
        if self.room < 0:
            raise CBORTooLong
        return made

    def _key(self, at: int, depth: int) -> str:
        """The name of a member, whatever it is."""
        if LONGER[self.data[at]] == 1:
            begin = at + 2
            self.at = begin + self.data[at + 1]
            key = self.text[begin : self.at]
            if key.isascii():
                return key
        major = self.data[at] >> 5
        if major == model.BYTES or major == model.TEXT:
            if size := SHORT[self.data[at]]:
                self.at = at + size
                raw = self.data[at + 1 : self.at]
            else:
                raw = self._string(major, *head(self.data, at)[1:])
            if BAD not in (key := raw.decode("utf-8", "replace")):
                return key
            if major == model.BYTES:
                self.misnamed.add(depth)
                return raw.decode("utf-8", "surrogateescape")
            try:
                return raw.decode()
            except UnicodeDecodeError:
                self._refuse_name("cbor: invalid UTF-8 string", depth)
                return ""
        self._refuse_name(f"cbor: cannot unmarshal {TYPES[major]} into Go value of type string", depth)
        self.item(at, depth, 0)
        return ""

    def _refuse_name(self, why: str, depth: int) -> None:
        """A name of an object whose members are at `depth`."""
        self.refuse(why)
        self.named = self.named and not self._is_top(depth)

    def _tagged(self, at: int, depth: int, later: int) -> Any:
        data = self.data
        timed = False
        while data[at] >> 5 == model.TAG:
            _, tag, at = head(data, at)
            if depth >= MAX_DEPTH:
                raise CBORError(TOO_DEEP)
            depth += 1
            self.path[depth] = TAG
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
            if argument not in firsts.SIMPLE:
                self.refuse(REFUSED.format("primitives", f"simple value {argument} is not recognized"))
            return firsts.SIMPLE.get(argument)
        return argument if major == model.UNSIGNED else -1 - argument
