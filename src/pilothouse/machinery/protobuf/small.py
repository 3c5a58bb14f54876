"""Small fields that follow one another: unknown ones are stepped over, of plain ones the last is found, at once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any, Final

from pilothouse.machinery.protobuf.wire import FIXED32, FIXED64, LENGTH, VARINT

_PIECE: Final = 4 << 10  # bytes that are searched at once
_SHORT: Final = 32  # bytes of a text of which the last is looked for: longer ones are fewer


def _texts(sizes: Iterable[int]) -> bytes:
    """An expression for a text that has one of these lengths, which stand in front."""
    return b"(?:%b)" % b"|".join(b"%b.{%d}" % (re.escape(bytes((size,))), size) for size in sizes)


_VALUES: Final = {
    VARINT: rb"[\x80-\xff]{0,8}[\x00-\x7f]", FIXED64: rb".{8}", LENGTH: _texts(range(128)), FIXED32: rb".{4}",
}  # fmt: skip
_TINY: Final = {VARINT: rb"[\x00-\x7f]", LENGTH: rb"\x00"}  # the most of them, where there are many


def _any_of(found: Collection[int]) -> bytes:
    """An expression for one of these bytes."""
    return b"[%b]" % b"".join(re.escape(bytes((byte,))) for byte in found) if found else b"(?!)"


class Unknown:
    """Of a message type with the fields `numbers`."""

    __slots__ = ("_run",)

    def __init__(self, numbers: Collection[int]) -> None:
        long: dict[int, list[int]] = {}  # of known tags of two bytes: the first ones by the second
        for number in numbers:
            if 15 < number < 2048:
                long.setdefault(number >> 4, []).extend(number << 3 & 127 | 128 | wire for wire in _VALUES)
        known = b"|".join(_any_of(first) + re.escape(bytes((second,))) for second, first in long.items())
        fields = []
        for wire, value in _VALUES.items():
            fields.append(_any_of(range(128 | wire, 256, 8)) + b"[\x01-\x7f]" + value)
            fields.append(_any_of([number << 3 | wire for number in range(1, 16) if number not in numbers]) + value)
        self._run = re.compile(b"(?:%b(?:%b))*" % (b"(?!%b)" % known if known else b"", b"|".join(fields)), re.S).match

    def skip(self, data: bytes, at: int, end: int) -> int:
        """The place behind unknown fields that begin at `at`; those that it does not step over may be unknown too."""
        found = self._run(data, at, end)
        return found.end() if found else at


class Single:
    """Of fields that are texts or numbers, of which the last counts. `tags` are those of one byte."""

    __slots__ = ("_groups", "_run")

    def __init__(self, tags: Collection[int]) -> None:
        self._groups = [(group, tag >> 3) for group, tag in enumerate((*tags, *tags), 1)]
        tiny = [b"%b(%b)" % (re.escape(bytes((tag,))), _TINY.get(tag & 7, b"(?!)")) for tag in tags]
        values = {**_VALUES, LENGTH: _texts(range(_SHORT))}
        more = [b"%b(%b)" % (re.escape(bytes((tag,))), values[tag & 7]) for tag in tags]
        self._run = re.compile(b"(?:%b)*" % b"|".join([*tiny, *more]), re.S).match

    def take(self, data: bytes, at: int, end: int, found: dict[int, Any]) -> tuple[int, bool]:
        """Puts the last of each number that begins at `at`; the place behind them, and whether more may follow."""
        taken = self._run(data, at, min(at + _PIECE, end))
        if not taken or taken.end() == at:
            return at, False
        last: dict[int, int] = {}  # by number: where its value begins
        for group, number in self._groups:
            start, stop = taken.span(group)
            if start > last.get(number, -1):
                last[number] = start
                found[number] = data[start - 1 : stop]
        return taken.end(), taken.end() - at > _PIECE // 2
