"""Stepping over items that nobody wants, by the same rules. When all is refused, they must only be well-formed."""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from pilothouse.machinery.cbor import model
from pilothouse.machinery.cbor.heads import BREAK_CODE, EOF
from pilothouse.machinery.cbor.model import BIGNUM, BREAK, MAX_DEPTH, REFUSED, TOO_DEEP, TYPES, CBORError
from pilothouse.machinery.cbor.numbers import HALF
from pilothouse.machinery.cbor.strings import SHORT, TEXT, Strings
from pilothouse.machinery.cbor.texts import time_text

_REPEATED: Final = 'cbor: found duplicate map key "{}" at map element index {}'
_FIRST_TIME: Final = -62135596800  # seconds of the first and the last one that have a text
_LAST_TIME: Final = 253402300799


class Steps(Strings):
    """In its methods, `depth` counts what an item is in: containers and tags. `left`: items of a container (or pairs)
    to come, below 0 where their end is marked.
    """

    __slots__ = ()

    def step(self, left: i64, depth: i64) -> i64:
        """Steps over items. How many they were."""
        data, at = self.data, self.at
        number: i64 = 0
        while left:
            if at >= self.turn:
                self.pause(at, 0)
            first: i64 = data[at]
            info: i64 = first & 31
            if first < 0x40 and info < 27:  # a number
                at += 1 if info < 24 else 1 + (1 << (info - 24))
            elif 0x40 <= first < 0x80 and info < 24:
                begin = at + 1
                at = begin + info
                if first > TEXT and self.error is None:
                    self.check(begin, at)
            elif 0xF4 <= first < 0xF7:  # false, true, null
                at += 1
            elif 0x80 <= first < 0xA1 and info < 24:  # a list, or an object that is empty
                if depth >= MAX_DEPTH:
                    raise CBORError(TOO_DEEP)
                at += 1
                if info:
                    if info > self.end - at:
                        self.refuse(EOF)
                    self.at = at
                    self.step(info, depth + 1)
                    at = self.at
            elif first == BREAK and left < 0:
                at += 1
                break
            else:
                self.at = at
                if first < 0x40:
                    self.integer(first)
                elif first < 0x80:
                    self.step_string(first)
                elif first < 0xE0:
                    self._into(first, depth)
                else:
                    self.simple(first)
                at = self.at
            number += 1
            left -= 1
        self.at = at
        return number

    def step_members(self, left: i64, depth: i64) -> None:
        """Steps over members of an object that is refused: names may be what they like."""
        if self.step(2 * left, depth) & 1:
            raise CBORError(BREAK_CODE)

    def step_object(self, left: i64, depth: i64) -> None:
        """Steps over members of which the names must be good."""
        data, text, short = self.data, self.text, SHORT
        names: set[str] = set()
        number: i64 = 0
        at = self.at
        while left and self.error is None:
            if at >= self.turn:
                self.pause(at, 0)
            start = at
            first: i64 = data[at]
            size: i64 = short[first]
            name: str | None = None
            if size:
                at += size
                name = text[start + 1 : at]
            elif first == BREAK and left < 0:
                self.at = at + 1
                return
            if name is None or not name.isascii():
                self.at = start
                name = self.member(first, depth)
                at = self.at
            if name is not None:
                if name in names:
                    self.refuse_twice(name, number)
                    at = start
                    break
                names.add(name)
            self.at = at
            self.step(1, depth)
            at = self.at
            number += 1
            left -= 1
        self.at = at
        self.step_members(left, depth)

    def member(self, first: i64, depth: i64) -> str | None:
        """The name that is next, whatever it is; None if it is refused."""
        if 0x40 <= first < 0x80:
            return self.name(first)
        if self.error is None:
            self.refuse(f"cbor: cannot unmarshal {TYPES[first >> 5]} into Go value of type string")
        self.step(1, depth)
        return None

    def refuse_twice(self, name: str, index: i64) -> None:
        """Refuses all for a name that is there twice, the second time at this place."""
        self.refuse(_REPEATED.format(name, index))

    def simple(self, first: i64) -> None:
        """Steps over a float, or a simple value that is none."""
        if HALF <= first < HALF + 3:
            self.check_float(first)
            return
        value = self.argument()
        if not 20 <= value < 23 and self.error is None:
            self.refuse(REFUSED.format("primitives", f"simple value {value} is not recognized"))

    def timed(self, value: Any) -> str:
        """The text of a time; "" if there is none, which is refused."""
        try:
            return time_text(value)
        except OverflowError:
            self.refuse(f"cbor: time {value} is out of range")
            return ""

    def _into(self, first: i64, depth: i64) -> None:
        """Steps over a container, or a tag and what it is on."""
        if first >= model.TAG << 5:
            self._tag(depth)
            return
        left = self.count(first, depth)
        if first < model.MAP << 5:
            self.step(left, depth + 1)
        elif self.error is None:
            self.step_object(left, depth + 1)
        else:
            self.step_members(left, depth + 1)

    def _tag(self, depth: i64) -> None:
        timed = False
        data = self.data
        first: i64 = data[self.at]
        while first >> 5 == model.TAG:
            tag = self.argument()
            if depth >= MAX_DEPTH:
                raise CBORError(TOO_DEEP)
            depth += 1
            if tag == 2 or tag == 3:
                self.refuse(BIGNUM)
            timed = timed or tag == model.TIME_NUMBER
            first = data[self.at]
        if timed and self.error is None:
            if first < 0x40:
                value = self.integer(first)
                if not _FIRST_TIME <= value <= _LAST_TIME:
                    self.timed(value)
                return
            if HALF <= first < HALF + 3:
                self.timed(self.real(first))
                return
        self.step(1, depth)
