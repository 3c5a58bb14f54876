"""A long document in block style, read as a table: each line is an indentation, a name and a scalar.

What a line says is found out once for each distinct one, by one regular expression for many and for all scalars
together (`scalarcolumn.py`). Objects and lists are put together by the columns in which lines begin (`levels.py`).
Where a line is none of that (a text over several lines, a value in flow style that is not closed in its line, a tag, an
anchor), it and what belongs to it are kept for the parser, which reads all such regions as one document.

Whatever is not sure to be right gives no value: the document is read event by event then, and so are all wrong ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from pilothouse.machinery.goquote import quote
from pilothouse.machinery.yamlcodec.build import MOST_REPEATED
from pilothouse.machinery.yamlcodec.errors import YAMLError
from pilothouse.machinery.yamlcodec.levels import Level, Misplaced
from pilothouse.machinery.yamlcodec.scalarcolumn import ODD, meanings, names

_SINGLE: Final = r"'[^'\n]*(?:''[^'\n]*)*'"
_DOUBLE: Final = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
_PLAIN: Final = r"""(?=[^'"\[{&*!])[^\n:]++(?::(?=[^ \n])[^\n:]++)*"""
# The indentation with the dashes of list items; a name and its colon; the rest.
_LINE: Final = re.compile(
    rf"( *+(?:-(?: +|(?=\n))(?:-(?: +|(?=\n)))*)?)(?:({_PLAIN}|{_DOUBLE}|{_SINGLE}):(?: +|(?=\n)))?([^\n]*)\n"
)
_TOGETHER: Final = 2_000  # lines, so that others have their turns meanwhile
_OTHER: Final = re.compile("[\x80-\x9f\u2028\u2029\ufeff\ufffe\uffff]")  # breaks, marks, and what no text has
_LONGEST_NAME: Final = 1_000  # characters; the parser's limit is 1024 with what is around it
_START: Final = "---"
_SHORT: Final = 12  # bytes of a line; shorter ones are runs more often
_AGAIN: Final = 3  # times a line comes at least, on the average
_FEWER: Final = 4  # times less lines have to be the parser's
_SOME: Final = 64  # lines
_DOCUMENTS: Final = (_START, "...")
_NO_SCALAR: Final = "".__eq__
_NAMES: Final = ("'", '"', "? ")  # how a member begins whose name is none of a table's

Slow = Callable[[bytes], tuple[Any, list[str]]]
_Row = tuple[str, Any, Any, bool]
"""What a line says: its indentation with dashes, its name or None, its scalar, and whether it has none."""


def table_value(data: bytes, slowly: Slow) -> tuple[Any, list[str]] | None:
    """The value of a document without control characters and what strict decoding finds in it, or None.

    Members come in the order of the text, and parts of the value may be shared. `slowly` reads a document with the
    parser.
    """
    text = data.decode()
    if "\r" in text or (not text.isascii() and _OTHER.search(text)):
        return None
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    try:
        return _Table(lines, slowly).read()
    except (Misplaced, YAMLError):
        return None


def lines_come_again(data: bytes) -> bool:
    """Whether a document has few different lines, not too short ones, and few that are for the parser."""
    lines = data.split(b"\n")
    going_on = data.count(b",\n")  # of values in flow style
    return max(_AGAIN * len({*lines}), _FEWER * going_on) < len(lines) <= len(data) // _SHORT


def _rows(lines: Iterable[str]) -> tuple[dict[str, _Row], set[Any]]:
    """What each distinct line says that is no matter for the parser, and names that are written otherwise.

    Raises Misplaced, YAMLError.
    """
    distinct = [*{*lines}]
    prefixes: list[str] = []
    keys: list[Any] = []
    written: list[str] = []
    for start in range(0, len(distinct), _TOGETHER):
        cut = _LINE.split("\n".join(distinct[start : start + _TOGETHER]) + "\n")
        prefixes += cut[1::4]
        keys += cut[2::4]
        written += cut[3::4]
    meant = meanings(written)
    scalars: list[Any] = [*map(meant.get, written, written)] if meant else written
    named = {*keys}
    named.discard(None)
    if max(map(len, named), default=0) > _LONGEST_NAME:
        raise Misplaced
    renamed = names(named)
    if renamed:
        keys = [*map(renamed.get, keys, keys)]
    rows = dict(zip(distinct, zip(prefixes, keys, scalars, map(_NO_SCALAR, written), strict=True), strict=True))
    bare = {prefix for prefix in {*prefixes} if "-" not in prefix} if None in keys else ()
    for line, (prefix, key, scalar, _) in rows.copy().items():
        if scalar is ODD or key is ODD or (key is None and prefix in bare):
            del rows[line]
    return rows, {*renamed.values()}


class _Table:
    """The lines of a document, and what has been made of them so far."""

    def __init__(self, lines: list[str], slowly: Slow) -> None:
        rows, self._renamed = _rows(lines)
        self._lines = lines
        self._rows: list[_Row | None] = [*map(rows.get, lines)]
        self._repeated: list[str] = []
        self._slowly = slowly
        # The collections that are open, and what comes last in them: its name, whether its value is still to come, and
        # the line of a scalar that may go on in the next one.
        self._root: list[Any] = [None]
        self._tops: list[Any] = [self._root]
        self._level = Level(-1, list, None)
        self._key: Any = None
        self._awaits = True
        self._last = -1
        # What the parser has to read, and where it belongs: an object, or a place in a list.
        self._regions: list[str] = []
        self._places: list[tuple[Any, int]] = []
        self._left = len(lines) // _FEWER + _SOME  # lines that the parser may be given
        if self._rows.count(None) > self._left:
            raise Misplaced

    def read(self) -> tuple[Any, list[str]]:
        """The value, and names that are there twice. Raises Misplaced, YAMLError."""
        at = 0
        for odd in [line for line, row in enumerate(self._rows) if row is None] if None in self._rows else ():
            if odd >= at:
                self._put(at, odd)
                at = self._odd(odd)
        self._put(at, len(self._rows))
        self._fill()
        return self._root[0], self._repeated

    def _put(self, start: int, stop: int) -> None:
        """Puts the lines from `start` to before `stop` where they belong."""
        if start >= stop:
            return
        enter, key, awaits = self._enter, self._key, self._awaits
        # How lines begin that go on in `top`: in an object, or with a scalar in a list.
        members: str | None = None
        items: str | None = None
        top: Any = None
        rows: Any = self._rows[start:stop]
        for line, (prefix, name, scalar, awaits_next) in enumerate(rows, start):
            if name is None:
                if prefix != items:
                    top = enter(prefix, False, awaits, key)
                    members, items = None, prefix if prefix.count("-") == 1 else None
                top.append(scalar)
            else:
                if prefix != members:
                    top = enter(prefix, True, awaits, key)
                    members, items = self._level.members, None
                if name in top:
                    self._again(name, line, awaits_next)
                top[name] = scalar
                key = name
            awaits = awaits_next
        self._key, self._awaits, self._last = key, awaits, stop - 1

    def _enter(self, prefix: str, named: bool, awaits: bool, key: Any) -> Any:
        """The list or object to which a line belongs, opened where it is new. `key`: of the value that is awaited."""
        how = (prefix, named, awaits)
        closed, value, items, self._level = self._level.steps.get(how) or self._level.step(*how)
        tops = self._tops
        if closed:
            del tops[-closed:]
        top = tops[-1]
        if value is not None:
            made = value()
            top[-1 if top.__class__ is list else key] = made
            tops.append(made)
            top = made
        for maker in items:
            made = maker()
            top.append(made)
            tops.append(made)
            top = made
        return top

    def _again(self, name: str, line: int, awaits: bool) -> None:
        """Notes a member that is there already."""
        if awaits or name in self._renamed:
            raise Misplaced  # then it is told otherwise
        if len(self._repeated) < MOST_REPEATED:
            self._repeated.append(f"line {line + 1}: key {quote(name)} already set in map")

    def _odd(self, line: int) -> int:
        """Keeps a region for the parser that begins in a line or is found to have begun before; the line behind it."""
        whole = self._lines[line]
        found = whole.lstrip(" ")
        if not found or found[0] == "#" or (line == 0 and whole == _START):
            return line + 1
        if whole.startswith(_DOCUMENTS):
            raise Misplaced
        prefix, key, _ = _LINE.match(whole + "\n").groups()  # type: ignore[union-attr]  # any line matches
        begun, bare = line, key is None and "-" not in prefix
        if bare and len(prefix) > self._level.column and not (self._awaits and found.startswith("? ")):
            line = self._take_back()
        elif bare and not found.startswith(_NAMES):
            raise Misplaced
        else:
            top = self._enter(prefix, bare or key is not None, self._awaits, self._key)
            if top.__class__ is list:
                top.append(None)
        column, top = self._level.column, self._tops[-1]
        end = line + 1
        while end < len(self._lines) and self._belongs(end, column, top):
            end += 1
        if end <= begun:
            raise Misplaced
        first = " " * column + self._lines[line][column:]
        self._left -= end - line
        if self._left < 0:
            raise Misplaced  # it is less of a table than it seemed
        self._regions.append("-\n" + "".join(f"  {one}\n" for one in (first, *self._lines[line + 1 : end])))
        self._places.append((top, len(top) - 1 if top.__class__ is list else -1))
        self._awaits, self._last = False, -1
        return end

    def _take_back(self) -> int:
        """Takes the scalar back that came last, for it goes on: the line it is in."""
        top = self._tops[-1]
        if self._last < 0:
            raise Misplaced
        if top.__class__ is dict:
            del top[self._key]
        return self._last

    def _belongs(self, line: int, column: int, top: Any) -> bool:
        """Whether a line belongs to what began in a collection of that column."""
        found = self._lines[line]
        begun = found.lstrip(" ")
        if not begun or len(found) - len(begun) > column:
            return True
        if found.startswith(_DOCUMENTS):
            return False
        # A list may begin in the column of the name it is for; the value of a name written with `? ` does.
        return top.__class__ is dict and len(found) - len(begun) == column and begun[0] in "-:"

    def _fill(self) -> None:
        """Puts the values of all regions in their places."""
        if not self._regions:
            return
        values, repeated = self._slowly("".join(self._regions).encode())
        if repeated or len(values) != len(self._places):
            raise Misplaced
        for value, (top, place) in zip(values, self._places, strict=True):
            if value.__class__ is not top.__class__ or len(value) != 1:
                raise Misplaced
            if top.__class__ is list:
                top[place] = value[0]
            elif top.keys() & value.keys():
                raise Misplaced
            else:
                top.update(value)
