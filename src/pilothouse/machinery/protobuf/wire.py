"""The bytes of protobuf that need no schema: errors, varints, texts.

The codec works on text in which each character stands for one byte (Latin-1): joining and slicing such text is what
CPython does fastest, and an ASCII string of an object is its own wire form.
"""

from __future__ import annotations

from typing import Final

from pilothouse.kit.wholetext import whole_text

U64: Final = (1 << 64) - 1
VARINT: Final = 0
FIXED64: Final = 1
LENGTH: Final = 2
START_GROUP: Final = 3
END_GROUP: Final = 4
FIXED32: Final = 5
EOF: Final = "unexpected EOF"


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
        raise ProtobufError(EOF) from None
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


def wide(text: str) -> str:
    """The wire text of a string that is not ASCII. What is half of a surrogate pair becomes U+FFFD."""
    try:
        return text.encode().decode("latin-1")
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return whole.encode().decode("latin-1")


def narrow(wire: str) -> str:
    """The string behind wire text that is not ASCII."""
    return as_text(wire.encode("latin-1"))


def as_text(data: bytes) -> str:
    """The string in these bytes. Each byte that is no UTF-8 becomes one U+FFFD, as in Go's JSON."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return whole_text(data.decode("utf-8", "surrogateescape"))
