"""The parts of the wire that need no type: numbers, lengths, texts, what is to be stepped over.

Compiled, as the reader that goes over messages with it (docs/designs/compiled.md).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from pilothouse.kit.giveway import give_way
from pilothouse.machinery.protobuf.wire import (
    END_GROUP,
    EOF,
    FIXED32,
    FIXED64,
    LENGTH,
    START_GROUP,
    VARINT,
    ProtobufError,
    as_text,
)

EACH: Final = 4096  # bytes between two turns of other threads
_LOW: Final = 0xFFFFFFFF


class Scanner:
    """Of `data`, whose `text` has a sign for each byte. `at` is the place to go on from."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.text = data.decode("latin-1")
        self.at: i64 = 0
        self.pause: i64 = 0  # where it is time to give way

    def varint(self, end: i64) -> i64:
        """A number, signed."""
        data, at = self.data, self.at
        value: i64 = 0
        shift: i64 = 0
        while at < end:
            byte: i64 = data[at]
            at += 1
            if shift == 63:
                if byte > 127:
                    raise ProtobufError("proto: integer overflow")
                if byte & 1:
                    value = value - (1 << 62) - (1 << 62)
                self.at = at
                return value
            value |= (byte & 127) << shift
            if byte < 128:
                self.at = at
                return value
            shift += 7
        raise ProtobufError(EOF)

    def stop(self, end: i64) -> i64:
        """Where the payload ends whose length comes next."""
        size = self.varint(end)
        if size < 0:
            raise ProtobufError("proto: negative length found during unmarshaling")
        if size > end - self.at:
            raise ProtobufError(EOF)
        return self.at + size

    def string(self, at: i64, stop: i64) -> str:
        """The text there."""
        if at == stop:
            return ""
        text = self.text[at:stop]
        return text if text.isascii() else as_text(self.data[at:stop])

    def skip(self, wire: i64, end: i64) -> None:
        """Steps over an unknown field's value, groups included."""
        depth: i64 = 0
        while True:
            if self.at >= self.pause:
                self.pause = self.at + EACH
                give_way()
            if wire == VARINT:
                self.varint(end)
            elif wire == FIXED64:
                self.at += 8
            elif wire == LENGTH:
                self.at = self.stop(end)
            elif wire == FIXED32:
                self.at += 4
            elif wire == START_GROUP:
                depth += 1
            elif wire == END_GROUP:
                if not depth:
                    raise ProtobufError("proto: unexpected end of group")
                depth -= 1
            else:
                raise ProtobufError(f"proto: illegal wireType {wire}")
            if self.at > end:
                raise ProtobufError(EOF)
            if not depth:
                return
            wire = self.varint(end) & 7


def amount(data: bytes, text: str, at: i64, stop: i64) -> str:
    """A quantity that is surely shown as it was sent; "" where that is not sure."""
    at += 2
    if stop - at < 1 or stop - at > 20 or data[at - 2] != 10 or data[at - 1] != stop - at:
        return ""
    begin = at
    value: i64 = 0
    while at < stop and 48 <= data[at] <= 57:
        value = value * 10 + data[at] - 48
        at += 1
    digits = at - begin
    if not 0 < digits <= 18 or data[begin] == 48:
        return ""
    if at == stop or (at + 1 == stop and chr(data[at]) in "numkMGTPE"):
        return text[begin:stop] if value % 1000 else ""
    if data[at] == 46 and digits <= 12 and at + 1 < stop <= at + 3 and data[stop - 1] != 48:
        fraction = text[at + 1 : stop]
        if fraction.isascii() and fraction.isdigit():
            return text[begin:at] + fraction + ("00m" if stop == at + 2 else "0m")
    if at + 2 == stop and data[at + 1] == 105 and chr(data[at]) in "KMG" and digits <= 9 and value % 1024:
        return text[begin:stop]
    return ""


def as_int32(value: i64) -> i64:
    """Its low 32 bits, signed."""
    value &= _LOW
    return value - (1 << 32) if value >> 31 else value
