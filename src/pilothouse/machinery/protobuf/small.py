"""Small fields that follow one another: unknown ones are stepped over, of plain ones the last is found, at once."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Final

from pilothouse.machinery.protobuf.wire import FIXED32, FIXED64, LENGTH, VARINT

_PIECE: Final = 4 << 10  # bytes that are searched at once
_MANY: Final = 512  # fields in so many bytes
_VALUES: Final = {
    VARINT: rb"[\x80-\xff]{0,8}[\x00-\x7f]",
    FIXED64: rb".{8}",
    LENGTH: rb"(?:%b)" % b"|".join(b"%b.{%d}" % (re.escape(bytes((size,))), size) for size in range(128)),
    FIXED32: rb".{4}",
}


def _any_of(found: Collection[int]) -> bytes:
    """An expression for one of these bytes."""
    return b"[%b]" % b"".join(re.escape(bytes((byte,))) for byte in found) if found else b"(?!)"


class Unknown:
    """Of a message type with the fields `numbers`."""

    __slots__ = ("_run",)

    def __init__(self, numbers: Collection[int]) -> None:
        long = b"|".join(
            re.escape(bytes((number << 3 & 127 | 128 | wire, number >> 4)))
            for number in numbers
            for wire in _VALUES
            if 15 < number < 2048
        )
        fields = []
        for wire, value in _VALUES.items():
            first = _any_of([number << 3 | wire for number in range(1, 16) if number not in numbers])
            more = _any_of(range(128 | wire, 256, 8))
            fields.append(b"(?:%b|%b[\x01-\x7f])%b" % (first, more, value))
        known = b"(?!%b)" % long if long else b""
        self._run = re.compile(b"(?:%b(?:%b))*" % (known, b"|".join(fields)), re.DOTALL).match

    def skip(self, data: bytes, at: int, end: int) -> int:
        """The place behind unknown fields that begin at `at`; those that it does not step over may be unknown too."""
        found = self._run(data, at, end)
        return found.end() if found else at


class Single:
    """Of fields that are texts or numbers, of which the last counts. `tags` are those of one byte."""

    __slots__ = ("_find",)

    def __init__(self, tags: Collection[int]) -> None:
        fields = (_any_of([tag for tag in tags if tag & 7 == wire]) + value for wire, value in _VALUES.items())
        self._find = re.compile(b"(%b)|.+" % b"|".join(fields), re.DOTALL).findall

    def take(self, data: bytes, at: int, end: int, found: dict[int, Any]) -> tuple[int, bool]:
        """Puts the last of each number that begins at `at`; the place behind them, and whether they were many."""
        taken = self._find(data, at, min(at + _PIECE, end))
        if taken and not taken[-1]:
            taken.pop()
        for tag, field in {field[0]: field for field in taken}.items():
            found[tag >> 3] = field
        return at + sum(map(len, taken)), len(taken) > _MANY
