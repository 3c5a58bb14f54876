"""Flow style in the fast reader: lists and maps in brackets, over one line or many."""

from __future__ import annotations

from typing import Any

from mypy_extensions import i64

from pilothouse.kit.giveway import give_way
from pilothouse.machinery.yamlcodec.aliases import Aliases
from pilothouse.machinery.yamlcodec.frames import END, ENTRY, FLOW_LIST, FLOW_MAP, PAIR, Odd
from pilothouse.machinery.yamlcodec.signs import BLANK_OR_END, FLOW_ENDS, LONGEST_KEY


class Flow(Aliases):
    """Reads a collection in brackets, with all that is in it."""

    def flow(self) -> None:
        """The collection whose bracket stands at the place, where a value is due; behind it then."""
        data = self.data
        around = len(self.stack)
        turn: i64 = 0
        self._open()
        while len(self.stack) > around:
            turn += 1
            if not turn & 511:
                give_way()
            self._skip()
            sign = data[self.at]
            if self.top.kind == PAIR and (self.top.after or sign == 44 or sign == 93):
                if self.top.awaits:
                    self.top.colon = self.at
                self.left = self.top
                self.close(self.at)
                self.top.after = True
            top = self.top
            if sign == 93 or sign == 125:  # ] }
                self._ended(sign)
            elif sign == 44:  # a comma
                if top.awaits and top.kind == FLOW_MAP:
                    self.place(None, self.at)
                elif not top.after:
                    raise Odd
                top.after = False
                self.at += 1
                self.be_sure(ENTRY)
            elif top.after:
                raise Odd
            else:
                if sign == 38 or sign == 33:
                    if top.kind == FLOW_MAP and not top.awaits:
                        raise Odd
                    self.properties(flow=True)
                    sign = data[self.at]
                if sign == 91 or sign == 123:
                    if top.kind == FLOW_MAP and not top.awaits:
                        raise Odd
                    if data[self.at + 1] == sign + 2 and not self.anchor:
                        self._empty(sign)
                    else:
                        self._open()
                else:
                    self._scalar(sign)

    def _ended(self, sign: i64) -> None:
        """The last collection ends at the place."""
        top = self.top
        if (sign == 125) != (top.kind == FLOW_MAP):
            raise Odd
        if top.awaits:
            top.colon = self.at
        self.close(self.at)
        self.at += 1
        self.top.after = True
        self.sure_begin = top.begin
        self.be_sure(END)

    def _empty(self, sign: i64) -> None:
        """A collection with nothing in it, whose bracket stands at the place."""
        self.tag = ""
        self.count += 1
        at = self.at
        self.at = at + 2
        value: Any = [] if sign == 91 else {}
        self.place(value, at + 1)
        self.top.after = True
        self.sure_begin = at
        self.be_sure(END)

    def _open(self) -> None:
        self.push(FLOW_LIST if self.data[self.at] == 91 else FLOW_MAP, -1).begin = self.at
        self.at += 1
        self.be_sure(ENTRY)

    def _skip(self) -> None:
        """Goes over blanks, breaks and comments to the next token."""
        data = self.data
        while True:
            at = self.at
            while data[at] == 32 or data[at] == 9:
                at += 1
            sign = data[at]
            self.at = at
            if sign == 35:
                at = data.find(b"\n", at)
            elif sign != 10:
                return
            if at >= self.end:
                raise Odd
            self.at = self.line_start = at + 1
            if self.at >= self.end or self.is_marker():
                raise Odd

    def _scalar(self, sign: i64) -> None:
        """A scalar in a collection: a value, or a key with its colon."""
        top, data = self.top, self.data
        is_key = top.kind == FLOW_MAP and not top.awaits
        asked = is_key and sign == 63 and bool(BLANK_OR_END[data[self.at + 1]])
        if asked:
            self.at += 1
            self._skip()
            sign = data[self.at]
        start, line = self.at, self.line_start
        merging = False
        if sign == 34:
            value: Any = self.scalar(self.double_quoted(), sign=0)
        elif sign == 39:
            value = self.scalar(self.single_quoted(), sign=0)
        elif sign == 42:
            value = self.alias(flow=True)
            if is_key or self.skip_blanks() == 58:
                raise Odd
        elif self.begins_plain(flow=True):
            text = self._plain_text()
            merging = sign == 60 and self.is_merge(text)
            value = self.scalar(text, sign=sign)
        else:
            raise Odd
        self._found(value, start, in_line=self.line_start == line, asked=asked, merging=merging)

    def _plain_text(self) -> str:
        """The plain scalar at the place, over all its lines."""
        start = self.at
        end = self.plain_end(FLOW_ENDS)
        text = self.cut(start, end)
        if self.data[self.at] == 10:
            parts = [text]
            self.folded(parts, -1, FLOW_ENDS)
            if len(parts) > 1:
                text = "".join(parts)
        return text

    def _found(self, value: Any, start: i64, *, in_line: bool, asked: bool, merging: bool) -> None:
        """Puts a scalar where it belongs; `asked`: behind a `?`, so that the key may be long, and its colon far."""
        top = self.top
        if asked:
            self._skip()
        colon = self.data[self.at] == 58 or self.skip_blanks() == 58
        if colon and not asked and (not in_line or self.at - start > LONGEST_KEY):
            raise Odd
        if top.kind == FLOW_MAP and not top.awaits:
            if not colon:
                self._skip()
            top.merging = merging
            self.name(value, self.at)
            if not colon:
                self.place(None, self.at)
                top.after = True
        elif not colon:
            self.place(value, start)
            top.after = True
        elif top.kind == FLOW_LIST:
            self.push(PAIR, -1).merging = merging
            self.name(value, self.at)
        else:
            raise Odd
        if colon:
            self.at += 1
