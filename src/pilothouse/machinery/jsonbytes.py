"""What has to be asked of a document byte by byte: whether it goes too deep, and where it is no UTF-8. Compiled."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from pilothouse.kit.giveway import give_way
from pilothouse.kit.wholetext import whole_text

_INSTEAD: Final = b"\xef\xbf\xbd"  # U+FFFD
_MANY: Final = 80_000  # such bytes, from which on Python's own decoder and encoder are faster
_TURN: Final = 32 << 10  # bytes between two looks whether others wait


def goes_deeper(data: bytes, most: int) -> bool:
    """Whether more than `most` brackets are open somewhere in a document, if it is JSON up to there."""
    end: i64 = len(data)
    limit: i64 = most
    at: i64 = 0
    level: i64 = 0
    turn: i64 = _TURN
    inside = False
    while at < end:
        if at >= turn:
            turn = at + _TURN
            give_way()
        byte: i64 = data[at]
        at += 1
        if inside:
            if byte == 0x5C:
                at += 1
            elif byte == 0x22:
                inside = False
        elif byte == 0x22:
            inside = True
        elif byte == 0x7B or byte == 0x5B:
            level += 1
            if level > limit:
                return True
        elif byte == 0x7D or byte == 0x5D:
            level -= 1
    return False


def with_whole_signs(data: bytes) -> bytes:
    """A document with U+FFFD for each byte that is not part of a sign in UTF-8."""
    parts: list[bytes] = []
    end: i64 = len(data)
    start: i64 = 0
    at: i64 = 0
    turn: i64 = _TURN
    while at < end:
        if at >= turn:
            turn = at + _TURN
            give_way()
        if data[at] < 0x80:
            at += 1
            continue
        length = _length(data, at, end)
        if length:
            at += length
        else:
            parts.append(data[start:at])
            if len(parts) == _MANY:
                return whole_text(data.decode("utf-8", "surrogateescape")).encode()
            at += 1
            start = at
    parts.append(data[start:])
    return _INSTEAD.join(parts)


def _length(data: bytes, at: i64, end: i64) -> i64:
    """Of the sign of several bytes that begins there; 0 if none does."""
    first: i64 = data[at]
    least: i64 = 0x80  # of the second byte,
    most: i64 = 0xBF  # and the highest
    length: i64 = 0
    if 0xC2 <= first <= 0xDF:
        length = 2
    elif 0xE0 <= first <= 0xEF:
        length = 3
        if first == 0xE0:
            least = 0xA0
        elif first == 0xED:  # halves of signs
            most = 0x9F
    elif 0xF0 <= first <= 0xF4:
        length = 4
        if first == 0xF0:
            least = 0x90
        elif first == 0xF4:
            most = 0x8F
    if length == 0 or at + length > end:
        return 0
    second: i64 = data[at + 1]
    if second < least or second > most:
        return 0
    place: i64 = at + 2
    while place < at + length:
        byte: i64 = data[place]
        if byte < 0x80 or byte > 0xBF:
            return 0
        place += 1
    return length
