"""The careful reader: any message of a type in the form in which the original would write it, or what is wrong with it.

Fields come in order of their numbers, each singular one once (the last value counts, messages are merged), lists
unpacked, maps by key without doubles, unknown fields left out. Errors have the original's words.

A megabyte may hold half a million fields, so the loops here are flat: what can be known of a type beforehand is in its
`Known`, and values that are one byte are not looked at twice.
"""

from __future__ import annotations

from typing import Any, Final

from pilothouse.kit.record import record
from pilothouse.machinery import schema as s
from pilothouse.machinery.protobuf import plan
from pilothouse.machinery.protobuf.absent import most_items
from pilothouse.machinery.protobuf.again import Again
from pilothouse.machinery.protobuf.packed import PACKED, check_packed
from pilothouse.machinery.protobuf.plan import INLINE, LIST, MAP, ONE, Slot
from pilothouse.machinery.protobuf.small import Single, Unknown, numbers_with
from pilothouse.machinery.protobuf.wire import (
    END_GROUP,
    FIXED32,
    FIXED64,
    LENGTH,
    START_GROUP,
    VARINT,
    VARINTS,
    ProtobufError,
    TooMany,
    read_unsigned,
    run,
)  # fmt: skip
from pilothouse.machinery.schema import Schema

MAX_DEPTH: Final = 100  # of messages that hold themselves
_EOF: Final = "unexpected EOF"
_ONE_BYTE: Final = tuple(bytes((number,)) for number in range(128))
_EMPTY: Final = b"\0"  # the length of nothing
SHORT: Final = 16  # bytes of a field that might come very often


def repair(schema: Schema, data: bytes) -> bytes:
    """Raises ProtobufError for data that is no message of the type."""
    try:
        return _read(known(schema), data, 0, False)
    except IndexError:
        raise ProtobufError(_EOF) from None


def check(schema: Schema, data: bytes, read: int) -> None:
    """Raises ProtobufError for data that is no message of the type: of what is wrong, what comes first.

    The fields before `read` are known to be right, if that is within the message.
    """
    try:
        _read(known(schema), data, 0, True, read if read <= len(data) else 0)
    except IndexError:
        raise ProtobufError(_EOF) from None


def _varint(number: int) -> bytes:
    return _ONE_BYTE[number] if number < 128 else VARINTS[number].encode("latin-1")


def sized(payload: bytes) -> bytes:
    """With its length in front."""
    return _varint(len(payload)) + payload


def length(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Start and end of the payload whose length is at `at`."""
    size = data[at]
    at += 1
    if size > 127:
        size, at = read_unsigned(data, at - 1)
        if size >> 63:
            raise ProtobufError("proto: negative length found during unmarshaling")
    if at + size > end:
        raise ProtobufError(_EOF)
    return at, at + size


def skip(data: bytes, at: int, wire: int, end: int) -> int:
    """The place behind an unknown field's value, groups included."""
    depth = 0
    start = at
    while True:
        if wire == VARINT:
            at = at + 1 if data[at] < 128 else read_unsigned(data, at)[1]
        elif wire == FIXED64:
            at += 8
        elif wire == LENGTH:
            at = length(data, at, end)[1]
        elif wire == FIXED32:
            at += 4
        elif wire == START_GROUP:
            depth += 1
        elif wire == END_GROUP:
            if not depth:
                raise ProtobufError("proto: unexpected end of group")
            depth -= 1
        else:
            raise ProtobufError(f"proto: illegal wireType {wire}")
        if at > end:
            raise ProtobufError(_EOF)
        if not depth:
            return at
        size = at - start
        if size and data[at] == data[start]:  # within a group, and perhaps the same again
            copies = (run(data, start, at, end) - at) // size
            if wire == START_GROUP:
                depth += copies
            elif wire == END_GROUP:
                copies = min(copies, depth)
                depth -= copies
            at += copies * size
            if not depth:
                return at
        start = at
        tag = data[at]
        if tag < 128:
            at += 1
        elif data[at + 1] < 128:
            at += 2
        else:
            tag, at = read_unsigned(data, at)
        wire = tag & 7


@record
class Way:
    """How one field is taken up."""

    slot: Slot
    number: int
    label: str
    wire: int
    tag: bytes
    packed: bytes  # the tag of many numbers in one field, of a list that may have them so
    message: Schema | None  # of a value, or of a map's values
    once: bool  # a text, a number: the last one counts
    merged: bool  # a message, which may be in parts
    most: int  # messages in a list; 0: any number


class Known:
    """What is known of a message type. `ways` are by tag, `numbers` by field number."""

    __slots__ = ("_single", "_unknown", "name", "nests", "numbers", "ways")

    def __init__(self, schema: Schema) -> None:
        self.name = schema.name
        self.nests = plan.nests_itself(schema)
        self.ways: dict[int, Way] = {}
        self.numbers: dict[int, Way] = {}
        for slot in plan.slots(schema):
            wire = LENGTH if slot.label == MAP else _wire(slot)
            tag = slot.number << 3 | wire
            message = plan.message_of(slot)
            single = slot.label in (ONE, INLINE)
            once, merged = single and message is None, single and message is not None
            several = slot.label == LIST and slot.kind in PACKED
            packed = _varint(slot.number << 3 | LENGTH) if several else b""
            way = Way(
                slot, slot.number, slot.label, wire, _varint(tag), packed, message, once, merged, most_items(slot)
            )
            self.ways[tag] = self.numbers[slot.number] = way
        self._unknown: Unknown | None = None
        self._single: Single | None = None

    @property
    def single(self) -> Single:
        if self._single is None:
            self._single = Single([tag for tag, way in self.ways.items() if way.once and tag < 128])
        return self._single

    def skip_again(self, data: bytes, start: int, at: int, wire: int, end: int, look: int) -> int:
        """The place behind an unknown field from `start` on, and behind more, up to `look`. Its value is at `at`."""
        if self._unknown is None:
            self._unknown = Unknown(self.numbers)
        behind = self._unknown.skip(data, start, min(look, end))
        return behind if behind > start else skip(data, at, wire, end)


def known(schema: Schema) -> Known:
    made: Known | None = schema.compiled.get("protobuf.repair")
    if made is None:
        made = schema.compiled["protobuf.repair"] = Known(schema)
    return made


def _read(fields: Known, data: bytes, depth: int, only_check: bool, at: int = 0) -> bytes:
    """One message, which is all of `data`; nothing of worth where it is only to be checked, from `at` on."""
    if depth > MAX_DEPTH:
        raise ProtobufError("proto: message is nested too deep")
    found: dict[int, Any] = {}  # by field number: a value, the parts of a message, values of a list, a map
    ways, end, last = fields.ways, len(data), -1
    strange: set[int] = set()  # tags of unknown numbers
    again = Again(at)
    look = again.look
    while at < end:
        if at >= look:
            at, look = again.step(data, at, end, found), again.look
            check_counts(fields, found)
            continue
        start = at
        tag = data[at]
        at += 1
        if tag > 127:
            more = data[at]
            if more < 128:
                tag, at = tag & 127 | more << 7, at + 1
            else:
                tag, at = read_unsigned(data, at - 1)
                tag &= 0x7FFFFFFFF
        way = ways.get(tag)
        if way is None:
            if tag in strange:
                at = fields.skip_again(data, start, at, tag & 7, end, look)
                continue
            at = _other(fields, tag, data, at, found)
            if tag >> 3 not in fields.numbers:
                strange.add(tag)
                at = run(data, start, at, end)
            continue
        if way.wire == LENGTH:
            size = data[at]
            if size < 128 and at + size < end:
                value_at = at + 1
                at = value_at + size
            else:
                value_at, at = length(data, at, end)
            if way.label == MAP:
                key, written = _entry(way, data, value_at, at, depth, only_check)
                found.setdefault(way.number, {})[key] = written
            elif way.once:
                found[way.number] = data[value_at:at]
            elif only_check and way.message is None:  # of a list of texts all that matters is where they end
                at = more_of(way, tag, data, at, min(look, end))
            else:
                value = data[value_at:at]
                if way.label == LIST or only_check:  # parts of a message can be put in order when all are known
                    value = _nested(way, value, depth, only_check) if size else _EMPTY
                put(found, way, value)
        else:
            value, at = _number(way, data, at, end)
            put(found, way, way.tag + value if way.packed else value)
        if tag == last and at - start < SHORT and way.number in found and data.startswith(data[start:at], at):
            at = put_again(found[way.number], way, data, start, at, end)
        last = tag
    return _EMPTY if only_check else _written(fields, found, depth)


def more_of(way: Way, tag: int, data: bytes, at: int, end: int) -> int:
    """The place behind entries or plain values of a list that begin at `at`, up to one that is long."""
    if tag > 127 or at > end:
        return at
    if way.wire == VARINT:
        found = numbers_with(tag)(data, at, end)
        return found.end() if found else at
    last = end - 1
    while at < last and data[at] == tag:
        size = data[at + 1]
        if size > 127 or at + 2 + size > end:
            break
        at += 2 + size
    return at


def _number(way: Way, data: bytes, at: int, end: int) -> tuple[bytes, int]:
    """As it is written, and the place behind it."""
    if way.wire == VARINT:
        value = data[at]
        if value < 128:
            return _ONE_BYTE[value], at + 1
        value, at = read_unsigned(data, at)
        return _varint(value), at
    if at + 8 > end:
        raise ProtobufError(_EOF)
    return data[at : at + 8], at + 8


def put(found: dict[int, Any], way: Way, value: bytes) -> None:
    """One value more, or the only one."""
    if way.once:
        found[way.number] = value
        return
    there = found.get(way.number)
    if there is None:
        found[way.number] = [value]
        return
    there.append(value)
    if way.most and len(there) > way.most:
        raise TooMany(way.slot.go_name, way.most)


def check_counts(fields: Known, found: dict[int, Any]) -> None:
    """Raises TooMany for a list that holds too many messages: for the one that was the first."""
    ways = [way for way in map(fields.numbers.__getitem__, found) if way.most and len(found[way.number]) > way.most]
    if ways:
        way = max(ways, key=lambda way: len(found[way.number]) / way.most)
        raise TooMany(way.slot.go_name, way.most)


def put_again(there: Any, way: Way, data: bytes, start: int, at: int, end: int) -> int:
    """Takes up the copies that follow of the field at data[start:at]; the place behind them."""
    behind = run(data, start, at, end)
    if there.__class__ is list:
        there += there[-1:] * ((behind - at) // (at - start))
        if way.most and len(there) > way.most:
            raise TooMany(way.slot.go_name, way.most)
    return behind


def _other(fields: Known, tag: int, data: bytes, at: int, found: dict[int, Any]) -> int:
    """A field that is unknown, packed or of another wire type: the place behind it."""
    wire, number = tag & 7, tag >> 3
    if wire == END_GROUP:
        raise ProtobufError(f"proto: {fields.name}: wiretype end group for non-group")
    if number == 0 or number >> 31:
        shown = number - (1 << 32) if number >> 31 else number
        raise ProtobufError(f"proto: {fields.name}: illegal tag {shown} (wire type {wire})")
    way = fields.numbers.get(number)
    if way is None:
        return skip(data, at, wire, len(data))
    if wire != LENGTH or not way.packed:
        raise ProtobufError(f"proto: wrong wireType = {wire} for field {way.slot.go_name}")
    start, at = length(data, at, len(data))
    if start < at:
        numbers = data[start:at]
        check_packed(numbers)
        found.setdefault(number, []).append(way.packed + sized(numbers))
    return at


def entry_parts(data: bytes, at: int, end: int) -> tuple[int, int, int, int]:
    """Where key and value of a map's entry begin and end; what is missing is empty."""
    key_at = key_end = value_at = value_end = end
    while at < end:
        tag = data[at]
        at += 1
        if tag == 10 or tag == 18:
            size = data[at]
            if size < 128 and at + size < end:
                start = at + 1
                at = start + size
            else:
                start, at = length(data, at, end)
            if tag == 10:
                key_at, key_end = start, at
            else:
                value_at, value_end = start, at
        else:
            tag, at = read_unsigned(data, at - 1)
            at = skip(data, at, tag & 7, end)
        if at > end:
            raise ProtobufError(_EOF)
    return key_at, key_end, value_at, value_end


def _entry(way: Way, data: bytes, at: int, end: int, depth: int, only_check: bool) -> tuple[bytes, bytes]:
    """Key and written value of a map's entry."""
    key_at, key_end, at, end = entry_parts(data, at, end)
    value = data[at:end]
    return data[key_at:key_end], _nested(way, value, depth, only_check) if value else _EMPTY


def _nested(way: Way, value: bytes, depth: int, only_check: bool) -> bytes:
    """A value with its length in front, itself repaired where it is a message."""
    if way.message is None or not value:
        return sized(value)
    inner = known(way.message)
    return sized(_read(inner, value, depth + 1 if inner.nests else depth, only_check))


def _written(fields: Known, found: dict[int, Any], depth: int) -> bytes:
    out: list[bytes] = []
    for number in sorted(found):
        way, value = fields.numbers[number], found[number]
        tag = way.tag
        if way.packed:
            out += value
        elif way.label == LIST:
            out += (tag, tag.join(value))
        elif way.label == MAP:
            for key, item in sorted(value.items()):
                out += (tag, sized(b"\n" + sized(key) + b"\x12" + item))
        elif way.wire != LENGTH:
            out += (tag, value)
        elif way.message is None:
            out += (tag, sized(value))
        else:
            out += (tag, _nested(way, b"".join(value), depth, False))
    return b"".join(out)


def _wire(slot: Slot) -> int:
    return VARINT if slot.kind in plan.VARINTS else FIXED64 if slot.kind == s.FLOAT64 else LENGTH
