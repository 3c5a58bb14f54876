"""Shapes of items: what they are made of, whatever the values are. The items of a long list mostly have few shapes, so
that one call steps over many that have one of those that were seen. Names are part of a shape: that none comes twice in
an object is known from the first one. Loose shapes are for what is refused already: items need only be well-formed.
"""

from __future__ import annotations

import re
from itertools import groupby, islice
from typing import Final

from pilothouse.machinery.cbor import model, numbers, runs
from pilothouse.machinery.cbor.firsts import SHORT
from pilothouse.machinery.cbor.heads import head
from pilothouse.machinery.cbor.model import CBORError

SOME: Final = 32  # items that are stepped over together
_TRIES: Final = 6  # to learn, in one document
_LOOKED_AT: Final = 1024  # bytes of items
_LONGEST: Final = 6144  # bytes of a pattern: it takes milliseconds to make,
_FEW: Final = 3  # alike items, which are quicker said one by one
_MANY: Final = 12  # and is of no use for items of so many shapes
_SECONDS: Final = rb"(?:[\x00-\x17]|\x18.|\x19.{2}|\x1a.{4})"  # of times that have a text
_WHOLE: Final = rb"(?:[\x00-\x17\x20-\x37]|[\x18\x38].|[\x19\x39].{2}|[\x1a\x3a].{4})"
_VALUES: Final[dict[int, bytes]] = {
    **dict.fromkeys((*range(0x1B), *range(0x20, 0x3B)), _WHOLE),
    **{first: b"(?:%b)" % numbers.GOOD[first] for first in (0x1B, 0x3B, 0xF9, 0xFA, 0xFB)},
    **dict.fromkeys((0xF4, 0xF5, 0xF6), rb"[\xf4-\xf6]"),
}
_LOOSE_VALUES: Final[dict[int, bytes]] = {
    **dict.fromkeys((*range(0x1C), *range(0x20, 0x3C)), rb"(?:%b|[\x1b\x3b].{8})" % _WHOLE),
    **dict.fromkeys((0xF9, 0xFA, 0xFB), rb"(?:\xf9.{2}|\xfa.{4}|\xfb.{8})"),
    **dict.fromkeys(range(0xE0, 0xF9), rb"(?:[\xe0-\xf7]|\xf8[\x20-\xff])"),
}
_SIZES: Final = {first: form.size for first, form in numbers.FORMS.items()} | {0xF8: 2}  # of others it is 1
_NAME: Final = b"|".join(rb"[\x%x\x%x][\x00-\x7f]{%d}" % (0x40 + size, 0x60 + size, size) for size in range(1, 24))
_LOOSE_TEXT: Final = rb"(?:\x60|%b)" % b"|".join(rb"\x%x.{%d}" % (0x60 + size, size) for size in range(1, 24))


class _Odd(Exception):
    """An item that is refused, or not worth a pattern."""


class Shapes:
    """Those in a document. `named`: of the values of members, whose names are short and ASCII."""

    __slots__ = ("_known", "_loose", "_members", "_named", "_patterns", "_tries")

    def __init__(self, *, loose: bool = False, named: bool = False) -> None:
        self._loose = loose
        self._named = named
        self._known: dict[int, dict[bytes, None]] = {}  # by how deep their items may be
        self._patterns: dict[int, re.Pattern[bytes]] = {}
        self._members: dict[int, re.Pattern[str]] = {}
        self._tries = _TRIES

    def pattern(self, deeper: int) -> re.Pattern[bytes] | None:
        """SOME items that have one of the shapes that were learnt."""
        return self._patterns.get(deeper)

    def learn(self, data: bytes, at: int, deeper: int) -> bool:
        """The shapes of the items at `at`, of the first few. Whether there is a new one."""
        if not self._tries:
            return False
        self._tries -= 1
        known = self._known.setdefault(deeper, {})
        before, room = len(known), _LONGEST - sum(map(len, known))
        items, at = data[at : at + _LOOKED_AT], 0
        try:
            for _ in range(SOME):
                at += SHORT[items[at]] if self._named else 0
                shape, at = _shape(items, at, deeper, self._loose)
                if at > len(items):
                    break
                if shape not in known:
                    room -= len(shape)
                    if room < 0:
                        break
                    known[shape] = None
        except (_Odd, CBORError, IndexError):
            pass  # as many as there are
        if len(known) > _MANY:
            self._tries = 0
        if len(known) == before or not self._tries:
            return False
        shapes = b"|".join(known)
        if self._named:
            self._members[deeper] = re.compile((rb"(%b)(?:%b)" % (_NAME, shapes)).decode("latin-1"), re.DOTALL)
        else:
            self._patterns[deeper] = re.compile(rb"(?:%b){%d}" % (shapes, SOME), re.DOTALL)
        return True

    def members(self, latin: str, deeper: int, most: int) -> tuple[list[str], int]:
        """The names of the members that a text begins with, as far as their values have one of the shapes that were
        learnt, and how long they are; no more than `most`, if that is not negative. The text has a sign for each byte.
        """
        pattern = self._members.get(deeper)
        if pattern is None:
            return [], 0
        parts = pattern.split(latin)
        between, names = parts[:-1:2], parts[1::2]
        good = next((place for place, other in enumerate(between) if other), len(names)) if any(between) else len(names)
        good = min(good, most) if most >= 0 else good
        length = len(latin) - len(parts[-1])
        if good < len(names):
            length = next(islice(pattern.finditer(latin), good - 1, None)).end() if good else 0
        return [name[1:] for name in names[:good]], length


def _shape(data: bytes, at: int, deeper: int, loose: bool) -> tuple[bytes, int]:
    """The pattern of the item at `at`, and the place behind it."""
    first = data[at]
    value = (_LOOSE_VALUES if loose else _VALUES).get(first)
    if value is not None:
        return value, at + _SIZES.get(first, 1)
    major, argument, behind = head(data, at)
    begin = re.escape(data[at:behind])
    if major in (model.BYTES, model.TEXT):
        pattern = _string(begin, major, argument, loose)
        if major == model.TEXT and not loose and not (text := data[behind : behind + max(argument, 0)]).isascii():
            pattern = b"(?:%b|%b)" % (pattern, begin + re.escape(_good(text)))  # this one, and those of ASCII
        return pattern, behind + argument if argument >= 0 else _behind_pieces(data, behind, major)
    if not deeper:
        raise _Odd
    if major in (model.ARRAY, model.MAP):
        inner, behind = _inner(data, behind, major, argument, deeper - 1, loose)
        return begin + inner, behind
    if major != model.TAG or (argument in model.BIGNUMS and not loose):
        raise _Odd
    inner, behind = _shape(data, behind, deeper - 1, loose)
    if argument == model.TIME_NUMBER and not loose:
        if inner != _WHOLE:
            raise _Odd
        return begin + _SECONDS, behind
    return (begin if argument in (model.TIME_NUMBER, *model.BIGNUMS) else b"(?:%b)" % runs.TAG) + inner, behind


def _string(begin: bytes, major: int, size: int, loose: bool) -> bytes:
    """The pattern of a string; `size` is negative if it is in pieces."""
    if size < 24:
        short = _LOOSE_TEXT if loose and major == model.TEXT else runs.SHORT[major]
        return short if size >= 0 else begin + short + rb"*\xff"
    return begin + (b".{%d}" if loose or major == model.BYTES else rb"[\x00-\x7f]{%d}") % size


def _good(text: bytes) -> bytes:
    try:
        text.decode()
    except UnicodeDecodeError:
        raise _Odd from None
    return text


def _behind_pieces(data: bytes, at: int, major: int) -> int:
    while data[at] != model.BREAK:
        kind, size, begin = head(data, at)
        if kind != major or size < 0:
            raise _Odd
        at = begin + size
    return at + 1


def _inner(data: bytes, at: int, major: int, left: int, deeper: int, loose: bool) -> tuple[bytes, int]:
    """The pattern of the items of a container, of which the first is at `at`, and the place behind them."""
    items = []
    names: set[bytes] = set()
    while left and not (left < 0 and data[at] == model.BREAK):
        name = b""
        if major == model.MAP and loose:
            name, at = _shape(data, at, deeper, loose)
        elif major == model.MAP:
            name, at = _name(data, at, names)
        item, at = _shape(data, at, deeper, loose)
        items.append(name + item)
        left -= 1
    alike = [(item, sum(1 for _ in group)) for item, group in groupby(items)]
    pattern = b"".join(item * count if count <= _FEW else b"(?:%b){%d}" % (item, count) for item, count in alike)
    return (pattern, at) if not left else (pattern + rb"\xff", at + 1)


def _name(data: bytes, at: int, names: set[bytes]) -> tuple[bytes, int]:
    """The pattern of a name that is not among `names` yet, and the place behind it."""
    major, size, begin = head(data, at)
    name = data[begin : begin + size]
    if major not in (model.BYTES, model.TEXT) or size < 0 or name in names or not name.isascii():
        raise _Odd
    names.add(name)
    return re.escape(data[at : begin + size]), begin + size
