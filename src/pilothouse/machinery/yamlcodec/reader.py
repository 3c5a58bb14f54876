"""The fast reader of YAML: one walk over the bytes of a document, compiled (docs/designs/yaml.md).

It reads what it surely knows into JSON values, with a stack of the collections that are open, and leaves everything
else to the parser's events: Odd.
"""

from __future__ import annotations

from typing import Any

from mypy_extensions import i64

from pilothouse.kit.giveway import give_way
from pilothouse.machinery.yamlcodec.flow import Flow
from pilothouse.machinery.yamlcodec.frames import ENTRY, LIST, MAP, VALUE, Odd
from pilothouse.machinery.yamlcodec.signs import BLANK_OR_END, ENDS, LONGEST_KEY


class Reader(Flow):
    """Reads the first document of a text without carriage returns.

    `goes_on`: the text is only the beginning of a document.
    """

    def __init__(self, data: bytes, *, goes_on: bool = False) -> None:
        super().__init__(data)
        self._goes_on = goes_on

    def document(self) -> Any:
        """Its value. Raises Odd with `sure` and its like set, TextError, YAMLError."""
        data = self.data
        if data.startswith(b"\xef\xbb\xbf"):
            self.at = self.line_start = 3
        self._begin()
        turn: i64 = 0
        while self._to_content():
            turn += 1
            if not turn & 255:
                give_way()
            self._line_of_content(self.at - self.line_start)
        if self._goes_on:
            raise Odd
        if self.anchor or self.tag:
            raise Odd
        if self.at >= self.end and self.end < len(data):  # every line ends; what is deeper than this one, before
            column = len(self.cut(data.rfind(b"\n", 0, self.end) + 1, self.end))
            while self.top.indent > column:
                self.close(self.end)
            self.at = len(data)
        while len(self.stack) > 1:
            self.close(self.at)
        if self.said is not None:
            raise self.said
        return self.result

    def _begin(self) -> None:
        """Goes over the marker of a document's beginning, if there is one."""
        data = self.data
        turn: i64 = 0
        while self.at < self.end:
            turn += 1
            if not turn & 4095:
                give_way()
            while data[self.at] == 10 and self.at + 1 < self.end:
                self.at += 1
                self.line_start = self.at
            sign = self.skip_blanks()
            if self.at >= self.end:
                break
            if sign == 37:
                raise Odd
            if self.at == self.line_start and self.is_marker():
                if sign == 46:
                    raise Odd
                self.at += 3
                if not self.ends_line(spaced=True) or (data[self.at] == 35 and data[self.at - 1] == 45):
                    raise Odd
                self.next_line()
                return
            if sign != 10 and sign != 35:
                break
            if self.at > self.line_start and b"\t" in data[self.line_start : self.at]:
                raise Odd
            self.next_line()
        self.at = self.line_start

    def _to_content(self) -> bool:
        """Goes to the first token of the next line that has one. False at the end of the document."""
        data, at = self.data, self.line_start
        turn: i64 = 0
        while True:
            turn += 1
            if not turn & 4095:
                give_way()
            if at >= self.end:
                self.at = self.line_start = self.end
                return False
            start = at
            while data[at] == 32:
                at += 1
            sign = data[at]
            if sign == 10:
                at += 1
                continue
            if sign == 35:
                at = data.find(b"\n", at) + 1
                continue
            self.line_start = start
            self.at = at
            if sign == 9:
                raise Odd
            return not (at == start and self.is_marker())

    def _line_of_content(self, column: i64) -> None:
        """A line whose first token stands at the place, in `column`."""
        data = self.data
        top = self.top
        pending = bool(self.anchor or self.tag)
        dash = data[self.at] == 45 and BLANK_OR_END[data[self.at + 1]]
        if pending and column <= top.indent and not (top.kind == MAP and top.indent == column and dash):
            raise Odd
        while top.indent > column:
            self.close(self.at)
            top = self.top
        if top.asked and top.indent == column and data[self.at] == 58 and BLANK_OR_END[data[self.at + 1]]:
            self._asked()
            return
        if not pending and not (top.asked and column > top.indent):
            self._note()
        if top.kind == LIST and not dash and top.indent == column:
            if self.stack[-2].kind != MAP or self.stack[-2].indent != column:
                raise Odd
            self.left = top
            self.close(self.at)
            top = self.top
        if top.indent < column:
            if not top.awaits or top.asked:
                raise Odd
            self._node(column)
        elif top.kind == LIST:
            if top.awaits:
                self.place(None, self.at)
            self._dash()
        elif dash:
            if not top.awaits or top.asked:
                raise Odd
            self.push(LIST, column)
            self._dash()
        else:
            if top.awaits:
                self.place(None, self.at if top.asked else top.colon)
            self._key()

    def _note(self) -> None:
        """All is surely read up to this line."""
        self.sure, self.sure_depth = self.line_start, len(self.stack)
        self.sure_due = VALUE if self.top.awaits and not self.top.asked else ENTRY

    def _dash(self) -> None:
        """An entry of the last list, whose dash stands at the place."""
        self.top.awaits = True
        self._inside()

    def _inside(self) -> None:
        """What stands behind the dash, or the like, at the place: a value in the same line, or later."""
        data = self.data
        while True:
            at = self.at + 1
            while data[at] == 32:
                at += 1
            sign = data[at]
            self.at = at
            if sign == 10 or sign == 35:
                self.next_line()
                return
            if sign == 9:
                raise Odd
            if sign != 45 or not BLANK_OR_END[data[at + 1]]:
                break
            self.push(LIST, at - self.line_start).awaits = True
        self._node(at - self.line_start)

    def _asked(self) -> None:
        """The colon of a key that came behind a `?`, and what is behind it."""
        top = self.top
        top.asked = False
        top.colon = self.at + 1
        self._inside()

    def _ask(self) -> None:
        """A key behind the `?` at the place: a scalar."""
        if self.anchor or self.tag:
            raise Odd
        data = self.data
        top = self.top
        at = self.at + 1
        while data[at] == 32:
            at += 1
        self.at = at
        sign = data[at]
        if sign == 10 and self._is_null():
            self.next_line()
            self.name(None, self.at)
            top.asked = True
            return
        if sign == 124 or sign == 62:
            key: Any = self.block_scalar(top.indent)
        elif sign == 34 or sign == 39:
            key = self.double_quoted() if sign == 34 else self.single_quoted()
            if not self.ends_line(spaced=False):
                raise Odd
            self.next_line()
        elif self.begins_plain(flow=False):
            text = self._plain_lines()
            self.next_line()
            if text == "<<":
                raise Odd
            key = self.value(text, sign)
        else:
            raise Odd
        self.name(key, self.at)
        top.asked = True

    def _is_null(self) -> bool:
        """Whether no key follows a `?` at the end of its line: the next line begins with the colon, or another `?`."""
        data = self.data
        at = self.at + 1
        if at >= self.end:
            return False
        start = at
        while data[at] == 32:
            at += 1
        sign = data[at]
        return at - start == self.top.indent and (sign == 63 or sign == 58) and bool(BLANK_OR_END[data[at + 1]])

    def _node(self, column: i64) -> None:
        """A value that is due, whose first token stands at the place, in `column`, where a key may stand."""
        data = self.data
        sign = data[self.at]
        start = self.at
        if sign == 45 and BLANK_OR_END[data[start + 1]]:
            self.push(LIST, column)
            self._dash()
            return
        if sign == 63 and BLANK_OR_END[data[start + 1]]:
            self.push(MAP, column)
            self._ask()
            return
        if sign == 38 or sign == 33:
            self._named(column)
            return
        if sign == 34 or sign == 39:
            line = self.line_start
            text = self.double_quoted() if sign == 34 else self.single_quoted()
            end = self.at
            if self.skip_blanks() == 58 and BLANK_OR_END[data[self.at + 1]]:
                if self.line_start != line or self.at - start > LONGEST_KEY:
                    raise Odd
                self.push(MAP, column)
                self._member(text, sign=0)
                return
            self.at = end
            self._placed(text, start)
        elif self.begins_plain(flow=False):
            end = self.plain_end(ENDS)
            if data[self.at] != 58:
                self._plain(start, end, sign)
                return
            if self.at - start > LONGEST_KEY:
                raise Odd
            self.push(MAP, column)
            self._member(self.cut(start, end), sign=sign)
        else:
            self._value(sign)

    def _named(self, column: i64) -> None:
        """The same behind an anchor or a tag, which belongs to a key in its line, or to the value."""
        outer_anchor, outer_tag = self.anchor, self.tag
        self.anchor = self.tag = ""
        self.properties(flow=False)
        data = self.data
        if data[self.at] == 10 or data[self.at] == 35:
            if outer_anchor or outer_tag:
                raise Odd
            self.next_line()
            return
        sign = data[self.at]
        if self._is_key_ahead(sign):
            anchor, tag = self.anchor, self.tag
            self.anchor, self.tag = outer_anchor, outer_tag
            self.push(MAP, column)
            self.anchor, self.tag = anchor, tag
            self._key()
            return
        if outer_anchor or outer_tag:
            raise Odd
        self._value(sign)

    def _is_key_ahead(self, sign: i64) -> bool:
        """Whether a scalar stands at the place that is a key."""
        start, line = self.at, self.line_start
        if sign == 34:
            self.double_quoted()
        elif sign == 39:
            self.single_quoted()
        elif self.begins_plain(flow=False):
            self.plain_end(ENDS)
        else:
            return False
        found = self.skip_blanks() == 58 and self.line_start == line
        self.at, self.line_start = start, line
        return found

    def _key(self) -> None:
        """A member of the last map, whose key begins at the place."""
        data = self.data
        start = self.at
        sign = data[start]
        if sign == 63 and BLANK_OR_END[data[start + 1]]:
            self._ask()
            return
        if sign == 38 or sign == 33:
            self.properties(flow=False)
            sign = data[self.at]
        text = ""
        if sign == 34 or sign == 39:
            line = self.line_start
            text = self.double_quoted() if sign == 34 else self.single_quoted()
            if self.line_start != line:
                raise Odd
            self.skip_blanks()
            sign = 0
        elif self.begins_plain(flow=False):
            begin = self.at
            text = self.cut(begin, self.plain_end(ENDS))
        else:
            raise Odd
        if data[self.at] != 58 or not BLANK_OR_END[data[self.at + 1]] or self.at - start > LONGEST_KEY:
            raise Odd
        self._member(text, sign=sign)

    def _member(self, text: str, *, sign: i64) -> None:
        """A key whose colon stands at the place, and the value, as far as it stands behind it."""
        top = self.top
        if sign == 60 and self.is_merge(text):
            top.merging = True
        self.name(self.scalar(text, sign=sign), self.at)
        data = self.data
        at = self.at + 1
        while data[at] == 32 or data[at] == 9:
            at += 1
        self.at = at
        first = data[at]
        if first == 38 or first == 33:
            self.properties(flow=False)
            first = data[self.at]
        if first == 10 or first == 35:
            self.next_line()
            return
        self._value(first)

    def _value(self, sign: i64) -> None:
        """A value that is due, which begins at the place with `sign`, where no key may stand."""
        start = self.at
        if sign == 34:
            self._placed(self.double_quoted(), start)
        elif sign == 39:
            self._placed(self.single_quoted(), start)
        elif sign == 123 or sign == 91:
            sure, depth, due = self.sure, self.sure_depth, self.sure_due
            self.flow()
            end = self.at
            if self.skip_blanks() == 58:  # a key in brackets: what is wrong then depends on where it begins
                self.sure, self.sure_depth, self.sure_due = sure, depth, due
                raise Odd
            if not self.ends_line(spaced=self.at > end):
                raise Odd
            self.next_line()
        elif sign == 124 or sign == 62:
            self.place(self.scalar(self.block_scalar(self.top.indent), sign=0), start)
        elif sign == 42:
            value = self.alias(flow=False)
            if not self.ends_line(spaced=False):
                raise Odd
            self.place(value, start)
            self.next_line()
        elif self.begins_plain(flow=False):
            end = self.plain_end(ENDS)
            if self.data[self.at] == 58:
                raise Odd
            self._plain(start, end, sign)
        else:
            raise Odd

    def _placed(self, text: str, start: i64) -> None:
        """A scalar in quotes that is a value; nothing else may stand in its line."""
        if not self.ends_line(spaced=False):
            raise Odd
        self.place(self.scalar(text, sign=0), start)
        self.next_line()

    def _plain(self, start: i64, end: i64, sign: i64) -> None:
        """A plain scalar that is a value, up to `end` in its first line."""
        self.place(self.scalar(self._continued(self.cut(start, end)), sign=sign), start)
        self.next_line()

    def _plain_lines(self) -> str:
        """A plain scalar that is no member's key, up to its last line."""
        start = self.at
        end = self.plain_end(ENDS)
        if self.data[self.at] == 58:
            raise Odd
        return self._continued(self.cut(start, end))

    def _is_last(self, indent: i64) -> bool:
        """Whether a scalar whose line ends at the place ends there: the next line begins before `indent`."""
        data = self.data
        at = self.at + 1
        if at >= self.end:
            return True
        start = at
        while data[at] == 32:
            at += 1
        sign = data[at]
        return sign != 10 and sign != 9 and at - start < indent

    def _continued(self, text: str) -> str:
        """A plain scalar whose first line has ended at the place, with the lines that continue it."""
        indent = self.top.indent + 1
        if self.data[self.at] != 10 or self._is_last(indent):
            return text
        parts = [text]
        self.folded(parts, indent, ENDS)
        return text if len(parts) == 1 else "".join(parts)
