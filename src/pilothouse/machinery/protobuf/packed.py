"""Numbers of a list that are packed into one field: a mebibyte may hold a million of them, so no step is one number's.

A number is groups of seven bits, a byte each, the lowest first; the highest bit says that it goes on. A piece of the
field is taken as one very long integer. Moved by a byte, by two, ..., it holds at the place where a number begins its
second group, its third, and so on. What is at other places is deleted.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.protobuf.wire import ProtobufError

_PIECE: Final = 16 << 10  # bytes that are taken at once
_MOST: Final = 10  # groups of a number
_ONE: Final = int.from_bytes(b"\1" * _PIECE, "little")  # of each byte
_GROUP: Final = _ONE * 127
_NONE: Final = b"\xff"  # no group
_LOW: Final = 4  # groups that all belong to the lower 32 bits; of the next one only half
_LOW_HALF: Final = bytes(byte & 15 for byte in range(256))
_HIGH_HALF: Final = bytes(byte >> 4 for byte in range(256))
_LAST: Final = bytes(byte & 1 for byte in range(256))  # of the tenth group: there are but 64 bits


def packed_int64(data: bytes) -> list[int]:
    """The signed numbers of a packed list. Raises ProtobufError."""
    return _in_pieces(data, _signed64)


def packed_int32(data: bytes) -> list[int]:
    """As `packed_int64`; the low 32 bits of each, signed."""
    return _in_pieces(data, _signed32)


def packed_bool(data: bytes) -> list[bool]:
    """As `packed_int64`, of truth values."""
    return [*map(bool, packed_int64(data))]


PACKED: Final[Mapping[str, Callable[[bytes], list[int]] | Callable[[bytes], list[bool]]]] = {
    s.INT32: packed_int32, s.INT64: packed_int64, s.BOOL: packed_bool,
}  # fmt: skip


def check_packed(data: bytes) -> None:
    """Raises ProtobufError for what is no packed list of numbers."""
    _in_pieces(data, lambda groups: ())


def _in_pieces(data: bytes, make: Callable[[list[bytes]], tuple[int, ...]]) -> list[int]:
    """What `make` makes of the groups of pieces, in which numbers are whole."""
    if data.isascii():
        return list(data)
    found: list[int] = []
    made: dict[bytes, tuple[int, ...]] = {}  # by piece: few of them differ if they are meant to hurt
    at = 0
    while at < len(data):
        piece = whole_numbers(data, at, min(at + _PIECE, len(data)))
        if not piece:
            raise ProtobufError("unexpected EOF")
        if piece not in made:
            made[piece] = make(_groups(piece))
        found += made[piece]
        at += len(piece)
    return found


def whole_numbers(data: bytes, at: int, end: int) -> bytes:
    """data[at:end] without a number that goes on behind it."""
    while end > at and data[end - 1] > 127:
        end -= 1
    return data[at:end]


def _groups(piece: bytes) -> list[bytes]:
    """The lowest groups of all numbers, the next ones, and so on; a zero for a number that has none so high."""
    size = len(piece)
    whole = int.from_bytes(piece, "little")
    ends = whole & _GROUP
    on = whole >> 7 & _ONE
    within = _each_bit(on << 8)  # where no number begins
    found = [(ends | within).to_bytes(size, "little").translate(None, _NONE)]
    more = on
    while more:
        if len(found) == _MOST:
            raise ProtobufError("proto: integer overflow")
        bits = 8 * len(found)
        groups = ends >> bits & _each_bit(more) | within
        found.append(groups.to_bytes(size, "little").translate(None, _NONE))
        more &= on >> bits
    return found


def _each_bit(ones: int) -> int:
    """All bits of those bytes that are one."""
    return (ones << 8) - ones


def _signed64(groups: list[bytes]) -> tuple[int, ...]:
    count = len(groups[0])
    if len(groups) == 1:
        return tuple(groups[0])
    if len(groups) == 2:
        return struct.unpack(f"<{count}H", _joined("utf-16-le", groups))
    if len(groups) <= _LOW:
        return struct.unpack(f"<{count}I", _joined("utf-32-le", groups))
    halves = memoryview(bytearray(8 * count)).cast("I")
    halves[::2] = memoryview(_low(groups)).cast("I")
    halves[1::2] = memoryview(_high(groups)).cast("I")
    return struct.unpack(f"<{count}q", halves)


def _signed32(groups: list[bytes]) -> tuple[int, ...]:
    return _signed64(groups) if len(groups) <= _LOW else struct.unpack(f"<{len(groups[0])}i", _low(groups))


def _low(groups: list[bytes]) -> bytes:
    """The lower 32 bits of each number."""
    return _joined("utf-32-le", [*groups[:_LOW], groups[_LOW].translate(_LOW_HALF)])


def _high(groups: list[bytes]) -> bytes:
    """The upper 32 bits."""
    rest = [*groups[_LOW + 1 : _MOST - 1], *(group.translate(_LAST) for group in groups[_MOST - 1 :])]
    return _joined("utf-32-le", rest, groups[_LOW].translate(_HIGH_HALF), 3)


def _joined(wide: str, groups: list[bytes], first: bytes = b"", bits: int = 0) -> bytes:
    """The numbers, each as long as a sign of the encoding. `first`: so many bits that come before the groups."""
    text = (first or groups[0]).decode("latin-1").encode(wide)
    whole = int.from_bytes(text, "little") if first else 0
    for place, group in enumerate(groups):
        whole |= int.from_bytes(group.decode("latin-1").encode(wide), "little") << 7 * place + bits
    return whole.to_bytes(len(text), "little")
