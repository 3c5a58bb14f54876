"""The careful reader: any message of a type in the form in which the original would write it, or what is wrong with it.

Fields come in order of their numbers, each singular one once (the last value counts, messages are merged), lists
unpacked, maps by key without doubles, unknown fields left out. Errors have the original's words.
"""

from __future__ import annotations

from typing import Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.protobuf import plan
from pilothouse.machinery.protobuf.plan import LIST, MAP, Slot
from pilothouse.machinery.protobuf.wire import (
    END_GROUP,
    FIXED32,
    FIXED64,
    LENGTH,
    START_GROUP,
    VARINT,
    VARINTS,
    ProtobufError,
    read_unsigned,
)  # fmt: skip
from pilothouse.machinery.schema import Schema

MAX_DEPTH: Final = 100  # of messages that hold themselves
_EOF: Final = "unexpected EOF"


def repair(schema: Schema, data: bytes) -> bytes:
    """Raises ProtobufError for data that is no message of the type."""
    return _Message(schema, 0).read(data, 0, len(data))


def _varint(number: int) -> bytes:
    return VARINTS[number].encode("latin-1")


def _sized(payload: bytes) -> bytes:
    return _varint(len(payload)) + payload


def _length(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Start and end of the payload whose length is at `at`."""
    size, at = read_unsigned(data, at)
    if size >> 63:
        raise ProtobufError("proto: negative length found during unmarshaling")
    if at + size > end:
        raise ProtobufError(_EOF)
    return at, at + size


def skip(data: bytes, at: int, wire: int, end: int) -> int:
    """The place behind an unknown field's value, groups included."""
    depth = 0
    while True:
        if wire == VARINT:
            at = read_unsigned(data, at)[1]
        elif wire == FIXED64:
            at += 8
        elif wire == LENGTH:
            at = _length(data, at, end)[1]
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
        tag, at = read_unsigned(data, at)
        wire = tag & 7


class _Message:
    """One message type at one depth."""

    def __init__(self, schema: Schema, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise ProtobufError("proto: message is nested too deep")
        self.schema = schema
        self.depth = depth
        self.slots = {slot.number: slot for slot in plan.slots(schema)}
        self.scalars: dict[int, bytes] = {}
        self.messages: dict[int, list[bytes]] = {}  # of each, the parts that make one
        self.lists: dict[int, list[bytes]] = {}
        self.maps: dict[int, dict[bytes, bytes]] = {}

    def read(self, data: bytes, at: int, end: int) -> bytes:
        while at < end:
            tag, at = read_unsigned(data, at)
            wire, number = tag & 7, (tag >> 3) & 0xFFFFFFFF
            if wire == END_GROUP:
                raise ProtobufError(f"proto: {self.schema.name}: wiretype end group for non-group")
            if number == 0 or number >> 31:
                shown = number - (1 << 32) if number >> 31 else number
                raise ProtobufError(f"proto: {self.schema.name}: illegal tag {shown} (wire type {wire})")
            slot = self.slots.get(number)
            at = skip(data, at, wire, end) if slot is None else self._field(slot, wire, data, at, end)
            if at > end:
                raise ProtobufError(_EOF)
        return self._written()

    def _field(self, slot: Slot, wire: int, data: bytes, at: int, end: int) -> int:
        expected = LENGTH if slot.label == MAP else _wire(slot)
        if wire == LENGTH and slot.label == LIST and expected != LENGTH:
            at, stop = _length(data, at, end)
            while at < stop:
                value, at = self._scalar(slot, data, at, stop)
                self.lists.setdefault(slot.number, []).append(value)
            return stop
        if wire != expected:
            raise ProtobufError(f"proto: wrong wireType = {wire} for field {slot.go_name}")
        if slot.label == MAP:
            at, stop = _length(data, at, end)
            key, value = self._entry(slot, data, at, stop)
            self.maps.setdefault(slot.number, {})[key] = value
            return stop
        if expected != LENGTH:
            value, at = self._scalar(slot, data, at, end)
        else:
            start, at = _length(data, at, end)
            value = data[start:at]
        if slot.label == LIST:
            self.lists.setdefault(slot.number, []).append(self._nested(slot, value) if expected == LENGTH else value)
        elif plan.message_of(slot) is not None:
            self.messages.setdefault(slot.number, []).append(value)
        else:
            self.scalars[slot.number] = _sized(value) if expected == LENGTH else value
        return at

    def _scalar(self, slot: Slot, data: bytes, at: int, end: int) -> tuple[bytes, int]:
        if slot.kind == s.FLOAT64:
            if at + 8 > end:
                raise ProtobufError(_EOF)
            return data[at : at + 8], at + 8
        value, at = read_unsigned(data, at)
        if at > end:
            raise ProtobufError(_EOF)
        return _varint(value), at

    def _entry(self, slot: Slot, data: bytes, at: int, end: int) -> tuple[bytes, bytes]:
        """Key and written value of a map's entry; what is missing is empty."""
        key = value = b""
        while at < end:
            tag, at = read_unsigned(data, at)
            if tag == 10:
                start, at = _length(data, at, end)
                key = data[start:at]
            elif tag == 18:
                start, at = _length(data, at, end)
                value = data[start:at]
            else:
                at = skip(data, at, tag & 7, end)
            if at > end:
                raise ProtobufError(_EOF)
        return key, self._nested(slot, value)

    def _nested(self, slot: Slot, value: bytes) -> bytes:
        """A value with its length in front, itself repaired where it is a message."""
        message = plan.message_of(slot)
        if message is None:
            return _sized(value)
        deeper = plan.nests_itself(message)
        return _sized(_Message(message, self.depth + 1 if deeper else self.depth).read(value, 0, len(value)))

    def _written(self) -> bytes:
        out: list[bytes] = []
        for slot in self.slots.values():
            number = slot.number
            tag = _varint(number << 3 | (LENGTH if slot.label == MAP else _wire(slot)))
            if number in self.scalars:
                out += (tag, self.scalars[number])
            if number in self.messages:
                out += (tag, self._nested(slot, b"".join(self.messages[number])))
            for value in self.lists.get(number, ()):
                out += (tag, value)
            for key, value in sorted(self.maps.get(number, {}).items()):
                out += (tag, _sized(b"\n" + _sized(key) + b"\x12" + value))
        return b"".join(out)


def _wire(slot: Slot) -> int:
    return VARINT if slot.kind in plan.VARINTS else FIXED64 if slot.kind == s.FLOAT64 else LENGTH
