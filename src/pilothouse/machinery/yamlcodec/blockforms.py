"""What the signs of lines in block style mean, whatever words stand between them, as forms of JSON text.

As for flow style (`flowforms.py`), few different lines of signs come again and again. What a line means depends on the
lists and objects that are open above it, by their columns: that is found once for each line at each such place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pilothouse.machinery.yamlcodec import flowforms
from pilothouse.machinery.yamlcodec.flowforms import (
    NAME,
    NAME_PART,
    NAME_QUOTED,
    VALUE,
    VALUE_PART,
    VALUE_QUOTED,
    WORD,
    OtherForm,
)

BREAK: Final = b"\3"  # of a line within a value in flow style, which is one line here
FLOW_BREAK: Final = b";"  # how such a value's own signs show it
_MOST_STEPS: Final = 6_000  # that are found for one text: more would take longer than reading it in another way
_LONGEST: Final = 2_000  # signs of a line
_LONGEST_NAME: Final = 60
_DEEPEST: Final = 100  # lists and objects that are open
_SCALAR: Final = rb"a(?:(?:(?!:_|_:)[a_:,\[\]{}-])*[a,\[\]{}-])?"
LINE: Final = re.compile(
    rb"(?P<indent>_*)(?P<dashes>(?:-_+)*)"
    rb"(?:(?P<dash>-)|(?:(?P<name>%b|\"):(?:_+|$))?(?P<value>%b|\"|[\[{].*[\]}])?)_*" % (_SCALAR, _SCALAR),
    re.DOTALL,
)
_DASH: Final = 0x2D  # the sign of one that begins an item
_BLANK: Final = b"_"


@dataclass(frozen=True, slots=True)
class Step:
    """What a line means: its JSON text with `%b` for each word, what the words are, and what is behind it.

    `odd`: nothing that is sure, or it belongs to a line that is odd.
    """

    text: bytes
    kinds: bytes
    behind: Place
    odd: bool = False


_LIST: Final = "["
_OBJECT: Final = "{"
_CLOSING: Final = {_LIST: b"]", _OBJECT: b"}"}

Open = tuple[tuple[int, str], ...]  # the lists and objects that are open, with the columns in which they began


class Place(dict[bytes, Step]):
    """Where a line may stand: what is open, whether a value is still to come, and the column of an odd line above."""

    __slots__ = ("form", "odd", "open", "pending")

    def __init__(self, form: BlockForm, opened: Open, pending: bool, odd: int | None) -> None:
        self.form, self.open, self.pending, self.odd = form, opened, pending, odd

    def __missing__(self, line: bytes) -> Step:
        step = self[line] = self.form.step(self, line)
        return step

    def closing(self) -> bytes:
        """What ends the text here."""
        return (b"null" if self.pending else b"") + b"".join(_CLOSING[kind] for _, kind in reversed(self.open))


class BlockForm:
    """Reads the lines of one text, one after the other."""

    def __init__(self) -> None:
        self.has_odd = False  # whether any line was odd
        self._places: dict[tuple[Open, bool, int | None], Place] = {}
        self._left = _MOST_STEPS

    def read(self, lines: Iterable[bytes]) -> list[Step]:
        """What the lines mean, from where nothing is open. Raises OtherForm if they are too many different ones."""
        step = Step(b"", b"", self._place((), pending=True))
        return [step := step.behind[line] for line in lines]

    def _place(self, opened: Open, pending: bool, odd: int | None = None) -> Place:
        found = self._places.get((opened, pending, odd))
        if found is None:
            found = self._places[opened, pending, odd] = Place(self, opened, pending, odd)
        return found

    def step(self, place: Place, line: bytes) -> Step:
        """What a line means there. Raises OtherForm."""
        self._left -= 1
        if not self._left:
            raise OtherForm
        column = indent_of(line)
        if place.odd is not None and (column > place.odd or column == len(line)):
            return self._odd(place)
        if column == len(line):
            return Step(b"", b"", place)
        reader = _Reader(place.open, place.pending and place.odd is None)
        try:
            reader.read(line)
        except OtherForm:
            kept = tuple(one for one in place.open if one[0] <= column)
            return self._odd(self._place(kept, pending=False, odd=column))
        text, kinds = b"".join(reader.text), b"".join(reader.kinds)
        return Step(text, kinds, self._place(tuple(reader.open), reader.pending))

    def _odd(self, behind: Place) -> Step:
        self.has_odd = True
        return Step(b"", b"", behind, odd=True)


def begins_some(line: bytes) -> bool:
    """Whether the signs of a line are those of an item or a member."""
    found = LINE.fullmatch(line) if len(line) <= _LONGEST else None
    return found is not None and bool(found["dashes"] or found["dash"] or found["name"])


def indent_of(line: bytes) -> int:
    """The column in which the signs of a line begin."""
    return len(line) - len(line.lstrip(_BLANK))


NO_RANK: Final = 255  # of a line that begins nothing


def rank_of(line: bytes) -> int:
    """How deep the first element of a line is: more than what it is in, as much as what is beside it."""
    column = indent_of(line)
    return 2 * column + (line[column : column + 1] == b"-") if column < len(line) else NO_RANK


class _Reader:
    """Reads one line."""

    def __init__(self, opened: Open, pending: bool) -> None:
        self.open, self.pending = [*opened], pending
        self.text: list[bytes] = []
        self.kinds: list[bytes] = []

    def read(self, line: bytes) -> None:
        """Raises OtherForm."""
        found = LINE.fullmatch(line) if len(line) <= _LONGEST else None
        if found is None:
            raise OtherForm
        begin = found.end("indent")
        for place in range(begin, found.end("dash") if found["dash"] else found.end("dashes")):
            if line[place] == _DASH:
                self._element(place, _LIST)
        if found["name"] is not None:
            self._element(found.start("name"), _OBJECT)
            self._put(found["name"], NAME, NAME_PART, NAME_QUOTED)
            self.text.append(b":")
            self.pending = True
        elif not found["dashes"] and not found["dash"]:
            raise OtherForm  # a line of a text of several
        if found["value"] is not None:
            self._value(found["value"])
            self.pending = False

    def _element(self, column: int, kind: str) -> None:
        """An item or a member begins."""
        if self.pending and self._is_deeper(column, kind):
            if len(self.open) == _DEEPEST:
                raise OtherForm
            self.open.append((column, kind))
            self.text.append(kind.encode())
        else:
            if self.pending:
                self.text.append(b"null")
            while self.open and self.open[-1] != (column, kind) and self.open[-1][0] >= column:
                self.text.append(_CLOSING[self.open.pop()[1]])
            if not self.open or self.open[-1] != (column, kind):
                raise OtherForm
            self.text.append(b",")
        self.pending = kind is _LIST

    def _is_deeper(self, column: int, kind: str) -> bool:
        if not self.open:
            return True
        last, around = self.open[-1]
        return column > last or (column == last and kind is _LIST and around is _OBJECT)

    def _put(self, scalar: bytes, whole: bytes, part: bytes, quoted: bytes) -> None:
        if scalar == b'"':
            self.kinds.append(quoted)
        elif whole is NAME and len(scalar) > _LONGEST_NAME:
            raise OtherForm
        else:
            self.kinds.append(whole if scalar == WORD else part * scalar.count(WORD))
        between = b"%b" if scalar == b'"' else scalar.replace(WORD, b"%b").replace(_BLANK, b" ")
        self.text.append(b'"%b"' % between)

    def _value(self, value: bytes) -> None:
        if value[:1] not in b"[{":
            self._put(value, VALUE, VALUE_PART, VALUE_QUOTED)
            return
        step = flowforms.Form().whole(value.replace(BREAK, FLOW_BREAK))
        self.text.append(step.text)
        self.kinds.append(step.kinds)
