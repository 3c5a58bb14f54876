"""Items of one shape behind each other are read as a table: one pattern finds what differs among them, column by
column, and one expression makes of the rows what the items say. A shape is what items are made of: containers with
their names, and places for texts, numbers and the like.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from itertools import compress, islice
from typing import Any, Final, NamedTuple

from pilothouse.machinery.cbor import numbers
from pilothouse.machinery.cbor.firsts import OTHER, SHORT, TINY, small_values
from pilothouse.machinery.cbor.numbers import FORMS
from pilothouse.machinery.jsoncodec import plain_floats

_LOOKED_AT: Final = 1 << 12  # bytes of items to learn from,
_SOME: Final = 12  # and items
_MORE: Final = 8  # bytes by which an item may be longer than others
_SHAPES: Final = 12  # in one list, or object
_LEAST: Final = 1 << 9  # bytes that are read together, at first
_MOST: Final = 1 << 14
_AT_LEAST: Final = 4  # items that are read together
_INNER: Final = 15  # items of a list: where there are more, they are worth a look for themselves;
_MEMBERS: Final = 23  # and of an object, whose number is in its first byte
_PLACES: Final = 80  # in an item
_FEW: Final = 3  # lengths of texts: where more were seen, there may be any

_WHOLE: Final = r"[\x00-\x17\x20-\x37]|[\x18\x38].|[\x19\x39]..|[\x1a\x3a].{4}"
_GREAT: Final = {chr(first): numbers.GOOD[first].decode() for first in (0x1B, 0x3B, 0xF9, 0xFA, 0xFB)}
_PLAIN: Final = r"[\xf4-\xf6]"
_SIMPLE: Final = frozenset("\xf4\xf5\xf6")
_BYTES: Final = {chr(0x40 + size): rf"\x{0x40 + size:x}[\x00-\x7f]{{{size}}}" for size in range(24)}
_TEXTS: Final = {chr(0x60 + size): rf"\x{0x60 + size:x}[\x00-\x7f]{{{size}}}" for size in range(24)}
_SHORT: Final = _BYTES | _TEXTS
_CONTAINERS: Final = frozenset(map(chr, range(0x80, 0xC0)))
_LONGER: Final = frozenset("\x58\x78")
_SCALAR: Final = re.compile("|".join((_WHOLE, _PLAIN, *_GREAT.values(), *_SHORT.values())), re.DOTALL)


class _Odd(Exception):
    """An item that is refused, or not worth it."""


class Shape(NamedTuple):
    """`between`: what is before, between and behind the places; `made`: the expression of what an item says, in which
    v0 is what is in the first place, and n0 the first of the `names`. `room`: as much JSON as the reader counts for it.
    """

    between: tuple[str, ...]
    made: str
    names: tuple[str, ...]
    room: int


class Rows(NamedTuple):
    """What items say; of members, with their names. `length`: of all, in bytes; `room`: of all, as that of a shape."""

    names: list[str]
    values: list[Any]
    length: int
    room: int


class _Look:
    """Looks at one item of a text that has a sign for each byte. `found`: what is in its places, with its head."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._between = [""]
        self._names: list[str] = []
        self._room = 0
        self.found: list[str] = []

    def shape(self, at: int, deeper: int) -> tuple[Shape, int]:
        """The shape of the item at `at`, and the place behind it. Raises _Odd, IndexError."""
        made, at = self._item(at, deeper)
        return Shape(tuple(self._between), made, tuple(self._names), self._room), at

    def name(self, at: int) -> tuple[str, int]:
        """The name at `at` with its head, and the place behind it. Raises _Odd, IndexError."""
        behind = self._behind(at, only_texts=True)
        return self._text[at:behind], behind

    def _item(self, at: int, deeper: int) -> tuple[str, int]:
        """The expression for an item, and the place behind it."""
        head = ord(self._text[at])
        if not 0x80 <= head < 0xC0:
            return self._scalar(at)
        named, count = head >= 0xA0, head & 31
        if not deeper or count > (_MEMBERS if named else _INNER):
            raise _Odd
        self._between[-1] += self._text[at]
        self._room += (4 if named else 1) * count + 1 if count else 0
        at += 1
        names: set[str] = set()
        items = []
        for _ in range(count):
            begin = ""
            if named:
                name, at = self._name(at)
                names.add(name)
                begin = f"n{len(self._names) - 1}: "
            item, at = self._item(at, deeper - 1)
            items.append(begin + item)
        if named and len(names) < count:
            raise _Odd
        return ("{%s}" if named else "[%s]") % ", ".join(items), at

    def _name(self, at: int) -> tuple[str, int]:
        """The name of a member, and the place behind it."""
        name, behind = self.name(at)
        self._between[-1] += name
        self._names.append(_value(name))
        return self._names[-1], behind

    def _scalar(self, at: int) -> tuple[str, int]:
        behind = self._behind(at)
        self.found.append(self._text[at:behind])
        self._between.append("")
        if len(self.found) > _PLACES:
            raise _Odd
        return f"v{len(self.found) - 1}", behind

    def _behind(self, at: int, *, only_texts: bool = False) -> int:
        text = self._text
        if text[at] in _LONGER:
            behind = at + 2 + ord(text[at + 1])
            if behind > len(text) or not text[at + 2 : behind].isascii():
                raise _Odd
            return behind
        found = _SCALAR.match(text, at)
        if found is None or (only_texts and text[at] not in _SHORT):
            raise _Odd
        return found.end()


class _Form:
    """A shape, and what was seen in its places."""

    __slots__ = ("_columns", "_made", "_shape", "group", "seen")

    def __init__(self, shape: Shape, places: int) -> None:
        self._shape = shape
        self.seen: list[dict[str, None]] = [{} for _ in range(places)]
        self.group = 0  # of the pattern of all: what an item of this shape begins with
        self._columns: list[Callable[[list[str]], list[Any]]] = []
        self._made: Callable[[Iterable[Any]], list[Any]] = list

    def pattern(self, *, plain: bool) -> str:
        """The pattern of an item: a group for its first byte, and for each place in which more than one was seen."""
        shape = self._shape
        given: dict[str, Any] = {f"n{place}": name for place, name in enumerate(shape.names)}
        variables = ["_"]
        pattern = re.escape(shape.between[0])
        self._columns = []
        for place, (seen, behind) in enumerate(zip(self.seen, shape.between[1:], strict=True)):
            if len(seen) == 1:
                (only,) = seen
                given[f"v{place}"] = _value(only, plain=plain)
                pattern += re.escape(only + behind)
                continue
            variables.append(f"v{place}")
            pattern += f"({_pattern(seen)}){re.escape(behind)}"
            self._columns.append(_reader(seen, plain=plain))
        self._made = partial(_maker(shape.made, ", ".join(variables), ", ".join(given)), *given.values())
        return f"(?=(.)){pattern}"

    @property
    def groups(self) -> int:
        return 1 + len(self._columns)

    def read(self, parts: list[Any], good: int, width: int, into: list[Any]) -> int:
        """Puts what the items of this shape say where they belong among so many that were found. Their `room`."""
        found = parts[self.group : good * width : width]
        places = [place for place, first in enumerate(found) if first is not None]
        if not places:
            return 0
        columns = []
        for group, read in enumerate(self._columns, self.group + 1):
            column = parts[group : good * width : width]
            columns.append(read(column if len(places) == good else list(compress(column, found))))
        values = self._made(zip(places, *columns, strict=True))
        if len(places) == good:
            into[:] = values
        for place, value in zip(places, values, strict=True) if len(places) < good else ():
            into[place] = value
        return len(places) * self._shape.room


class Table:
    """One for the items of a list, or for the members of an object if it is `named`. `plain`: with the numbers of
    JSON. It looks at `_stretch` bytes together, as many as were good the last time, which are `_least` at first; or at
    `_each` for an item.
    """

    __slots__ = ("_each", "_forms", "_least", "_named", "_names", "_pattern", "_plain", "_stretch")

    def __init__(self, *, named: bool, plain: bool) -> None:
        self._named = named
        self._plain = plain
        self._names: dict[str, None] = {}
        self._forms: dict[Shape, _Form] = {}
        self._pattern: re.Pattern[str] | None = None
        self._least = self._stretch = self._each = _LEAST

    def learn(self, text: str, at: int, deeper: int, most: int) -> int:
        """Looks at the first few items at `at`, in which `deeper` containers may be in each other. How long the pattern
        is that it made, of `most`: 0 if it learnt nothing.
        """
        text, at = text[at : at + _LOOKED_AT], 0
        try:
            for _ in range(_SOME):
                behind = self._look(text, at, deeper)
                self._least = max(self._least, _AT_LEAST * (behind - at))
                at = behind
        except (_Odd, IndexError):
            pass  # as many as there are
        before, self._pattern = self._pattern, None
        if not 0 < len(self._forms) <= _SHAPES:
            return 0
        group = 1 + self._named
        patterns = []
        for form in self._forms.values():
            form.group = group
            patterns.append(form.pattern(plain=self._plain))
            group += form.groups
        pattern = f"{f'({_pattern(self._names)})' if self._named else ''}(?:{'|'.join(patterns)})"
        if before is not None and before.pattern == pattern:
            self._pattern = before
            return 0
        if len(pattern) > most:
            return 0
        self._pattern = re.compile(pattern, re.DOTALL)
        self._stretch = self._each = self._least
        return len(pattern)

    def take(self, text: str, at: int, most: int) -> Rows:
        """What the items at `at` say, as far as they have a shape that was learnt, no more than `most` if that is not
        negative.
        """
        pattern = self._pattern
        if pattern is None:
            return Rows([], [], 0, 0)
        piece = text[at : at + (self._stretch if most < 0 else min(self._stretch, most * self._each))]
        parts = pattern.split(piece)
        width = pattern.groups + 1
        between = parts[:-1:width]
        good = next(place for place, other in enumerate(between) if other) if any(between) else len(between)
        good = min(good, most) if most >= 0 else good
        length = len(piece) - len(parts[-1])
        if good < len(between):
            length = next(islice(pattern.finditer(piece), good - 1, None)).end() if good else 0
        self._stretch = min(4 * self._stretch, _MOST) if 2 * length > len(piece) else self._least
        if good:
            self._each = length // good + _MORE
        values: list[Any] = [None] * good
        room = sum(form.read(parts, good, width, values) for form in self._forms.values())
        names = _strings(parts[1 : good * width : width]) if self._named else []
        return Rows(names, values, length, room)

    def _look(self, text: str, at: int, deeper: int) -> int:
        """The place behind an item, once it was looked at. Raises _Odd, IndexError."""
        look = _Look(text)
        name, at = look.name(at) if self._named else ("", at)
        shape, at = look.shape(at, deeper)
        form = self._forms.get(shape)
        if form is None:
            form = self._forms[shape] = _Form(shape, len(look.found))
        for seen, found in zip(form.seen, look.found, strict=True):
            seen[found] = None
        if self._named:
            self._names[name] = None
        return at


@lru_cache(256)
def _maker(made: str, variables: str, given: str) -> Callable[..., list[Any]]:
    """Makes what items say from rows of values; no name or text of a document is in these expressions."""
    function: Callable[..., list[Any]] = eval(
        f"lambda {given}{', ' if given else ''}rows: [{made} for {variables} in rows]"
    )
    return function


def _pattern(seen: Iterable[str]) -> str:
    """That of all that is like what was seen in a place."""
    heads = {item[0] for item in seen}
    made = [_WHOLE] if min(heads) < "\x40" else []
    made += [good for head, good in _GREAT.items() if head in heads]
    made += [_PLAIN] if not heads.isdisjoint(_SIMPLE) else []
    for short in (_BYTES, _TEXTS):
        lengths = sorted(heads.intersection(short))
        if len(lengths) > _FEW:  # and so there may be others
            lengths = [head for head in short if lengths[0] <= head <= chr(ord(lengths[-1]) + 1)]
        made += [short[head] for head in lengths]
    longer = {item[:2] for item in seen if item[0] in _LONGER}
    made += [rf"{re.escape(head)}[\x00-\x7f]{{{ord(head[1])}}}" for head in sorted(longer)]
    return "|".join(made)


def _reader(seen: Iterable[str], *, plain: bool) -> Callable[[list[str]], list[Any]]:
    """What reads a column in whose items these were seen."""
    heads = {item[0] for item in seen}
    if heads <= _SHORT.keys():
        return _short_strings
    return _strings if heads <= _SHORT.keys() | _LONGER else partial(_values, plain=plain)


def _short_strings(column: list[str]) -> list[str]:
    return [item[1:] for item in column]


def _strings(column: list[str]) -> list[str]:
    return [item[2:] if item[0] in _LONGER else item[1:] for item in column]


def _values(column: list[str], *, plain: bool) -> list[Any]:
    """What items say, quicker if they are numbers that are equally long, or often equal."""
    joined = "".join(column).encode("latin-1")
    if len(joined) == len(column):
        return list(small_values(joined))
    if joined[0] in FORMS and len(found := numbers.many(joined, 0, -1, plain=plain)) == len(column):
        return found
    known = {item: _value(item, plain=plain) for item in set(column)}
    return [known[item] for item in column]


def _value(item: str, *, plain: bool = False) -> Any:
    """What an item says that is no container."""
    first = ord(item[0])
    if TINY[first] is not OTHER:
        return TINY[first]
    if first not in FORMS:
        return item[1:] if SHORT[first] else item[2:]
    value = numbers.one(item.encode("latin-1"), 0)
    return plain_floats(value) if plain and value.__class__ is float else value
