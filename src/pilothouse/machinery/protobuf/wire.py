"""The bytes of protobuf that need no schema: errors, varints, texts.

The codec works on text in which each character stands for one byte (Latin-1): joining and slicing such text is what
CPython does fastest, and an ASCII string of an object is its own wire form.
"""

from __future__ import annotations

from typing import Final

from pilothouse.kit.wholetext import whole_text
from pilothouse.machinery.schema import Schema

U64: Final = (1 << 64) - 1
VARINT: Final = 0
FIXED64: Final = 1
LENGTH: Final = 2
START_GROUP: Final = 3
END_GROUP: Final = 4
FIXED32: Final = 5


class ProtobufError(ValueError):
    """Bytes that are no message of their type, or an object that its type cannot hold. The text is the original's."""


class BadValue(ProtobufError):
    """A value that its type refuses, however it is written."""


class TooMany(ProtobufError):
    """More messages than any object can hold. Looking closer would not help."""

    def __init__(self, name: str, most: int) -> None:
        super().__init__(f"proto: {name}: more than {most} messages")


class TooLong(TooMany):
    """As TooMany, once all that is left out is filled in."""


class Odd(Exception):
    """The straight-line decoder met what it does not expect; the careful one must look. Never leaves the package."""


class Loose(Odd):
    """A message in two parts, which must be read as one. Nothing is wrong so far."""


class Damaged(Odd):
    """As Odd, and where: the innermost message is data[start:end], of the type `schema`. `why` is what was raised.

    At `read` a field begins, and all before it is as it should be, unless that is beyond `end`.
    """

    def __init__(self, schema: Schema, data: bytes, start: int, read: int, end: int, why: Exception) -> None:
        super().__init__(schema.name)
        self.schema = schema
        self.data = data
        self.start = start
        self.read = read
        self.end = self._reach = end
        self.why = why

    def is_within(self, data: bytes, end: int) -> bool:
        """Whether it is of the same bytes as the message around it, which ends at `end`, and ends before it.

        If not, then what is wrong is the length that this one has in the message around it, or its fields had been put
        in another order. To be asked once of each message around it, from the inside to the outside.
        """
        if self.data is not data or self._reach > end:
            return False
        self._reach = end
        return True


def varint(number: int) -> str:
    """A 64-bit integer as wire text; negative ones in two's complement, so in ten bytes."""
    if not -(1 << 63) <= number <= U64:
        raise ProtobufError(f"integer {number} does not fit in 64 bits")
    number &= U64
    out = ""
    while number > 127:
        out += chr(number & 127 | 128)
        number >>= 7
    return out + chr(number)


class Varints(dict[int, str]):
    """Wire text by number: the small ones are made beforehand, others when asked (and not kept)."""

    def __missing__(self, number: int) -> str:
        if not isinstance(number, int):
            raise TypeError(f"expected an integer, got {type(number).__name__}")
        return varint(number)


VARINTS: Final = Varints((number, varint(number)) for number in range(4096))


def read_unsigned(data: bytes, at: int) -> tuple[int, int]:
    """The varint at `at` and the place behind it. Raises ProtobufError for one that does not end or does not fit."""
    try:
        value = data[at]
        if value < 128:
            return value, at + 1
        byte = data[at + 1]
        if byte < 128:
            return value & 127 | byte << 7, at + 2
        value = value & 127 | (byte & 127) << 7
        for shift in range(14, 64, 7):
            at += 1
            byte = data[at + 1]
            value |= (byte & 127) << shift
            if byte < 128:
                return value & U64, at + 2
    except IndexError:
        raise ProtobufError("unexpected EOF") from None
    raise ProtobufError("proto: integer overflow")


def read_int64(data: bytes, at: int) -> tuple[int, int]:
    """As read_unsigned, read as a signed number."""
    value, at = read_unsigned(data, at)
    return (value - (1 << 64) if value >> 63 else value), at


def read_int32(data: bytes, at: int) -> tuple[int, int]:
    """As read_unsigned; the low 32 bits, signed."""
    value, at = read_unsigned(data, at)
    value &= 0xFFFFFFFF
    return (value - (1 << 32) if value >> 31 else value), at


def run(data: bytes, start: int, at: int, end: int) -> int:
    """The place behind all copies of data[start:at] that follow one another from `at` on, none of them beyond `end`.

    Bodies that are meant to hurt are a million times the same few bytes.
    """
    size = step = at - start
    while data[at : at + step] == data[start : start + step] and at + step <= end:
        at += step
        step = at - start
    while step > size:
        step = step // size // 2 * size
        if data[at : at + step] == data[start : start + step] and at + step <= end:
            at += step
    return at


def wide(text: str) -> str:
    """The wire text of a string that is not ASCII. What is half of a surrogate pair becomes U+FFFD."""
    try:
        return text.encode().decode("latin-1")
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return whole.encode().decode("latin-1")


def narrow(wire: str) -> str:
    """The string behind wire text that is not ASCII. Each byte that is no UTF-8 becomes one U+FFFD, as in Go's JSON."""
    data = wire.encode("latin-1")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return whole_text(data.decode("utf-8", "surrogateescape"))
