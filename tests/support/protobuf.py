"""Protobuf without a schema, in a few lines of varints. Nothing of our own codec is used."""

from __future__ import annotations


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number: int, value: bytes | str) -> bytes:
    """A field of texts, bytes or messages."""
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at a place, and the place behind it."""
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def fields(message: bytes) -> list[tuple[int, int | bytes]]:
    """Numbers and values of a message: ints, 8 bytes, or the bytes of what has a length."""
    found: list[tuple[int, int | bytes]] = []
    at = 0
    while at < len(message):
        key, at = read_varint(message, at)
        if key & 7 == 0:
            value, at = read_varint(message, at)
            found.append((key >> 3, value))
            continue
        assert key & 7 in (1, 2), f"wire type {key & 7}"
        size, at = (8, at) if key & 7 == 1 else read_varint(message, at)
        found.append((key >> 3, message[at : at + size]))
        at += size
    return found
