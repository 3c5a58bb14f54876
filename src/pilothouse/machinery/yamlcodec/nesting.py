"""The collections of the fast reader: values find their places, and what is said of them is noted."""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from pilothouse.machinery.goquote import quote
from pilothouse.machinery.jsoncodec import plain_floats
from pilothouse.machinery.yamlcodec.build import MOST_REPEATED, by_name, finite, key_text, no_name
from pilothouse.machinery.yamlcodec.errors import YAMLError
from pilothouse.machinery.yamlcodec.frames import FLOW_LIST, LIST, ROOT, UNFINISHED, VALUE, Frame, Odd
from pilothouse.machinery.yamlcodec.text import Texts

_DEEPEST: Final = 990  # levels; the parser refuses a thousand


class Nesting(Texts):
    """What is open at a place of a document."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.result: Any = None
        self.top = Frame(ROOT, -1)
        self.stack: list[Frame] = [self.top]
        self.repeated: list[str] = []  # what strict decoding finds
        self.said: YAMLError | None = (
            None  # what is wrong with what the document says, told if nothing is with its text
        )
        # The last place up to which all is surely read: how many are open there, and what is due in the last.
        self.sure: i64 = 0
        self.sure_depth: i64 = 1
        self.sure_due: i64 = VALUE
        self.left = self.top  # what was open there, too, if it has ended without a sign of its own
        self.sure_begin: i64 = 0  # of the collection that ended there
        self.anchor = ""  # of the value that is due, and its tag
        self.tag = ""
        self.begun: i64 = -1  # where a value begins whose anchor or tag stands before it, perhaps in another line
        self.anchors: dict[str, Any] = {}
        self.count: i64 = 0  # nodes and ends of collections, as the parser's events
        self._line: i64 = 1
        self._line_at: i64 = 0

    def push(self, kind: i64, indent: i64) -> Frame:
        """Opens a collection in the last one."""
        if len(self.stack) > _DEEPEST:
            raise Odd
        frame = Frame(kind, indent)
        if self.anchor or self.tag:  # tags mean nothing here
            frame.anchor = self.anchor
            self.anchors[self.anchor] = UNFINISHED
            self.anchor = self.tag = ""
        self.count += 1
        self.stack.append(frame)
        self.top = frame
        return frame

    def close(self, at: i64) -> None:
        """The last collection has ended; what tells that stands at `at`."""
        frame = self.top
        if frame.awaits:
            self.place(None, at if frame.asked else frame.colon)
        self.stack.pop()
        self.top = self.stack[-1]
        value: Any = frame.items
        if frame.kind != LIST and frame.kind != FLOW_LIST:
            value = frame.members if frame.ordered else by_name(frame.members)
        if frame.anchor:
            self.anchors[frame.anchor] = value
        self.place(value, at)

    def place(self, value: Any, at: i64) -> None:
        """Puts a value, which begins at `at`, where one is due."""
        top = self.top
        top.awaits = False
        self.count += 1
        if self.begun >= 0:
            at = self.begun
            self.begun = -1
        if top.merging:
            self._merge(top, value)
            return
        if top.nameless:
            top.nameless = False
            if self.said is None:
                self.say(no_name(value))
            return
        if isinstance(value, float):
            value = self._number(value)
        kind = top.kind
        if kind == LIST or kind == FLOW_LIST:  # noqa: SIM109 - compiled, `in` makes a tuple
            top.items.append(value)
        elif kind == ROOT:
            self.result = value
        else:
            members, key = top.members, top.key
            before = len(members)
            members[key] = value
            if len(members) == before:
                if len(self.repeated) < MOST_REPEATED:
                    self.repeated.append(f"line {self.line(at)}: key {top.shown or quote(key)} already set in map")
            elif key < top.last:
                top.ordered = False
            else:
                top.last = key

    def _merge(self, top: Frame, value: Any) -> None:
        """Puts the members of maps into a map."""
        top.merging = top.ordered = False
        for source in reversed(value) if isinstance(value, list) else [value]:
            if not isinstance(source, dict):
                self.say(YAMLError("yaml: map merge requires map or sequence of maps as the value"))
                return
            top.members.update(source)

    def _number(self, value: float) -> Any:
        if self.top.kind == ROOT:
            return plain_floats(value)
        try:
            return finite(value)
        except YAMLError as said:
            self.say(said)
            return 0

    def name(self, key: Any, colon: i64) -> None:
        """The key of the value that is due next, behind the colon at `colon`."""
        top = self.top
        top.awaits = True
        top.asked = False
        top.colon = colon
        self.begun = -1
        self.count += 1
        if isinstance(key, str):
            top.key = key
            top.shown = ""
            return
        if key is None:
            top.nameless = True
            return
        try:
            top.key = top.shown = key_text(key)
        except YAMLError as said:
            self.say(said)
            top.key = top.shown = ""

    def say(self, said: YAMLError) -> None:
        """Something is wrong with what the document says."""
        if self.said is None:
            self.said = said

    def be_sure(self, due: i64) -> None:
        """All is surely read up to the place, where `due` comes next."""
        self.sure, self.sure_depth, self.sure_due = self.at, len(self.stack), due

    def line(self, at: i64) -> i64:
        """The line of a place, from 1."""
        if at < self._line_at:
            self._line -= self.data.count(b"\n", at, self._line_at)
        else:
            self._line += self.data.count(b"\n", self._line_at, at)
        self._line_at = at
        return self._line
