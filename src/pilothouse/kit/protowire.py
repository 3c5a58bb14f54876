"""Fields on protobuf's wire, for the few small messages that are written by hand.

Objects of the API have compiled codecs of their own in `machinery/protobuf`; here is what a scrape, a profile and an
OpenAPI document need.
"""

from __future__ import annotations

import struct


def varint(value: int) -> bytes:
    """`value` (zero or more) in groups of seven bits, the lowest first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def lengthy(number: int, payload: bytes) -> bytes:
    """A field that has a length: text, bytes or a message."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def integer(number: int, value: int) -> bytes:
    """A field that holds an integer of zero or more."""
    return varint(number << 3) + varint(value)


def double(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + struct.pack("<d", value)
