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
    CBORError,
)

_EOF = "unexpected EOF"
_TOO_DEEP = f"cbor: exceeded max nested level {MAX_DEPTH}"
_RUN = re.compile(rb"[\x00-\x17\x20-\x37\x40\x60\xe0-\xf7]+")  # items of one byte that hold no others


def _size(first: int) -> int:
    """How long an item that begins with this byte is, if it tells; 0 for what must be looked at."""
    major, info = first >> 5, first & 31
    if info > 27 or major in (ARRAY, MAP, TAG) or (major == SIMPLE and info == 24):
        return 0
    if info < 24:
        return 1 + (info if major in (BYTES, TEXT) else 0)
    return 0 if major in (BYTES, TEXT) else 1 + (1 << (info - 24))


_SIZES = tuple(_size(first) for first in range(256))


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
    return end_of(data, 0)


def end_of(data: bytes, at: int) -> int:
    """The place behind the item at `at`. Raises CBORError."""
    try:
        at = _end(data, at)
    except IndexError:
        raise CBORError(_EOF) from None
    if at > len(data):
        raise CBORError(_EOF)
    return at


def _end(data: bytes, at: int) -> int:
    """The same, which may lie behind the data where that ends too early. May raise IndexError for that."""
    left, is_map, depth = 1, False, 0  # items to come (-1 and less: their end is marked), what they are in, how deep
    stack: list[tuple[int, bool, int]] = []
    while True:
        while left:
            first = data[at]
            size = _SIZES[first]
            if size:
                at += size
                left -= 1
                if size == 1 and left and _SIZES[data[at]] == 1:
                    found = _RUN.match(data, at, min(at + left, len(data)) if left > 0 else len(data))
                    at, left = (found.end(), left - len(found[0])) if found is not None else (at, left)
                continue
            if first == BREAK:
                if left > 0 or (is_map and not left % 2):
                    raise CBORError('cbor: unexpected "break" code')
                at += 1
                break
            left -= 1
            major, count, at, deep = _long(data, at, depth)
            if major in (ARRAY, MAP):
                stack.append((left, is_map, depth))
                left, is_map, depth = count * 2 if major == MAP and count > 0 else count, major == MAP, deep
        if not stack:
            return at
        left, is_map, depth = stack.pop()


def _long(data: bytes, at: int, depth: int) -> tuple[int, int, int, int]:
    """Steps over an item that is no short one: its type, how many items a container has, the place behind it or
    behind a container's head, and how deep a container's items are.
    """
    major, argument, at = head(data, at)
    while major == TAG:
        depth += 1
        if depth > MAX_DEPTH:
            raise CBORError(_TOO_DEEP)
        if data[at] == BREAK:
            raise CBORError('cbor: unexpected "break" code')
        major, argument, at = head(data, at)
    if major in (BYTES, TEXT):
        if argument < 0:
            at = _chunks(data, at, major)
        elif argument > len(data) - at:
            raise CBORError(_EOF)
        else:
            at += argument
    elif major in (ARRAY, MAP) and depth == MAX_DEPTH:
        raise CBORError(_TOO_DEEP)
    return major, argument, at, depth + 1


def _chunks(data: bytes, at: int, major: int) -> int:
    short = major << 5
    while (first := data[at]) != BREAK:
        if short <= first < short + 24:
            at += first - short + 1
            continue
        found, argument, at = head(data, at)
        if found != major or argument < 0:
            raise CBORError(f"cbor: wrong element type {TYPES[found]} for indefinite-length {TYPES[major]}")
        at += argument
    return at + 1
