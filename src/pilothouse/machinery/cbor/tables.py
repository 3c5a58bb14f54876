"""Items of one shape behind each other are read as a table: one pattern finds what differs among them, column by
column, and one expression makes of the rows what the items say. A shape is what items are made of: containers with
their names, and places for texts, numbers and the like.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from itertools import islice
from typing import Any, Final, NamedTuple

from pilothouse.machinery.cbor import numbers
from pilothouse.machinery.cbor.firsts import OTHER, SHORT, TINY, small_values
from pilothouse.machinery.cbor.numbers import FORMS
from pilothouse.machinery.jsoncodec import plain_floats

_LOOKED_AT: Final = 1 << 12  # bytes of items to learn from,
_SOME: Final = 16  # and items
_TRIES: Final = 8  # to learn
_LEAST: Final = 1 << 9  # bytes that are read together, at first
_MOST: Final = 1 << 14
_INNER: Final = 16  # items of a container: where there are as many, they are worth a look for themselves
_PLACES: Final = 64  # in an item
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


class _Look:
    """Looks at one item of a text that has a sign for each byte. `found`: what is in its places, with its head."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._between = [""]
        self._names: list[str] = []
        self._room = 0
        self.found: list[str] = []

    def shape(self, at: int, deeper: int, *, named: bool) -> tuple[Shape, int]:
        """The shape of the item at `at`, or of the member if it is `named`, and the place behind it.

        Raises _Odd, IndexError.
        """
        name = ""
        if named:
            name, at = self._scalar(at, only_texts=True)
        made, at = self._item(at, deeper)
        made = f"({name}, {made})" if named else made
        return Shape(tuple(self._between), made, tuple(self._names), self._room), at

    def _item(self, at: int, deeper: int) -> tuple[str, int]:
        """The expression for an item, and the place behind it."""
        head = ord(self._text[at])
        if not 0x80 <= head < 0xC0:
            return self._scalar(at)
        named, count = head >= 0xA0, head & 31
        if not deeper or count > _INNER:
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
        behind = self._behind(at, only_texts=True)
        self._between[-1] += self._text[at:behind]
        self._names.append(_value(self._text[at:behind]))
        return self._names[-1], behind

    def _scalar(self, at: int, *, only_texts: bool = False) -> tuple[str, int]:
        behind = self._behind(at, only_texts=only_texts)
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


class Table:
    """One for the items of a list, or for the members of an object if it is `named`: these are pairs then. `plain`:
    with the numbers of JSON. `room`: what the reader counts for an item.
    """

    __slots__ = ("_columns", "_made", "_named", "_pattern", "_plain", "_seen", "_shape", "_stretch", "_tries", "room")

    def __init__(self, *, named: bool, plain: bool) -> None:
        self._named = named
        self._plain = plain
        self._shape: Shape | None = None
        self._seen: list[dict[str, None]] = []  # in each place
        self._columns: list[Callable[[list[str]], list[Any]]] = []
        self._pattern: re.Pattern[str] | None = None
        self._made: Callable[[Iterable[Any]], list[Any]] = list
        self._tries = _TRIES
        self._stretch = _LEAST
        self.room = 0

    def read(self, text: str, at: int, most: int, deeper: int) -> tuple[list[Any], int]:
        """What the items at `at` say, as far as they are of one shape, no more than `most` if that is not negative; and
        how long they are. `deeper` containers may be in each other.
        """
        values, length = self._take(text, at, most)
        if not values and (self._named or text[at] in _CONTAINERS) and self._learn(text, at, deeper):
            values, length = self._take(text, at, most)
        return values, length

    def _learn(self, text: str, at: int, deeper: int) -> bool:
        """Looks at the first few items at `at`. Whether they have a shape."""
        if not self._tries:
            return False
        self._tries -= 1
        text, at = text[at : at + _LOOKED_AT], 0
        number = 0
        try:
            for number in range(_SOME):
                look = _Look(text)
                shape, at = look.shape(at, deeper, named=self._named)
                if shape != self._shape:
                    if number:
                        break
                    self._shape, self._seen = shape, [{} for _ in look.found]
                for seen, found in zip(self._seen, look.found, strict=True):
                    seen[found] = None
        except (_Odd, IndexError):
            pass  # as many as there are
        if number:
            self._compile()
        return number > 0

    def _take(self, text: str, at: int, most: int) -> tuple[list[Any], int]:
        """The same of the shape that was learnt."""
        pattern = self._pattern
        if pattern is None:
            return [], 0
        piece = text[at : at + self._stretch]
        parts = pattern.split(piece)
        width = pattern.groups + 1
        between = parts[:-1:width]
        good = next(place for place, other in enumerate(between) if other) if any(between) else len(between)
        good = min(good, most) if most >= 0 else good
        length = len(piece) - len(parts[-1])
        if good < len(between):
            length = next(islice(pattern.finditer(piece), good - 1, None)).end() if good else 0
        self._stretch = min(4 * self._stretch, _MOST) if 2 * length > len(piece) else _LEAST
        columns = [read(parts[place : good * width : width]) for place, read in enumerate(self._columns, 1)]
        return self._made(zip(range(good), *columns, strict=True)), length

    def _compile(self) -> None:
        """The pattern and the expression for what was seen."""
        shape = self._shape
        assert shape is not None
        given: dict[str, Any] = {f"n{place}": name for place, name in enumerate(shape.names)}
        variables = []
        pattern = re.escape(shape.between[0])
        self._columns = []
        for place, (seen, behind) in enumerate(zip(self._seen, shape.between[1:], strict=True)):
            if len(seen) == 1:
                (only,) = seen
                given[f"v{place}"] = _value(only, plain=self._plain)
                pattern += re.escape(only + behind)
                continue
            variables.append(f"v{place}")
            pattern += f"({_pattern(seen)}){re.escape(behind)}"
            texts = all(item[0] in _SHORT for item in seen)
            self._columns.append(_texts if texts else partial(_values, plain=self._plain))
        self._pattern = re.compile(pattern, re.DOTALL)
        self._made = partial(_maker(shape.made, ", ".join(("_", *variables)), ", ".join(given)), *given.values())
        self.room = shape.room


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
        lengths = [head for head in short if head in heads]
        made += [short[head] for head in (lengths if len(lengths) <= _FEW else short)]
    longer = {item[:2] for item in seen if item[0] in _LONGER}
    made += [rf"{re.escape(head)}[\x00-\x7f]{{{ord(head[1])}}}" for head in sorted(longer)]
    return "|".join(made)


def _texts(column: list[str]) -> list[str]:
    """What short texts say."""
    return [item[1:] for item in column]


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
