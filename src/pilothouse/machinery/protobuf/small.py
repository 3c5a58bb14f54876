"""Small fields that follow one another: unknown ones are stepped over, of plain ones the last is found, at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import cache
from typing import Any, Final

from pilothouse.machinery.protobuf.wire import FIXED32, FIXED64, LENGTH, VARINT

_PIECE: Final = 4 << 10  # bytes that are searched at once
_SHORT: Final = 32  # bytes of a text of which the last is looked for: longer ones are fewer


def _texts(sizes: Iterable[int]) -> bytes:
    """An expression for a text that has one of these lengths, which stand in front."""
    return b"(?:%b)" % b"|".join(b"%b.{%d}" % (re.escape(bytes((size,))), size) for size in sizes)


_VALUES: Final = {
    VARINT: rb"[\x80-\xff]{0,9}[\x00-\x7f]", FIXED64: rb".{8}", LENGTH: _texts(range(128)), FIXED32: rb".{4}",
}  # fmt: skip
_TINY: Final = {VARINT: rb"[\x00-\x7f]", LENGTH: rb"\x00"}  # the most of them, where there are many


def _any_of(found: Collection[int]) -> bytes:
    """An expression for one of these bytes."""
    return b"[%b]" % b"".join(re.escape(bytes((byte,))) for byte in found) if found else b"(?!)"


@cache
def numbers_with(tag: int) -> Callable[[bytes, int, int], re.Match[bytes] | None]:
    """Finds fields with this tag of one byte, which are numbers, one behind the other."""
    return re.compile(b"(?:%b%b)*" % (re.escape(bytes((tag,))), _VALUES[VARINT]), re.S).match


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

    __slots__ = ("_groups", "_run", "_take")

    def __init__(self, tags: Collection[int]) -> None:
        self._groups = (*tags, *tags)
        tiny = [b"%b(%b)" % (re.escape(bytes((tag,))), _TINY.get(tag & 7, b"(?!)")) for tag in tags]
        values = {**_VALUES, LENGTH: _texts(range(_SHORT))}
        more = [b"%b(%b)" % (re.escape(bytes((tag,))), values[tag & 7]) for tag in tags]
        self._take = re.compile(b"(?:%b)*" % b"|".join([*tiny, *more]), re.S).match
        any_tag = {wire: _any_of([tag for tag in tags if tag & 7 == wire]) for wire in values}
        fields = [any_tag[wire] + value for wire, value in (*_TINY.items(), *values.items())]
        self._run = re.compile(b"(?:%b)*" % b"|".join(fields), re.S).match  # as `_take`, in half the time

    def take(self, data: bytes, at: int, end: int, found: dict[int, Any]) -> int:
        """Puts the last of each number into `found`, of those that begin at `at`; the place behind them."""
        places = [at]
        while taken := self._run(data, at, min(at + _PIECE, end)):
            if taken.end() == at:
                break
            at = taken.end()
            places.append(at)
        missing = set(self._groups)
        for start, stop in zip(places[-2::-1], places[:0:-1], strict=True):
            if any(data.find(tag, start, stop) >= 0 for tag in missing):
                self._put(data, start, stop, missing, found)
        return at

    def _put(self, data: bytes, start: int, stop: int, missing: set[int], found: dict[int, Any]) -> None:
        """The last of each of the fields in a piece of which those that come later have none."""
        last: dict[int, tuple[int, int]] = {}  # by tag: where its value is
        spans = taken.regs[1:] if (taken := self._take(data, start, stop)) else ()
        for tag, span in zip(self._groups, spans, strict=False):
            last[tag] = max(last.get(tag, (-1, -1)), span)
        for tag, (begin, behind) in last.items():
            if begin >= 0 and tag in missing:
                missing.discard(tag)
                found[tag >> 3] = data[begin - 1 : behind]
