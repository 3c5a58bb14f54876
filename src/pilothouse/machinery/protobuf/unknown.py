"""Fields that a type does not know: one expression steps over all that follow one another and are small."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from pilothouse.machinery.protobuf.wire import FIXED32, FIXED64, LENGTH, VARINT

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
