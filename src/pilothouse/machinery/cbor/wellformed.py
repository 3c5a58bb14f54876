"""Whether bytes are one whole data item, whatever it means: what the original asks before it reads."""

from __future__ import annotations

import re

from pilothouse.machinery.cbor.model import (
    ARRAY,
    BREAK,
    BYTES,
    INDEFINITE,
    MAP,
    MAX_DEPTH,
    SIMPLE,
    TAG,
    TEXT,
    TYPES,
    UNSIGNED,
    CBORError,
)

_EOF = "unexpected EOF"
_TINY = re.compile(rb"[\x00-\x17\x20-\x37\x40\x60\xe0-\xf7]+")  # items of one byte that hold no others


def head(data: bytes, at: int) -> tuple[int, int, int]:
    """(major type, argument, place behind) of the item at `at`; the argument of an indefinite length is -1."""
    if at >= len(data):
        raise CBORError(_EOF)
    major, info = data[at] >> 5, data[at] & 31
    if info < 24:
        return major, info, at + 1
    if info < 28:
        size = 1 << (info - 24)
        if at + 1 + size > len(data):
            raise CBORError(_EOF)
        value = int.from_bytes(data[at + 1 : at + 1 + size], "big")
        if major == SIMPLE and info == 24 and value < 32:
            raise CBORError(f"cbor: invalid simple value {value} for type primitives")
        return major, value, at + 1 + size
    if info == INDEFINITE and (BYTES <= major <= MAP or major == SIMPLE):
        return major, -1, at + 1
    raise CBORError(f"cbor: invalid additional information {info} for type {TYPES[major]}")


def check(data: bytes) -> int:
    """The place behind the first item. Raises CBORError in the original's words."""
    return _item(data, 0, 0)


def end_of(data: bytes, at: int) -> int:
    """The place behind the item at `at`. Raises CBORError."""
    return _item(data, at, 0)


def _item(data: bytes, at: int, depth: int) -> int:
    if depth > MAX_DEPTH:
        raise CBORError(f"cbor: exceeded max nested level {MAX_DEPTH}")
    if at < len(data) and data[at] == BREAK:
        raise CBORError('cbor: unexpected "break" code')
    major, argument, at = head(data, at)
    if major in (BYTES, TEXT):
        if argument < 0:
            return _chunks(data, at, major)
        if argument > len(data) - at:
            raise CBORError(_EOF)
        return at + argument
    if major in (ARRAY, MAP):
        return _items(data, at, major, argument, depth + 1)
    if major == TAG:
        return _item(data, at, depth + 1)
    return at


def _chunks(data: bytes, at: int, major: int) -> int:
    while True:
        if at < len(data) and data[at] == BREAK:
            return at + 1
        found, argument, at = head(data, at)
        if found != major or argument < 0:
            raise CBORError(f"cbor: wrong element type {TYPES[found]} for indefinite-length {TYPES[major]}")
        at += argument
        if at > len(data):
            raise CBORError(_EOF)


def _items(data: bytes, at: int, major: int, count: int, depth: int) -> int:
    if depth > MAX_DEPTH:
        raise CBORError(f"cbor: exceeded max nested level {MAX_DEPTH}")
    if count >= 0:
        left = count if major == ARRAY else 2 * count
        while left:
            found = _TINY.match(data, at, min(at + left, len(data)))
            run = found.end() - at if found is not None else 0
            left, at = left - run, at + run
            if left:
                at = _item(data, at, depth)
                left -= 1
        return at
    number = UNSIGNED
    while at >= len(data) or data[at] != BREAK:
        at = _item(data, at, depth)
        number += 1
    if major == MAP and number % 2:
        raise CBORError('cbor: unexpected "break" code')
    return at + 1
