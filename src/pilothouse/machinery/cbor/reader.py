"""From CBOR to the JSON form of a value, by the rules the original sets its decoder.

Byte strings are texts; tags 21 to 23 turn them into base64 or hexadecimal text, other tags are looked through.
Refused are keys that are not text or come twice, numbers beyond int64, NaN and infinity, bignums, and simple values
but false, true and null. All is read once: what is refused is only told when the rest is known to be well-formed.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from itertools import repeat
from typing import Any, Final

import orjson

from pilothouse.machinery.cbor import firsts, model, numbers, rows, runs
from pilothouse.machinery.cbor.firsts import COUNTS, LONGER, OTHER, SHORT, SHORT_COUNTS, SHORT_TEXT, SMALL, TINY
from pilothouse.machinery.cbor.heads import EOF, head
from pilothouse.machinery.cbor.model import MAX_DEPTH, REFUSED, TOO_DEEP, TYPES, CBORError, CBORTooLong
from pilothouse.machinery.cbor.numbers import FORMS
from pilothouse.machinery.cbor.places import ITEM, TAG
from pilothouse.machinery.cbor.steps import STRETCH, Steps
from pilothouse.machinery.cbor.texts import ENCODED, only_base64, settle, time_text
from pilothouse.machinery.jsoncodec import plain_floats
from pilothouse.machinery.schema import Schema

_LEAST: Final = rows.LEAST
_FEW: Final = 16  # items of one byte, or members that are stepped over
_STRETCH: Final = 1 << 9  # bytes of members that are stepped over together, at first
_PIECE: Final = 1 << 16  # items that one call makes
_REPEATED: Final = 'cbor: found duplicate map key "{}" at map element index {}'
_PARTED: Final = frozenset((list, dict))
_NOTHING: Final[list[Any]] = []  # what stands for what is not wanted: no scalar


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


class _Reader(Steps):
    """`patience`: the place from where on it is worth to look for many that are alike. `stretch`: bytes of members that
    are stepped over together, as many as were good the last time.

    In its methods, `depth` counts what an item is in: containers and tags. `left`: items of a container (or pairs) to
    come, below 0 where their end is marked. `later`: the tag (21 to 23) that says what byte strings are to become.
    """

    __slots__ = ("patience", "stretch", "text")

    def __init__(self, data: bytes, schema: Schema | None = None, room: int = sys.maxsize) -> None:
        super().__init__(data, schema, room)
        self.text = data.decode("latin-1")  # a sign for each byte
        self.patience = 0
        self.stretch = _STRETCH

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
            if not 0 < left < _LEAST:
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
        if self.waiting:
            self._show(made, depth)
        self.at = at
        self.room -= 4 * len(made) + 1  # all but what is longer than one byte in its items
        if self.room < 0:
            raise CBORTooLong
        return made

    def _wide(self, made: dict[str, Any], at: int, left: int, depth: int, later: int) -> tuple[int, int, int]:
        """Takes members of an object that has many, or may have: the place behind them, how many are left, and how many
        will be where it is worth to look for many again.
        """
        if left > 0 or made:
            if self._is_unmade(depth):
                self._unmade(at, left, depth)
                made.clear()
                return self.at, 0, 0
            at, left = self._row(made, at, left, depth, later)
        return at, left, 0 if 0 <= left < _LEAST else left - _LEAST

    def _row(self, made: dict[str, Any], at: int, left: int, depth: int, later: int) -> tuple[int, int]:
        """Takes members that are equally long into an object, if they are many. The place behind them, and how many are
        left. The first name that is there twice is left.
        """
        while left and at >= self.patience and not later and depth < MAX_DEPTH:
            names, plain, length, raw, encoded, bad = rows.row(
                self.data, at, left, MAX_DEPTH - depth, loose=self.error is not None, texts=self._are_texts(depth)
            )
            values: Iterable[Any] | None = plain
            if encoded:
                wanted = self._are_wanted(made, names, depth)
                values = self._values(list(plain), depth) if wanted else repeat(_NOTHING, len(names))
            if not names or values is None:
                self.patience = at + length
                before = left
                if self._may_be_unwanted(made, depth):
                    at, left = self._passed(made, at, left, depth)
                if before - left < _FEW:
                    break
                continue
            before = len(made)
            made.update(zip(names, values, strict=True))
            if len(made) < before + len(names):
                good = rows.until_twice(made, before, names)
                return at + length // len(names) * good, left - good
            at, left = at + length, left - len(names)
            self.raw = self.raw or raw
            self.shown = self.shown or bad
            self.room -= len(names) * len(names[0])  # in JSON, each is so long at least
            if self.room < 4 * len(made):
                raise CBORTooLong
        return at, left

    def _passed(self, made: dict[str, Any], at: int, left: int, depth: int) -> tuple[int, int]:
        """Steps over some members whose values are not wanted, of which only the names are kept; but not over those
        that have a name that is there already. The place behind them, and how many are left.
        """
        deeper, seen = MAX_DEPTH - depth, self._shapes(named=True)
        latin = self.text[at : at + self.stretch]
        names, length = seen.members(latin, deeper, left)
        if not names and seen.learn(self.data, at, deeper):
            names, length = seen.members(latin, deeper, left)
        if names and self._are_wanted(made, names, depth):
            self.patience = at + length
            return at, left
        if len(names) < _FEW:
            self.patience = at + STRETCH
        self.stretch = min(4 * self.stretch, STRETCH) if 2 * length > len(latin) else _STRETCH
        before = len(made)
        made.update(zip(names, repeat(_NOTHING)))
        if len(made) < before + len(names):
            rows.until_twice(made, before, [])
            self.patience = at + length
            return at, left
        return at + length, left - len(names)

    def _values(self, encoded: list[bytes], depth: int) -> list[Any] | None:
        """The values of items that are good, if many of them are equal."""
        if not rows.often_equal(encoded):
            return None
        first = encoded[0]
        counts = {first: len(encoded)} if encoded.count(first) == len(encoded) else Counter(encoded)
        values: dict[bytes, Any] = {}
        texts: dict[bytes, bytes] = {}
        for item in counts:
            reader = _Reader(item)
            reader.body, reader.applied = self.body, self.applied
            values[item] = reader.one()
            try:
                texts[item] = orjson.dumps(values[item])
            except TypeError:  # it has numbers that are too long, or bytes that are no UTF-8
                return None
        length = sum((len(texts[item]) + 1) * count for item, count in counts.items())
        self.room -= length - 1 - 2 * len(encoded)  # the least has been, or will be, counted
        if self.room < 0:
            raise CBORTooLong
        if self._is_opaque(depth) or not any(value.__class__ in _PARTED for value in values.values()):
            return list(map(values.__getitem__, encoded)) if len(counts) > 1 else [values[first]] * len(encoded)
        made: list[Any] = orjson.loads(b"[%b]" % b",".join(map(texts.__getitem__, encoded)))
        return made

    def _list(self, at: int, left: int, depth: int, later: int) -> list[Any]:
        data, text, tiny, small = self.data, self.text, TINY, SMALL
        short = SHORT_TEXT if later else SHORT
        made: list[Any] = []
        self.path[depth] = ITEM
        while left:
            first = data[at]
            size = short[first]
            if small[first]:
                if not 0 < left < _FEW and small[data[at + 1]]:
                    at, left = self._run(made, at, left, depth)
                    continue
                value = tiny[first] if first not in runs.EMPTY else self.item(at, depth, later)
                at += 1
            elif size:
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

    def _run(self, into: list[Any], at: int, left: int, depth: int) -> tuple[int, int]:
        """Takes items of one byte into a list. The place behind them, and how many are left."""
        data = self.data
        found = runs.ONE_BYTE.match(data, at, min(at + left, len(data)) if left > 0 else len(data))
        run = found[0] if found is not None else b""
        behind = at + len(run), left - len(run)
        empty = len(run) - len(run.translate(None, runs.EMPTY))
        if depth >= MAX_DEPTH and empty:
            raise CBORError(TOO_DEEP)
        if len(run) >= runs.MANY:
            most = self._most(into, depth)
            if not most:
                return behind
            if len(into) + len(run) > most:
                raise CBORTooLong
        if 2 * len(run) + empty >= self.room:  # with commas and brackets
            raise CBORTooLong
        self.room -= empty
        for start in range(0, len(run), _PIECE):
            piece = run[start : start + _PIECE]
            into += firsts.small_values(piece)
        return behind

    def _many(self, made: list[Any], at: int, left: int, depth: int, later: int) -> tuple[int, int]:
        """Looks at a list of which many items were made, or come. Where its items go on, and how many are left: those
        that nobody wants are stepped over. Raises CBORTooLong.
        """
        most = self._most(made, depth)
        if len(made) > most > 0:
            raise CBORTooLong
        if not most:
            return self._over(at, left, depth)
        if most < sys.maxsize and len(made) <= runs.MANY:
            may_come = left if left > 0 else len(self.data) - at
            if len(made) + may_come > most and len(made) + left - self._ahead(at, left, depth)[1] > most:
                raise CBORTooLong
        while left and at >= self.patience and not later and len(made) <= most:
            alike = rows.items(self.data, at, left, MAX_DEPTH - depth)
            behind = at + len(alike) * len(alike[0]) if alike else at
            values = self._values(alike, depth) if alike else None
            if values is None:
                self.patience = behind
                break
            made += values
            at, left = behind, left - len(alike)
        return at, left

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
