"""From CBOR to the JSON form of a value, by the rules the original sets its decoder.

Byte strings are texts; tags 21 to 23 turn them into base64 or hexadecimal text, other tags are looked through.
Refused are keys that are not text or come twice, numbers beyond int64, NaN and infinity, bignums, and simple values
but false, true and null. All is read once: what is refused is only told when the rest is known to be well-formed.
What is read into nothing that its type knows is stepped over.
"""

from __future__ import annotations

import sys
from typing import Any, Final, final

from mypy_extensions import i64

from pilothouse.machinery import schema as s
from pilothouse.machinery.cbor import model
from pilothouse.machinery.cbor.heads import EOF
from pilothouse.machinery.cbor.model import BIGNUM, BREAK, MAX_DEPTH, TOO_DEEP, CBORError, CBORTooLong
from pilothouse.machinery.cbor.numbers import HALF
from pilothouse.machinery.cbor.steps import Steps
from pilothouse.machinery.cbor.strings import SHORT, SHORT_TEXT
from pilothouse.machinery.cbor.texts import no_base64, with_whole_names
from pilothouse.machinery.decode.plan import most_items
from pilothouse.machinery.jsoncodec import plain_floats
from pilothouse.machinery.schema import Schema

_LONG: Final = 1 << 12  # bytes of a document in which it is worth to ask what is wanted
_MANY: Final = 256  # items of a list, after which it is asked how many it may have
_LEAST_PLAIN: Final = 1e-5  # between them, floats with a fraction are written alike everywhere
_MOST_PLAIN: Final = 1e16
_NO_LISTS: Final = frozenset((s.STRING, s.BOOL, s.INT32, s.INT64, s.FLOAT64, s.MAP, s.STRUCT))  # whatever is in one
_NO_OBJECTS: Final = frozenset((s.STRING, s.BOOL, s.INT32, s.INT64, s.FLOAT64, s.LIST))
_NOWHERE: Final = Schema(s.STRUCT)  # the type of what an object has no member for, and of all in it
_OTHER: Final = object()
# The value of an item of one byte that is no container, else _OTHER.
_TINY: Final = tuple(
    first if first < 24
    else 0x1F - first if 0x20 <= first < 0x38
    else {0xF4: False, 0xF5: True, 0xF6: None}.get(first, _OTHER)
    for first in range(256)
)  # fmt: skip


def loads(data: bytes | memoryview, schema: Schema | None = None) -> Any:
    """The one item in `data`. `schema` is the type of a built-in object. Raises CBORError in the original's words."""
    return _Reader(bytes(data), sys.maxsize).whole(schema)


def loads_body(data: bytes, schema: Schema | None = None, room: int = sys.maxsize) -> Any:
    """The same with the numbers of JSON, and without what is in containers where the type knows nothing.

    Raises CBORTooLong for more than `room` bytes of JSON, and for lists that would be longer than any object, as soon
    as that is sure.
    """
    return _loads(data, schema, room, False)


def loads_applied(data: bytes, schema: Schema | None = None, room: int = sys.maxsize) -> Any:
    """An applied configuration, the same way; but bytes are texts as others are, and lists may be long."""
    return _loads(data, schema, room, True)


def _loads(data: bytes, schema: Schema | None, room: int, applied: bool) -> Any:
    reader = _Reader(data, room)
    reader.body = True
    reader.applied = applied
    reader.guided = len(data) >= _LONG
    value = reader.whole(schema if reader.guided else None)
    if reader.bad and not applied and schema is not None and not reader.guided:  # where base64 belongs counts
        reader = _Reader(data, room)
        reader.body = True
        return reader.whole(schema)
    return value


def loads_sequence(data: bytes) -> list[Any]:
    """Each item of a CBOR sequence: the events of a watch."""
    items = []
    while data:
        reader = _Reader(data, sys.maxsize)
        reader.one(None)
        items.append(loads(data[: reader.at]))
        data = data[reader.at :]
    return items


@final
class _Reader(Steps):
    """`body`: whether it is an object that is sent, `applied`: an applied configuration; `guided`: whether what its
    type does not know is stepped over. `outermost`: whether no container was yet; `named`: whether the names in the
    outermost object are good. `last`: the name that was last. `mapped`, `items`: the last type of a map, and what is in
    it. `unlisted`, `unnamed`: the last type that was asked for and knows nothing that is in a list, or an object.

    In its methods, `later` is the tag (21 to 23) that says what byte strings are to become, else 0.
    """

    __slots__ = ("applied", "body", "guided", "items", "last", "mapped", "named", "outermost", "unlisted", "unnamed")

    def __init__(self, data: bytes, room: int) -> None:
        super().__init__(data, room)
        self.body = self.applied = self.guided = False
        self.outermost = self.named = True
        self.last = ""
        self.mapped: Schema | None = None
        self.items: Schema | None = None
        self.unlisted: Schema | None = None
        self.unnamed: Schema | None = None

    def whole(self, schema: Schema | None) -> Any:
        """The only item. Raises CBORError, CBORTooLong."""
        if not self.data:
            raise CBORError("EOF")
        value = self.one(schema)
        if self.at != self.end:
            self.refuse(f"cbor: {self.end - self.at} bytes of extraneous data starting at index {self.at}")
        if self.bad and self.no_base64 is not None and not self.applied and self.error is None:
            self.error = no_base64(self.no_base64)
        error = self.error
        if error is None:
            return value
        error.readable = self.named and value.__class__ is dict and self.at == self.end
        raise error

    def one(self, schema: Schema | None) -> Any:
        """The next item. Raises CBORError, CBORTooLong."""
        try:
            value = self._item(0, schema, 0)
        except IndexError:
            raise CBORError(EOF) from None
        if self.at > self.end:
            raise CBORError(EOF)
        return value

    def _item(self, depth: i64, schema: Schema | None, later: i64) -> Any:
        """Any item of this type."""
        first: i64 = self.data[self.at]
        if 0x80 <= first < 0xC0:
            return self._container(first, depth, schema, later)
        if 0x40 <= first < 0x80:
            return self.string(first, schema, later)
        if first >> 5 == model.TAG:
            return self._tagged(depth, schema, later)
        value = _TINY[first]
        if value is not _OTHER:
            self.at += 1
            return value
        if first < 0x40:
            return self.integer(first)
        if HALF <= first < HALF + 3:
            number = self.real(first)
            if self.body and not (_LEAST_PLAIN <= abs(number) < _MOST_PLAIN and number % 1):
                return plain_floats(number)
            return number
        self.simple(first)
        return None

    def _container(self, first: i64, depth: i64, schema: Schema | None, later: i64) -> Any:
        left = first & 31
        if left < 24 and depth < MAX_DEPTH and left < self.end - self.at:  # as most are
            self.at += 1
        else:
            left = self.count(first, depth)
        outermost, self.outermost = self.outermost, False
        depth += 1
        if first >= model.MAP << 5:
            if self.error is not None:
                return self._refused({}, left, depth, outermost)
            if schema is not None and (schema is self.unnamed or self._is_unwanted(schema, _NO_OBJECTS)):
                self.unnamed = schema
                self.step_object(left, depth)
                return {}
            return self._map(left, depth, schema, later, outermost)
        if self.error is None:
            if schema is None:
                return self._list(left, depth, schema, later)
            if schema is not self.unlisted and not (outermost and self.guided):
                if not self._is_unwanted(schema, _NO_LISTS):
                    return self._list(left, depth, schema, later)
                self.unlisted = schema
        self.step(left, depth)
        return []

    def _map(self, left: i64, depth: i64, schema: Schema | None, later: i64, outermost: bool) -> dict[str, Any]:
        data, text, short, tiny = self.data, self.text, SHORT, _TINY
        short_value = SHORT_TEXT if later else short
        misnamed = False
        made: dict[str, Any] = {}
        at, turn = self.at, self.turn
        while left:
            if at >= turn:
                self.pause(at, 5 * len(made))
                turn = self.turn
            start = at
            first: i64 = data[at]
            size: i64 = short[first]
            key: str | None = None
            if size:
                at += size
                key = text[start + 1 : at]
            elif first == BREAK and left < 0:
                at += 1
                break
            if key is None or not key.isascii():
                self.at = start
                self.misnamed = False
                key = self.member(first, depth)
                misnamed = misnamed or self.misnamed
                at = self.at
                if key is None:
                    self.named = not outermost
                    self.step(1, depth)
                    return self._refused(made, left - 1, depth, outermost)
            if key in made:
                self.refuse_twice(key, len(made))
                self.named = not outermost
                self.at = start
                return self._refused(made, left, depth, outermost)
            left -= 1
            first = data[at]
            size = short_value[first]
            value: Any = text[at + 1 : at + size] if size else tiny[first]
            if value.isascii() if size else value is not _OTHER:
                made[key] = value
                at += size or 1
                continue
            self.at = at
            self.last = key
            inner = None if schema is None else self._under(schema, key)
            if 0x80 <= first < 0xC0:
                made[key] = self._container(first, depth, inner, later)
            else:
                made[key] = self._item(depth, inner, later)
            at = self.at
            if self.error is not None:
                return self._refused(made, left, depth, outermost)
        self.at = at
        self.room -= 5 * len(made) or 1  # all but what is longer than one byte in its items
        if self.room < 0:
            raise CBORTooLong
        return with_whole_names(made) if misnamed else made

    def _refused(self, made: dict[str, Any], left: i64, depth: i64, outermost: bool) -> dict[str, Any]:
        """Steps over what is left of an object that is refused: of the outermost one names matter still."""
        while outermost and self.named and left and not (left < 0 and self.data[self.at] == BREAK):
            start = self.at
            key = self.member(self.data[start], depth)
            if key is None or key in made:
                self.named = False
                self.at = start
                break
            made[key] = None
            self.step(1, depth)
            left -= 1
        self.step_members(left, depth)
        return {}

    def _list(self, left: i64, depth: i64, schema: Schema | None, later: i64) -> list[Any]:
        data, text, tiny = self.data, self.text, _TINY
        short = SHORT_TEXT if later else SHORT
        inner = schema.items if schema is not None and schema.kind == s.LIST else None
        guided = inner is not None and self.guided and not self.applied and self.last != "items"
        made: list[Any] = []
        at, turn = self.at, self.turn
        while left:
            if at >= turn:
                self.pause(at, 2 * len(made))
                turn = self.turn
            first: i64 = data[at]
            size: i64 = short[first]
            value: Any = text[at + 1 : at + size] if size else tiny[first]
            if value.isascii() if size else value is not _OTHER:
                at += size or 1
            elif first == BREAK and left < 0:
                at += 1
                break
            else:
                self.at = at
                value = self._item(depth, inner, later)
                at = self.at
                if self.error is not None:
                    self.step(left - 1, depth)
                    return made
            made.append(value)
            left -= 1
            if guided and len(made) % _MANY == 0 and inner is not None and not self._is_good(made, inner):
                self.at = at
                self.step(left, depth)
                return made
        self.at = at
        self.room -= 2 * len(made) or 1
        if self.room < 0:
            raise CBORTooLong
        return made

    def _tagged(self, depth: i64, schema: Schema | None, later: i64) -> Any:
        timed = False
        data = self.data
        first: i64 = data[self.at]
        while first >> 5 == model.TAG:
            tag = self.argument()
            if depth >= MAX_DEPTH:
                raise CBORError(TOO_DEEP)
            depth += 1
            if tag == 2 or tag == 3:
                self.refuse(BIGNUM)
            elif model.AS_BASE64URL <= tag <= model.AS_BASE16:
                later = tag
            timed = timed or tag == model.TIME_NUMBER
            first = data[self.at]
        if not timed or not (first < 0x40 or HALF <= first < HALF + 3):
            return self._item(depth, schema, later)
        value: Any = self.integer(first) if first < 0x40 else self.real(first)
        text = self.timed(value)
        self.take(len(text))
        return text

    def _is_good(self, made: list[Any], inner: Schema) -> bool:
        """Whether the last of many items are what their type wants. Raises CBORTooLong if they are too many for it."""
        kind = inner.kind
        if kind == s.STRUCT and len(made) > most_items(inner):
            raise CBORTooLong
        if kind == s.STRING:
            for value in made[-_MANY:]:
                if value is not None and not isinstance(value, str):
                    return False
        return True

    def _is_unwanted(self, schema: Schema, kinds: frozenset[str]) -> bool:
        """Whether a type knows nothing that is in such a container: an object, or a list."""
        return self.guided and (schema is _NOWHERE or (not self.applied and schema.kind in kinds))

    def _under(self, schema: Schema, key: str) -> Schema | None:
        """The type of a member of an object, where it is known."""
        if schema is self.mapped:
            return self.items
        kind = schema.kind
        if kind == s.MAP:
            self.mapped, self.items = schema, schema.items
            return self.items
        if kind != s.STRUCT:
            return None
        field = schema.properties.get(key)
        if field is None:
            return _NOWHERE if self.guided else None
        return field.schema
