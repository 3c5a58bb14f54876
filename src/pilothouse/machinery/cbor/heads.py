"""The heads of items: a major type, and a number that is the value, a length, a count or a tag.

With what else all that reads a document shares: the place, the first refusal, and the turns of other threads.
"""

from __future__ import annotations

import sys
from typing import Final

from mypy_extensions import i64

from pilothouse.kit.giveway import give_way
from pilothouse.machinery.cbor.model import INDEFINITE, MAX_DEPTH, TOO_DEEP, TYPES, CBORError, CBORTooLong

EOF: Final = "unexpected EOF"
BREAK_CODE: Final = 'cbor: unexpected "break" code'
_TURN: Final = 1 << 13  # bytes, of which each may be an item


class Heads:
    """`at`: the place behind what was read last. `text`: a sign for each byte of the data. `error`: the first thing
    that is refused; from then on all that counts is whether the rest is well-formed. `room`: bytes of JSON that may
    still come. `turn`: the place where others have their next turn.

    A place behind the end is found by who reads there (IndexError), or at the end of all.
    """

    __slots__ = ("at", "data", "end", "error", "room", "text", "turn")

    def __init__(self, data: bytes, room: int) -> None:
        self.data = data
        self.text = data.decode("latin-1")
        self.at: i64 = 0
        self.end: i64 = len(data)
        self.error: CBORError | None = None
        self.room: i64 = room - 1  # a container counts one byte for each of its items, and nobody does for the whole
        self.turn: i64 = _TURN

    def refuse(self, why: str) -> None:
        """All of it: but first it must be known whether the rest is well-formed."""
        if self.error is None:
            self.error = CBORError(why)
            self.room = sys.maxsize

    def pause(self, at: i64, length: i64) -> None:
        """Lets others have a turn, at this place, where `length` bytes of JSON are not yet counted."""
        self.turn = at + _TURN
        if length > self.room:
            raise CBORTooLong
        give_way()

    def take(self, length: i64) -> None:
        """Counts bytes of JSON."""
        self.room -= length
        if self.room < 0:
            raise CBORTooLong

    def argument(self) -> i64:
        """That of the head which is next. What does not fit 64 bits with a sign is below 0 where this is compiled."""
        data, at = self.data, self.at
        first: i64 = data[at]
        info: i64 = first & 31
        at += 1
        if info < 24:
            self.at = at
            return info
        if info > 27:
            raise CBORError(
                BREAK_CODE
                if first == 0xFF
                else f"cbor: invalid additional information {info} for type {TYPES[first >> 5]}"
            )
        behind: i64 = at + (1 << (info - 24))
        if behind > self.end:
            raise CBORError(EOF)
        value: i64 = data[at]
        at += 1
        while at < behind:
            byte: i64 = data[at]
            value = value << 8 | byte
            at += 1
        if first == 0xF8 and value < 32:
            raise CBORError(f"cbor: invalid simple value {value} for type primitives")
        self.at = at
        return value

    def count(self, first: i64, depth: i64) -> i64:
        """How many items, or pairs, the next container has, which is at `depth`; -1 where their end is marked."""
        count: i64 = first & 31
        if count < 24:
            self.at += 1
        elif count == INDEFINITE:
            self.at += 1
            count = -1
        else:
            count = self.argument()
        if count > self.end - self.at or (count < 0 and first & 31 != INDEFINITE):
            self.refuse(EOF)  # whatever comes
            count = self.end
        if depth >= MAX_DEPTH:
            raise CBORError(TOO_DEEP)
        return count
