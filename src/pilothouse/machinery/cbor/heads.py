"""The heads of items: a major type, and a number that is the value, a length, a count or a tag."""

from __future__ import annotations

from pilothouse.machinery.cbor.model import BYTES, INDEFINITE, MAP, SIMPLE, TYPES, CBORError

EOF = "unexpected EOF"
BREAK_CODE = 'cbor: unexpected "break" code'


def head(data: bytes, at: int) -> tuple[int, int, int]:
    """(major type, argument, place behind) of the item at `at`; the argument of an indefinite length is -1.

    Raises CBORError.
    """
    if at >= len(data):
        raise CBORError(EOF)
    major, info = data[at] >> 5, data[at] & 31
    if info < 24:
        return major, info, at + 1
    if info < 28:
        size = 1 << (info - 24)
        if at + 1 + size > len(data):
            raise CBORError(EOF)
        value = int.from_bytes(data[at + 1 : at + 1 + size], "big")
        if major == SIMPLE and info == 24 and value < 32:
            raise CBORError(f"cbor: invalid simple value {value} for type primitives")
        return major, value, at + 1 + size
    if info == INDEFINITE and BYTES <= major <= MAP:
        return major, -1, at + 1
    if info == INDEFINITE and major == SIMPLE:
        raise CBORError(BREAK_CODE)
    raise CBORError(f"cbor: invalid additional information {info} for type {TYPES[major]}")
