"""Numbers of a list that are packed into one field: a mebibyte may hold a million of them, so no step is one number's.

A number is its bits in groups of seven, a byte each, the lowest first. Where no number has more than eight bytes, all
of them together are taken as one very long integer, in which each has 64 bits: three steps move the groups together.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Final, TypeVar

from pilothouse.machinery.protobuf.wire import VARINTS, ProtobufError, read_int32, read_int64, read_unsigned

T = TypeVar("T")

_VARINT: Final = re.compile(rb"[\x80-\xff]*+[\x00-\x7f]")
_LONGER: Final = re.compile(rb"[\x80-\xff]++[\x00-\x7f]")
_ONES: Final = bytes(range(128))  # where a number ends
_MOST: Final = 5  # bytes for one that another one follows in the same number
_PIECE: Final = 16 << 10  # bytes that are taken at once
# What of 64 bits stays, what moves down, and by how many bits: groups of 7 bits become 14, 28, 56.
_STEPS: Final = (
    (b"\x7f\0" * 4, b"\0\x7f" * 4, 1),
    (b"\xff\x3f\0\0" * 2, b"\0\0\xff\x3f" * 2, 2),
    (b"\xff\xff\xff\x0f\0\0\0\0", b"\0\0\0\0\xff\xff\xff\x0f", 4),
)


def packed_int64(data: bytes) -> list[int]:
    """The signed numbers of a packed list. Raises ProtobufError."""
    return list(data) if data.isascii() else _in_pieces(data, lambda piece: _apart(piece, _signed64))


def packed_int32(data: bytes) -> list[int]:
    """As `packed_int64`; the low 32 bits of each, signed."""
    return list(data) if data.isascii() else _in_pieces(data, lambda piece: _apart(piece, _signed32))


def packed_texts(data: bytes) -> list[bytes]:
    """The numbers as the original writes them. Raises ProtobufError."""
    return _in_pieces(data, lambda piece: _shortest(_VARINT.findall(piece)))


def _in_pieces(data: bytes, make: Callable[[bytes], list[T]]) -> list[T]:
    """What `make` makes of pieces, in which numbers are whole."""
    found: list[T] = []
    made: dict[bytes, list[T]] = {}  # by piece: few of them differ if they are meant to hurt
    at = 0
    while at < len(data):
        end = min(at + _PIECE, len(data))
        while end > at and data[end - 1] > 127:
            end -= 1
        if end == at:
            raise ProtobufError("unexpected EOF")
        piece = data[at:end]
        if piece not in made:
            made[piece] = make(piece)
        found += made[piece]
        at = end
    return found


def _apart(piece: bytes, make: Callable[[list[bytes]], list[int]]) -> list[int]:
    """The numbers. Those of one byte are taken as they are, if they are most of all; `make` makes the others."""
    if len(piece.translate(None, _ONES)) * _MOST > len(piece):
        return make(_VARINT.findall(piece))
    longer = _LONGER.findall(piece)
    found: list[int] = []
    singles = _LONGER.split(piece)
    last = singles.pop()
    for ones, number in zip(singles, make(longer), strict=True):
        found += ones
        found.append(number)
    found += last
    return found


def _signed64(texts: list[bytes]) -> list[int]:
    if max(map(len, texts), default=0) > 8:
        return [read_int64(text, 0)[0] for text in texts]
    return list(struct.unpack(f"<{len(texts)}Q", _as_64_bits(texts)))


def _signed32(texts: list[bytes]) -> list[int]:
    if max(map(len, texts), default=0) > 8:
        return [read_int32(text, 0)[0] for text in texts]
    return list(struct.unpack(f"<{2 * len(texts)}i", _as_64_bits(texts))[::2])


def _as_64_bits(texts: list[bytes]) -> bytes:
    count = len(texts)
    numbers = int.from_bytes(struct.pack("8s" * count, *texts), "little")
    for stays, moves, by in _STEPS:
        moved = (numbers & int.from_bytes(moves * count, "little")) >> by
        numbers = numbers & int.from_bytes(stays * count, "little") | moved
    return numbers.to_bytes(8 * count, "little")


def _shortest(texts: list[bytes]) -> list[bytes]:
    return [
        text if text[-1] and len(text) < 10 else VARINTS[read_unsigned(text, 0)[0]].encode("latin-1") for text in texts
    ]
