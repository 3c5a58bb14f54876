"""The same few fields over and over: what hostile bodies are made of. They are read once, and then counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import orjson

from pilothouse.machinery.protobuf.absent import LONGEST_FILLED
from pilothouse.machinery.protobuf.packed import packed_int64, whole_numbers
from pilothouse.machinery.protobuf.plan import Slot
from pilothouse.machinery.protobuf.wire import VARINTS, ProtobufError, TooLong, run

_EACH: Final = 1024  # bytes that are read field by field between two looks
_LONGEST: Final = 512  # bytes of fields that are looked for
_KEY: Final = 16  # bytes that must come again for a closer look
_PIECE: Final = 16 << 10  # bytes of JSON that are parsed at once


class Again:
    """Watches a loop over fields, which asks it when it comes to a field at `look` or later."""

    __slots__ = ("begun", "counts", "look")

    def __init__(self, at: int) -> None:
        self.look = at + _EACH
        self.begun = -1  # where the fields begin of which the next ones seem to be copies
        self.counts: dict[int, int] = {}  # of values in each list, there

    def copies(self, data: bytes, at: int, end: int) -> tuple[int, int]:
        """The place to go on from, and how many copies of the fields behind `begun` are stepped over."""
        begun, self.begun = self.begun, -1
        if begun >= 0 and at == self.look:
            behind = run(data, begun, at, end)
            self.look = behind + _EACH
            return behind, (behind - at) // (at - begun)
        coming = data.find(data[at : at + _KEY], at + 1, min(at + _LONGEST + _KEY, end))
        if coming < 0:
            self.look = at + _EACH
        else:
            self.begun, self.look = at, coming
        return at, 0

    def step(self, data: bytes, at: int, end: int, found: dict[int, Any]) -> int:
        """The place to go on from. `found` may hold lists of plain values, to which the copies add."""
        at, copies = self.copies(data, at, end)
        if copies:
            for number, there in found.items():
                if there.__class__ is list:
                    there += there[self.counts.get(number, 0) :] * copies
        elif self.begun >= 0:
            self.counts = {number: len(there) for number, there in found.items() if there.__class__ is list}
        return at


class Numbers(Again):
    """As `Again`, of a list of numbers, each in a field of its own.

    Their tags are numbers too, so a piece of such fields is read as if they were packed, and every second one counts.
    """

    __slots__ = ("tag",)

    def __init__(self, tag: int, at: int) -> None:
        super().__init__(at)
        self.tag = tag

    def take(self, data: bytes, at: int, end: int, there: list[int]) -> int:
        """The place to go on from. Copies are added to the list, and numbers that differ."""
        before = at
        at = self.step(data, at, end, {0: there})
        if at > before or self.begun >= 0:
            return at
        piece = whole_numbers(data, at, min(at + _PIECE, end))
        try:
            found = packed_int64(piece)
        except ProtobufError:
            return at
        tags = found[::2]
        if tags.count(self.tag) < len(tags) or len(tags) < 2:
            return at
        there += found[1::2]
        behind = at + len(piece)
        self.look = behind if len(found) % 2 == 0 else behind - len(VARINTS[self.tag])  # whose number is cut off
        return self.look


class Messages(Again):
    """As `Again`, of a list of messages. It watches how long the list is as JSON, too."""

    __slots__ = ("length", "mark", "measured", "slot")

    def __init__(self, slot: Slot, at: int) -> None:
        super().__init__(at)
        self.slot = slot
        self.length = 0  # bytes of JSON of those that are measured
        self.measured = 0
        self.mark = 0  # how many there were at `begun`

    def grow(self, data: bytes, at: int, end: int, there: list[dict[str, Any]]) -> int:
        """The place to go on from. Copies are added to the list. Raises TooLong."""
        at, copies = self.copies(data, at, end)
        self._measure(there[self.measured :], 1)
        if copies:
            unit = there[self.mark :]
            self._measure(unit, copies)
            there.extend(_fresh(unit, copies))
        elif self.begun >= 0:
            self.mark = len(there)
        self.measured = len(there)
        return at

    def _measure(self, messages: list[dict[str, Any]], copies: int) -> None:
        """What they are at least once their defaults are there."""
        text = orjson.dumps(messages)
        length = len(text)
        for default in self.slot.schema.defaults:
            name = default.partition(b":")[0]
            length += len(default) * max(0, len(messages) - text.count(name))
        self.length += length * copies
        if self.length > LONGEST_FILLED:
            raise TooLong(self.slot.go_name, len(messages))


def _fresh(messages: list[dict[str, Any]], copies: int) -> Iterator[dict[str, Any]]:
    """Copies that share nothing. Parsing is the fastest way to make them."""
    text = orjson.dumps(messages)[1:-1]
    while copies > 0:
        several = min(copies, _PIECE // len(text) + 1)
        yield from orjson.loads(b"[" + b",".join([text] * several) + b"]")
        copies -= several
