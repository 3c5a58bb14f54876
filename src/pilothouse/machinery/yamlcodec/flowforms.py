"""What the signs of flow style mean, whatever words stand between them: `{a: a, a: [a]}` as a form of JSON text.

A document has many words, but few different pieces of signs. So an automaton reads the signs piece by piece; what a
piece means where it stands is found once, by tokens, and looked up when it comes again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

# How a text without its words is written: `a` for each word, `"` for each text in quotes, `_`, `;` and `#` for
# spaces, breaks and comments; all signs as they are.
WORD: Final = b"a"
END: Final = b"\0"  # what stands between two values

# What each word is, a letter for each: a whole scalar, or a part of one, as a value or in a name; in quotes or not.
VALUE: Final = b"v"
VALUE_PART: Final = b"p"
VALUE_QUOTED: Final = b"q"
NAME: Final = b"V"
NAME_PART: Final = b"P"
NAME_QUOTED: Final = b"Q"

_DEEPEST: Final = 64  # levels
_MOST_STEPS: Final = 20_000  # that are found for one text: more would take longer than reading it in another way
_LONGEST_NAME: Final = 60  # signs, without its words: the parser takes no name that is too long, or has a break
_SCALAR: Final = rb"a(?:(?:_+|::?|_*;[_;]*)a){0,300}"  # more words are read faster one by one
_TOKEN: Final = re.compile(
    rb"[_;#]*(?:(?P<name>%b)_*:(?=[_;])|(?P<text>%b)|(?P<sign>[\"\[\]{},\0])|$)" % (_SCALAR, _SCALAR)
)
_COLON: Final = re.compile(rb"_*:")
_BETWEEN: Final = re.compile(rb"[^a]+")


class OtherForm(Exception):
    """Signs that mean nothing, or nothing that is sure."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a piece means: its JSON text with `%b` for each word, what the words are, and what is behind it."""

    text: bytes
    kinds: bytes
    behind: Place


class Place(dict[bytes, Step]):
    """Where a piece may stand: what each one that stood there before means."""

    __slots__ = ("expected", "form", "open")

    def __init__(self, form: Form, opened: str, expected: str) -> None:
        self.form, self.open, self.expected = form, opened, expected

    def __missing__(self, piece: bytes) -> Step:
        step = self[piece] = self.form.step(self, piece)
        return step


# What is expected at a place.
_START: Final = "start"  # a list or an object that is a value by itself
_DONE: Final = "done"  # nothing more of it
_FIRST: Final = "first"  # an item or a member, or the end
_NEXT: Final = "next"  # the same, behind a comma
_VALUE: Final = "value"  # the value of a member
_COMMA: Final = "comma"  # a comma, or the end
_LEADS: Final = {
    _FIRST: b"",
    _NEXT: b",",
    _VALUE: b":",
    _START: b"",
}  # what is written before a value that stands there


class Form:
    """Reads the pieces of one text, one after the other."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], Place] = {}
        self._left = _MOST_STEPS

    def read(self, pieces: list[bytes]) -> list[Step]:
        """What the pieces mean; no word, space or text goes on in the next one. Raises OtherForm."""
        steps: list[Step] = []
        add = steps.append
        place = self.place("", _START)
        for piece in pieces:
            step = place[piece]
            place = step.behind
            add(step)
        if place.expected is not _DONE:
            raise OtherForm
        return steps

    def whole(self, piece: bytes) -> Step:
        """What one piece means that is a value. Raises OtherForm."""
        step = self.step(self.place("", _START), piece)
        if step.behind.expected is not _DONE:
            raise OtherForm
        return step

    def place(self, opened: str, expected: str) -> Place:
        """The place within these brackets where that is expected."""
        found = self._places.get((opened, expected))
        if found is None:
            found = self._places[opened, expected] = Place(self, opened, expected)
        return found

    def step(self, place: Place, piece: bytes) -> Step:
        """What a piece means there. Raises OtherForm."""
        self._left -= 1
        if not self._left:
            raise OtherForm
        reader = _Reader(place.open, place.expected)
        reader.read(piece)
        return Step(b"".join(reader.text), b"".join(reader.kinds), self.place(reader.open, reader.expected))


class _Reader:
    """Reads one piece, token by token."""

    def __init__(self, opened: str, expected: str) -> None:
        self.open, self.expected = opened, expected
        self.text: list[bytes] = []
        self.kinds: list[bytes] = []

    def read(self, piece: bytes) -> None:
        at = 0
        while at < len(piece):
            found = _TOKEN.match(piece, at)
            if found is None:
                raise OtherForm
            at = found.end()
            if found["name"] is not None:
                self._name(found["name"])
            elif found["text"] is not None:
                self._scalar(found["text"])
            elif found["sign"] == b'"':
                at = self._quoted(piece, at)
            elif found["sign"] is not None:
                self._sign(found["sign"])

    def _is_name(self) -> bool:
        return self.open[-1:] == "{" and self.expected is not _VALUE

    def _begin(self) -> None:
        """A scalar, list or object begins."""
        lead = _LEADS.get(self.expected)
        if lead is None or (self.expected is _START) is not (not self.open):
            raise OtherForm
        self.text.append(lead)

    def _name(self, name: bytes) -> None:
        if not self._is_name():
            raise OtherForm  # a: b in a list is an object
        self._begin()
        self._put(name, NAME, NAME_PART)
        self.expected = _VALUE

    def _scalar(self, scalar: bytes) -> None:
        named = self._is_name()
        self._begin()
        if named:
            self._put(scalar, NAME, NAME_PART)
            self.text.append(b":null")
        else:
            self._put(scalar, VALUE, VALUE_PART)
        self.expected = _COMMA

    def _put(self, scalar: bytes, whole: bytes, part: bytes) -> None:
        if not self.open:
            raise OtherForm
        if whole is NAME and (b";" in scalar or len(scalar) > _LONGEST_NAME):
            raise OtherForm
        parts = scalar.count(WORD)
        self.kinds.append(whole if parts == 1 else part * parts)
        between = _BETWEEN.sub(_folded, scalar) if parts > 1 else scalar
        self.text.append(b'"%b"' % between.replace(WORD, b"%b"))

    def _quoted(self, piece: bytes, at: int) -> int:
        """A text in quotes, and the colon behind it if it is a name: where that ends."""
        if not self.open:
            raise OtherForm
        named = self._is_name()
        self._begin()
        self.text.append(b'"%b"')
        self.kinds.append(NAME_QUOTED if named else VALUE_QUOTED)
        self.expected = _COMMA
        if not named:
            return at
        colon = _COLON.match(piece, at, at + _LONGEST_NAME)
        if colon is None:
            self.text.append(b":null")
            return at
        self.expected = _VALUE
        return colon.end()

    def _sign(self, sign: bytes) -> None:
        if sign in b"[{":
            self._open(sign)
        elif sign == END:
            if self.expected is not _DONE:
                raise OtherForm
            self.text.append(b",")
            self.expected = _START
        else:
            if self.expected is _VALUE:
                self.text.append(b":null")
                self.expected = _COMMA
            if sign == b",":
                if self.expected is not _COMMA:
                    raise OtherForm
                self.expected = _NEXT
            else:
                self._close(sign)

    def _open(self, sign: bytes) -> None:
        if self._is_name() or len(self.open) == _DEEPEST:
            raise OtherForm
        self._begin()
        self.text.append(sign)
        self.open += sign.decode()
        self.expected = _FIRST

    def _close(self, sign: bytes) -> None:
        if self.open[-1:] != ("[" if sign == b"]" else "{"):
            raise OtherForm
        self.text.append(sign)
        self.open = self.open[:-1]
        self.expected = _COMMA if self.open else _DONE


def _folded(found: re.Match[bytes]) -> bytes:
    """What stands between two words of a scalar, in JSON: of breaks the first is a space, if it is the only one."""
    between = found[0]
    breaks = between.count(b";")
    if breaks:
        return b"\\n" * (breaks - 1) or b" "
    return between.replace(b"_", b" ")
