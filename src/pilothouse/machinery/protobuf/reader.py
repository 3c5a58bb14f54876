"""Messages from bytes: one loop over the fields, in whatever order they come.

What a message holds so far is a list of values, one for each field of its type. A field that comes again adds to it: of
plain values the last counts, lists and maps go on, messages are put together. When all is read, `finished` makes the
JSON form of it, with the members in the order of the type. What is wrong is told in the original's words, and of
several wrong things the first.

Compiled (docs/designs/compiled.md), and the only way to read a message: bodies that are meant to hurt are a million
fields, so a step must be small whatever it is.
"""

from __future__ import annotations

from typing import Any, Final

import orjson
from mypy_extensions import i64

from pilothouse.kit.giveway import give_way
from pilothouse.kit.runs import RUN
from pilothouse.machinery.protobuf import plan, specials
from pilothouse.machinery.protobuf.absent import LONGEST_FILLED, NOTHING
from pilothouse.machinery.protobuf.message import (
    BOOL,
    BYTES,
    DOUBLE,
    INT32,
    LIST,
    MAP,
    MESSAGE,
    ONE,
    STRING,
    Message,
    Way,
)
from pilothouse.machinery.protobuf.scanner import EACH, Scanner, amount, as_int32
from pilothouse.machinery.protobuf.wire import END_GROUP, EOF, LENGTH, BadValue, ProtobufError, TooLong, TooMany
from pilothouse.machinery.unordered import Unordered

MAX_DEPTH: Final = 100  # of messages that hold themselves
_LONG: Final = 16 << 10  # bytes of a list of messages that is measured
_PIECE: Final = 1024  # bytes of them that are measured together
_TAG: Final = 0x7FFFFFFFF


class Tally:
    """How long a list of messages is as JSON, as far as it was measured."""

    def __init__(self, look: i64) -> None:
        self.look: i64 = look  # where to measure again
        self.count: i64 = 0
        self.length: i64 = 0


class Reader(Scanner):
    """Long maps in disorder are added to `unordered`."""

    def __init__(self, data: bytes, unordered: Unordered) -> None:
        super().__init__(data)
        self.unordered = unordered

    def message(self, kind: Message, begin: i64, end: i64, depth: i64 = 0) -> list[object]:
        """The values of the message that is data[begin:end]. Raises ProtobufError."""
        values = kind.blank[:]
        self.at = begin
        self.fields(kind, values, end, depth)
        return values

    def fields(self, kind: Message, values: list[object], end: i64, depth: i64) -> None:
        """Adds the fields from `at` to `end`."""
        if depth > MAX_DEPTH:
            raise ProtobufError("proto: message is nested too deep")
        data, ways, at = self.data, kind.ways, self.at
        count: i64 = len(ways)
        while at < end:
            if at >= self.pause:
                self.pause = at + EACH
                give_way()
            start = at
            tag: i64 = data[at]
            at += 1
            if tag > 127:
                self.at = start
                tag = self.varint(end) & _TAG
                at = self.at
            way = ways[tag] if tag < count else None
            if way is None:
                self.at = at
                self.other(kind, tag, values, end)
                at = self.at
            elif way.wire == LENGTH:
                if at < end and data[at] < 128:
                    stop: i64 = at + 1 + data[at]
                    at += 1
                    if stop > end:
                        raise ProtobufError(EOF)
                else:
                    self.at = at
                    stop = self.stop(end)
                    at = self.at
                if way.label == ONE:
                    self.one(kind, way, values, at, stop, depth)
                elif way.label == LIST:
                    self.item(kind, way, values, start, at, stop, end, depth)
                else:
                    self.entry(kind, way, values, at, stop, depth)
                at = stop
            else:
                self.at = at
                self.number(way, values, end)
                at = self.at

    # Fields

    def one(self, kind: Message, way: Way, values: list[object], at: i64, stop: i64, depth: i64) -> None:
        """A field that is one value: the last one counts, messages are put together."""
        if way.kind == STRING:
            values[way.index] = self.string(at, stop) if at < stop or not way.omits else NOTHING
        elif way.kind == MESSAGE:
            there = values[way.index]
            inner = way.inner
            if there is NOTHING:
                there = values[way.index] = inner.blank[:]
            if at < stop:
                self.at = at
                assert isinstance(there, list)
                self.fields(inner, there, stop, depth + 1 if kind.nests and inner.nests else 0)
        elif way.kind == BYTES:
            values[way.index] = self.data[at:stop]
        else:
            before = values[way.more]
            if before is NOTHING:
                values[way.index] = self.special(way, at, stop)
                values[way.more] = self.data[at:stop]
            elif at < stop:
                self.message(way.inner, at, stop)  # which says what is wrong with it
                parts = before if isinstance(before, list) else [before]
                parts.append(self.data[at:stop])
                values[way.more] = parts

    def item(
        self, kind: Message, way: Way, values: list[object], start: i64, at: i64, stop: i64, end: i64, depth: i64
    ) -> None:
        """A value of a list, whose tag is at `start`."""
        there = values[way.index]
        if there is NOTHING:
            there = values[way.index] = []
            if way.most:
                self.count(way, start, at, end)
        assert isinstance(there, list)
        if way.kind == STRING:
            there.append(self.string(at, stop))
            return
        there.append(self.value(kind, way, at, stop, depth))
        if way.most:
            if len(there) > way.filled:
                raise TooMany(way.slot.go_name, way.most) if len(there) > way.most else self.too_long(way, way.filled)
            if way.measured and at < stop:  # those that are empty are counted
                self.measure(way, values, there, start, stop)

    def entry(self, kind: Message, way: Way, values: list[object], at: i64, stop: i64, depth: i64) -> None:
        """An entry of a map: a key and a value in any order. What is missing is empty."""
        there = values[way.index]
        if there is NOTHING:
            there = values[way.index] = {}
        assert isinstance(there, dict)
        data = self.data
        key_at = key_end = value_at = value_end = stop
        while at < stop:
            tag: i64 = data[at]
            if tag != 10 and tag != 18:
                self.at = at
                tag = self.varint(stop)
                self.skip(tag & 7, stop)
                at = self.at
                continue
            at += 1
            if at < stop and data[at] < 128:
                behind: i64 = at + 1 + data[at]
                at += 1
                if behind > stop:
                    raise ProtobufError(EOF)
            else:
                self.at = at
                behind = self.stop(stop)
                at = self.at
            if tag == 10:
                key_at, key_end = at, behind
            else:
                value_at, value_end = at, behind
            at = behind
        key = self.string(key_at, key_end)
        if way.kind == STRING:
            there[key] = self.string(value_at, value_end)
        else:
            there[key] = self.value(kind, way, value_at, value_end, depth)

    def value(self, kind: Message, way: Way, at: i64, stop: i64, depth: i64) -> object:
        """What a list or a map holds, in its JSON form; not texts and numbers."""
        if way.kind == MESSAGE:
            inner = way.inner
            if at == stop and way.is_struct:
                return self.empty(inner)
            return self.made(way, self.message(inner, at, stop, depth + 1 if kind.nests and inner.nests else 0))
        if way.kind == BYTES:
            return specials.decode_bytes(self.data[at:stop])
        return self.special(way, at, stop)

    def number(self, way: Way, values: list[object], end: i64) -> None:
        """A field that is a number, or one of a list."""
        if way.kind == DOUBLE:
            at = self.at
            if end - at < 8:
                raise ProtobufError(EOF)
            self.at = at + 8
            values_of = self.data[at : at + 8]
            if way.label == ONE:
                values[way.index] = values_of
            else:
                self.append(way, values, specials.decode_double(values_of))
            return
        value = self.varint(end)
        if way.label == LIST:
            self.append_number(way, values, value)
            return
        if way.kind == BOOL:
            told: object = value != 0
        elif way.kind == INT32:
            told = as_int32(value)
        else:
            told = value
        values[way.index] = NOTHING if way.omits and not told else told

    def append(self, way: Way, values: list[object], value: object) -> None:
        """Adds it to a list."""
        there = values[way.index]
        if there is NOTHING:
            there = values[way.index] = []
        assert isinstance(there, list)
        there.append(value)

    def append_number(self, way: Way, values: list[object], value: i64) -> None:
        """As `append`, of what its kind makes of the number."""
        if way.kind == BOOL:
            self.append(way, values, value != 0)
        elif way.kind == INT32:
            self.append(way, values, as_int32(value))
        else:
            self.append(way, values, value)

    # Fields that are not as they should be

    def other(self, kind: Message, tag: i64, values: list[object], end: i64) -> None:
        """A field that is unknown, packed or of another wire type; `at` is behind its tag."""
        wire, number = tag & 7, tag >> 3
        if wire == END_GROUP:
            raise ProtobufError(f"proto: {kind.name}: wiretype end group for non-group")
        if number == 0 or number >> 31:
            shown = number - (1 << 32) if number >> 31 else number
            raise ProtobufError(f"proto: {kind.name}: illegal tag {shown} (wire type {wire})")
        way = kind.numbers.get(number)
        if way is None:
            self.skip(wire, end)
            return
        if wire != LENGTH or not way.packed:
            raise ProtobufError(f"proto: wrong wireType = {wire} for field {way.slot.go_name}")
        stop = self.stop(end)
        while self.at < stop:
            if self.at >= self.pause:
                self.pause = self.at + EACH
                give_way()
            self.append_number(way, values, self.varint(stop))

    # Lists that are too long

    def count(self, way: Way, start: i64, at: i64, end: i64) -> None:
        """Counts the messages of the list whose first tag is at `start`, before any of them is read.

        Raises TooMany, TooLong.
        """
        tag = way.number << 3 | LENGTH
        most = min(way.most, way.filled)
        if end - start <= most * (1 if tag < 128 else 2) or tag >> 14:
            return
        data = self.data
        first: i64 = tag if tag < 128 else tag & 127 | 128
        second: i64 = tag >> 7
        found: i64 = 0
        at = start
        while at + 1 < end and data[at] == first:
            if second:
                at += 1
                if data[at] != second or at + 1 >= end:
                    break
            size: i64 = data[at + 1]
            at += 2
            if size > 127:
                self.at = at - 1
                try:
                    at = self.stop(end)
                except ProtobufError:
                    break  # whoever reads the list will find it
            else:
                at += size
            found += 1
            if found & 4095 == 0:
                give_way()
        if found > way.most:
            raise TooMany(way.slot.go_name, way.most)
        if found > way.filled:
            raise self.too_long(way, way.filled)

    def too_long(self, way: Way, most: i64) -> TooLong:
        return TooLong(way.slot.go_name, most)

    def measure(self, way: Way, values: list[object], there: list[object], start: i64, stop: i64) -> None:
        """Sees how long a list of messages is as JSON, with their defaults, if it is time. Raises TooLong."""
        tally = values[way.more]
        if tally is NOTHING:
            tally = values[way.more] = Tally(start + _LONG)
        assert isinstance(tally, Tally)
        if stop < tally.look:
            return
        tally.look = stop + _PIECE
        messages = there[tally.count :]
        tally.count = len(there)
        text = orjson.dumps(messages)
        tally.length += len(text)
        for default in way.slot.schema.defaults:
            name = default.partition(b":")[0]
            tally.length += len(default) * max(0, len(messages) - text.count(name))
        if tally.length > LONGEST_FILLED:
            raise self.too_long(way, len(there))

    # Values that are small messages

    def special(self, way: Way, at: i64, stop: i64) -> object:
        """The JSON form of a time, a quantity, ... Raises BadValue for what is none."""
        if way.is_amount:
            told = amount(self.data, self.text, at, stop)
            if told:
                return told
        read = way.read
        assert read is not None
        try:
            return read(self.data[at:stop])
        except BadValue:
            raise
        except ProtobufError:  # not as the original writes it, or wrong
            found = [None if value is NOTHING else value for value in self.message(way.inner, at, stop)]
            return specials.of_parts(way.slot.kind, found)

    # The JSON form

    def made(self, way: Way, values: list[object]) -> object:
        """The JSON form of a message that is a value of the field."""
        if way.is_struct:
            return self.finished(way.inner, values, {})
        if way.is_wrapped:
            return None if values[0] is NOTHING else values[0]
        return plan.from_union(way.slot.kind, self.finished(way.inner, values, {}))

    def finished(self, kind: Message, values: list[object], made: dict[str, Any]) -> dict[str, Any]:
        """Adds the members of a message to `made`."""
        for way in kind.members:
            value = values[way.index]
            if value is NOTHING:
                if way.is_shown:
                    self.absent(way, made)
            elif not way.is_late:
                made[way.name] = value
            elif way.inline:
                assert isinstance(value, list)
                self.finished(way.inner, value, made)
            else:
                value = self.late(way, value, values)
                if value is not NOTHING:
                    made[way.name] = value
        return made

    def late(self, way: Way, value: object, values: list[object]) -> object:
        """What is made of a value only when all of its message is there."""
        if way.label == MAP:
            assert isinstance(value, dict)
            return self.in_order(value)
        if way.kind == MESSAGE:
            assert isinstance(value, list)
            return self.made(way, value)
        if way.kind == BYTES:
            assert isinstance(value, bytes)
            value = specials.decode_bytes(value)
        elif way.kind == DOUBLE:
            assert isinstance(value, bytes)
            value = specials.decode_double(value)
        else:
            parts = values[way.more]
            if isinstance(parts, list):
                whole = b"".join(parts)
                value = Reader(whole, self.unordered).special(way, 0, len(whole))
        return NOTHING if way.omits and not value else value

    def in_order(self, made: dict[str, Any]) -> dict[str, Any]:
        """A map by key; a long one is only noted."""
        last = ""
        for key in made:
            if key < last:
                if len(made) <= RUN:
                    return dict(sorted(made.items()))
                self.unordered.append(made)
                break
            last = key
        return made

    def absent(self, way: Way, made: dict[str, Any]) -> None:
        if way.inline:
            self.filled(way.inner, made)
        elif way.holds:
            made[way.name] = self.empty(way.inner)
        else:
            made[way.name] = way.zero

    def empty(self, kind: Message) -> dict[str, Any]:
        """What an empty message shows."""
        made: dict[str, Any] = {}
        self.filled(kind, made)
        return made

    def filled(self, kind: Message, made: dict[str, Any]) -> None:
        for way in kind.shown:
            self.absent(way, made)
