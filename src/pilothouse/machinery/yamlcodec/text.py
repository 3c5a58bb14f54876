"""Scalars of the fast reader: plain ones, in quotes and in blocks, folded as YAML has it.

What it does not know for sure, it does not read: Odd.
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from pilothouse.kit.giveway import give_way
from pilothouse.machinery.yamlcodec.frames import Odd
from pilothouse.machinery.yamlcodec.scalars import resolve
from pilothouse.machinery.yamlcodec.signs import BLANK_OR_END, FLOW_ENDS, FLOW_SIGNS, HEX, NEVER_FIRST, SPECIAL

_ESCAPES: Final = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_MOST_KNOWN: Final = 4096
_SURE_DIGITS: Final = 18
_TURN: Final = 1 << 14


class Texts:
    """A document and a place in it, and what is read there."""

    def __init__(self, data: bytes) -> None:
        self.end: i64 = len(data)
        self.data = data if data.endswith(b"\n") else data + b"\n"  # every line ends
        self.ascii = data.isascii()
        self.text = self.data.decode("ascii") if self.ascii else ""
        self.at: i64 = 0
        self.line_start: i64 = 0
        self.known: dict[str, Any] = {}

    def cut(self, start: i64, end: i64) -> str:
        """The text between two places."""
        return self.text[start:end] if self.ascii else self.data[start:end].decode()

    def skip_blanks(self) -> i64:
        """Goes on to the next sign that is neither a space nor a tab: that sign."""
        data, at = self.data, self.at
        while data[at] == 32 or data[at] == 9:
            at += 1
        self.at = at
        return data[at]

    def ends_line(self, *, spaced: bool) -> bool:
        """Whether nothing but a comment is left in the line. `spaced`: a blank stood before, as a comment needs it."""
        begin = self.at
        sign = self.skip_blanks()
        if sign == 10:
            return True
        if sign != 35:
            return False
        if not spaced and self.at == begin:
            raise Odd
        return True

    def next_line(self) -> None:
        """Goes to the beginning of the next line."""
        data, at = self.data, self.at
        while data[at] != 10:
            at += 1
        self.line_start = self.at = at + 1

    def value(self, text: str, first: i64) -> Any:
        """What a plain scalar means; `first` is its first byte."""
        if not SPECIAL[first]:
            return text
        if 49 <= first <= 57 and len(text) <= _SURE_DIGITS and text.isdecimal() and text.isascii():
            return int(text)
        if 48 <= first <= 57 and len(text) <= _SURE_DIGITS and text.count(".") == 1:
            if text.isascii() and text.replace(".", "").isdecimal():
                return float(text)
        if first > 57 and len(text) > 5:  # no word that means something is longer
            return text
        known = self.known
        if text in known:
            return known[text]
        value = resolve(text)
        if len(known) < _MOST_KNOWN:
            known[text] = value
        return value

    def plain_end(self, ends: bytes) -> i64:
        """Where a plain scalar, which begins at the place, ends in its line. The place goes to what ends it.

        `ends`: ENDS or FLOW_ENDS.
        """
        data, at = self.data, self.at
        start = at
        flow = ends is FLOW_ENDS
        while True:
            while not ends[data[at]]:
                at += 1
            sign = data[at]
            if sign == 58:  # a colon
                behind = data[at + 1] if at + 1 < len(data) else 10
                if BLANK_OR_END[behind]:
                    break
                if flow and (FLOW_SIGNS[behind] or behind == 63):
                    raise Odd
            elif sign == 35:  # begins a comment behind a blank
                if at > start and (data[at - 1] == 32 or data[at - 1] == 9):
                    break
            elif sign != 9:
                break
            at += 1
        self.at = at
        while data[at - 1] == 32 or data[at - 1] == 9:
            at -= 1
        return at

    def begins_plain(self, *, flow: bool) -> bool:
        """Whether a plain scalar begins at the place."""
        data, at = self.data, self.at
        first = data[at]
        if first == 45 or first == 63 or first == 58:
            behind = data[at + 1] if at + 1 < len(data) else 10
            if BLANK_OR_END[behind]:
                return False
            return not flow or (first == 45 and not FLOW_SIGNS[behind])
        return not NEVER_FIRST[first]

    def is_marker(self) -> bool:
        """Whether a document begins or ends at the place, which is the beginning of a line."""
        data, at = self.data, self.at
        sign = data[at]
        if sign != 45 and sign != 46:
            return False
        if at + 3 >= len(data):
            return False
        return data[at + 1] == sign and data[at + 2] == sign and bool(BLANK_OR_END[data[at + 3]])

    def folded(self, parts: list[str], indent: i64, ends: bytes) -> None:
        """Adds the lines that continue a plain scalar, whose first line has ended at the place, to its parts.

        `indent`: of the lines; -1 where it does not matter, in flow style.
        """
        data = self.data
        while data[self.at] == 10:
            breaks: i64 = 0
            at = self.at
            start = at
            while True:
                start = at + 1
                breaks += 1
                at = start
                if at >= self.end:
                    break
                while data[at] == 32:
                    at += 1
                if data[at] == 9:
                    raise Odd
                if data[at] != 10:
                    break
            if at >= self.end or at - start < indent or data[at] == 35:
                return
            self.at = start
            if at == start and self.is_marker():
                self.at = start - 1
                return
            self.at, self.line_start = at, start
            if ends is FLOW_ENDS and (FLOW_SIGNS[data[at]] or (data[at] == 58 and BLANK_OR_END[data[at + 1]])):
                return
            end = self.plain_end(ends)
            if data[self.at] == 58 and ends is not FLOW_ENDS:  # no key is longer than its line
                raise Odd
            parts.append(" " if breaks == 1 else "\n" * (breaks - 1))
            parts.append(self.cut(at, end))
            give_way()

    def single_quoted(self) -> str:
        """A scalar in single quotes that begins at the place; behind it then."""
        data, end = self.data, self.end
        at = self.at + 1
        start = at
        parts: list[str] = []
        while True:
            while data[at] != 39 and data[at] != 10:
                at += 1
            if at >= end:
                raise Odd
            if data[at] == 10:
                parts.append(self.cut(start, self._behind(start, at)))
                at = start = self._unfolded(at, parts)
            elif data[at + 1] == 39:
                parts.append(self.cut(start, at + 1))
                at += 2
                start = at
            else:
                break
        self.at = at + 1
        if not parts:
            return self.cut(start, at)
        parts.append(self.cut(start, at))
        return "".join(parts)

    def double_quoted(self) -> str:
        """A scalar in double quotes that begins at the place; behind it then."""
        data, end = self.data, self.end
        at = self.at + 1
        start = at
        parts: list[str] = []
        kept = at  # blanks before it are no part of a fold
        while True:
            while data[at] != 34 and data[at] != 92 and data[at] != 10:
                at += 1
            if at >= end:
                raise Odd
            if data[at] == 34:
                break
            if data[at] == 10:
                parts.append(self.cut(start, self._behind(max(start, kept), at)))
                at = start = kept = self._unfolded(at, parts)
            else:
                parts.append(self.cut(start, at))
                at = start = kept = self._escaped(at + 1, parts)
        self.at = at + 1
        if not parts:
            return self.cut(start, at)
        parts.append(self.cut(start, at))
        return "".join(parts)

    def _behind(self, start: i64, at: i64) -> i64:
        """Where what stands before `at` ends without blanks."""
        data = self.data
        while at > start and (data[at - 1] == 32 or data[at - 1] == 9):
            at -= 1
        return at

    def _unfolded(self, at: i64, parts: list[str]) -> i64:
        """Goes over the breaks in a quoted scalar, the first at `at`, and adds what they mean: where it goes on."""
        data = self.data
        breaks: i64 = 0
        while data[at] == 10:
            breaks += 1
            at += 1
            if at >= self.end:
                raise Odd
            self.at = self.line_start = at
            if self.is_marker():
                raise Odd
            while data[at] == 32 or data[at] == 9:
                at += 1
        parts.append(" " if breaks == 1 else "\n" * (breaks - 1))
        give_way()
        return at

    def _escaped(self, at: i64, parts: list[str]) -> i64:
        """Reads what stands behind a backslash: where it goes on."""
        data = self.data
        sign = data[at]
        if sign == 10:  # an escaped break means nothing
            while True:
                at += 1
                if at >= self.end:
                    raise Odd
                self.at = self.line_start = at
                if self.is_marker():
                    raise Odd
                while data[at] == 32 or data[at] == 9:
                    at += 1
                if data[at] != 10:
                    return at
                parts.append("\n")
        left: i64 = 4 if sign == 117 else 2 if sign == 120 else 8 if sign == 85 else 0  # digits of \u, \x, \U
        if not left:
            parts.append(self._plainly_escaped(sign))
            return at + 1
        if at + left >= len(data):
            raise Odd
        code: i64 = 0
        while left:
            at += 1
            left -= 1
            digit = HEX[data[at]]
            if digit > 15:
                raise Odd
            code = code * 16 + digit
        if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
            raise Odd
        parts.append(chr(int(code)))
        return at + 1

    def _plainly_escaped(self, sign: i64) -> str:
        """What one sign behind a backslash means."""
        name = chr(int(sign))
        if name not in _ESCAPES:
            raise Odd
        return _ESCAPES[name]

    def block_scalar(self, outer: i64) -> str:
        """A scalar in a block, whose `|` or `>` stands at the place, in a collection with the indent `outer`.

        The place is then the beginning of the line behind it.
        """
        data = self.data
        literal = data[self.at] == 124
        self.at += 1
        chomp: i64 = 0
        indent: i64 = 0
        while data[self.at] != 10 and data[self.at] != 32 and data[self.at] != 9:
            sign = data[self.at]
            if (sign == 43 or sign == 45) and not chomp:
                chomp = 44 - sign
            elif 49 <= sign <= 57 and not indent:
                indent = sign - 48
            else:
                raise Odd
            self.at += 1
        if not self.ends_line(spaced=False):
            raise Odd
        self.next_line()
        indent = max(outer, 0) + indent if indent else self._block_indent(max(outer + 1, 1))
        parts: list[str] = []
        self._block_lines(indent, parts, literal=literal, chomp=chomp)
        return "".join(parts)

    def _block_indent(self, least: i64) -> i64:
        """The indent of a block that does not tell it: that of its first line, or of a longer empty one before."""
        data = self.data
        most: i64 = 0
        at = self.at
        while at < self.end:
            start = at
            while data[at] == 32:
                at += 1
            if data[at] == 9:
                raise Odd
            most = max(most, at - start)
            if data[at] != 10:
                break
            at += 1
        return max(most, least)

    def _block_lines(self, indent: i64, parts: list[str], *, literal: bool, chomp: i64) -> None:
        data, end = self.data, self.end
        breaks: i64 = 0  # behind the last line that has something
        blank_before = True  # nothing is folded at the beginning, nor beside lines that begin with a blank
        first = True
        ended = False
        start = self.at
        turn: i64 = 0
        while start < end:
            turn += 1
            if not turn & 1023:
                give_way()
            at = start
            while data[at] == 32 and at - start < indent:
                at += 1
            if data[at] == 10 and at < end:
                breaks += 1
                start = at + 1
                continue
            if at >= end:  # blanks at the end
                start = at
                break
            if at - start < indent:
                if data[at] == 9:
                    raise Odd
                break
            blank = data[at] == 32 or data[at] == 9
            if first or literal or blank or blank_before:
                parts.append("\n" * breaks)
            else:
                parts.append(" " if breaks == 1 else "\n" * (breaks - 1))
            first = False
            blank_before = blank
            stop = data.find(b"\n", at)
            parts.append(self.cut(at, stop))
            breaks = 1
            start = stop + 1
            ended = stop >= end
        self.at = self.line_start = start
        if ended:
            return
        if first:
            if chomp > 0:
                parts.append("\n" * breaks)
            return
        if chomp > 0:
            parts.append("\n" * breaks)
        elif chomp == 0:
            parts.append("\n")
