"""Items and members of which there are many: what can be had of them at once need not be read one by one."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from itertools import repeat
from typing import Any, Final

import orjson

from pilothouse.machinery.cbor import firsts, rows, runs, strings
from pilothouse.machinery.cbor.model import MAX_DEPTH, TOO_DEEP, CBORError, CBORTooLong
from pilothouse.machinery.cbor.steps import STRETCH, Steps
from pilothouse.machinery.cbor.tables import Rows, Table
from pilothouse.machinery.cbor.texts import BAD, escaped_apart, shown_apart
from pilothouse.machinery.schema import Schema

LEAST: Final = rows.LEAST
FEW: Final = 16  # items of one byte, or members that are stepped over
_STRETCH: Final = 1 << 9  # bytes of members that are stepped over together, at first
_PIECE: Final = 1 << 16  # items that one call makes
_PAIRS: Final = 1 << 10  # members that are taken together
_LESSONS: Final = 1 << 13  # bytes of patterns: each takes a millisecond for some hundred of them
_LONG: Final = 1 << 14  # bytes of a document in which it is worth to learn
_VAIN: Final = 1 << 9  # what a lesson costs in which nothing is learnt
_PARTED: Final = frozenset((list, dict))
_NOTHING: Final[list[Any]] = []  # what stands for what is not wanted: no scalar


class Many(Steps):
    """`text`: a sign for each byte of the data. `patience`: the place from where on it is worth to look for many that
    are alike. `stretch`: bytes of members that are stepped over together, as many as were good the last time. `tables`:
    by where their lists and objects are. `lessons`: how long the patterns may be that they still learn.

    In its methods, `depth` counts what an item is in: containers and tags. `left`: items of a container (or pairs) to
    come, below 0 where their end is marked. `later`: the tag (21 to 23) that says what byte strings are to become.
    """

    __slots__ = ("lessons", "patience", "stretch", "tables", "text")

    def __init__(self, data: bytes, schema: Schema | None = None, room: int = sys.maxsize) -> None:
        super().__init__(data, schema, room)
        self.text = data.decode("latin-1")
        self.patience = 0
        self.stretch = _STRETCH
        self.tables: dict[tuple[Any, ...], Table] = {}
        self.lessons = _LESSONS if len(data) >= _LONG else 0

    def _wide(self, made: dict[str, Any], at: int, left: int, depth: int, later: int) -> tuple[int, int, int]:
        """Takes members of an object that has many, or may have: the place behind them, how many are left, and how many
        will be where it is worth to look for many again.
        """
        if left > 0 or made:
            if self._is_unmade(depth):
                self._unmade(at, left, depth)
                made.clear()
                return self.at, 0, 0
            at, left = self._together(made, at, left, depth, later)
        return at, left, 0 if 0 <= left < LEAST else left - LEAST

    def _together(self, made: dict[str, Any], at: int, left: int, depth: int, later: int) -> tuple[int, int]:
        """Takes members into an object as long as many can be had at once. The place behind them, and how many are
        left. The first name that is there twice is left.
        """
        behind = at  # up to there, members are equally long, but for something else that is in them
        while left and at >= self.patience and not later and depth < MAX_DEPTH:
            before = left
            unwanted = self._may_be_unwanted(made, depth)
            if at >= behind:
                at, left, behind = self._row(made, at, left, depth, unwanted)
            if left == before and unwanted:
                at, left = self._passed(made, at, left, depth)
            if before - left < FEW and left:
                at, left = self._paired(made, at, left, depth)
            if before - left < FEW:
                self.patience = max(self.patience, behind)
                break
        return at, left

    def _row(self, made: dict[str, Any], at: int, left: int, depth: int, unwanted: bool) -> tuple[int, int, int]:
        """Takes members that are equally long. The place behind them, how many are left, and the place behind those
        that were looked at.
        """
        loose, texts = self.error is not None, self._are_texts(depth)
        names, plain, length, raw, encoded, bad = rows.row(
            self.data, at, left, MAX_DEPTH - depth, loose=loose, texts=texts, equal=not unwanted
        )
        values: Iterable[Any] | None = plain
        if encoded:
            wanted = self._are_wanted(made, names, depth)
            values = self._values(list(plain), depth) if wanted else repeat(_NOTHING, len(names))
        if not names or values is None:
            return at, left, at + length
        before = len(made)
        made.update(zip(names, values, strict=True))
        if len(made) < before + len(names):
            good = rows.until_twice(made, before, names)
            length = length // len(names) * good
            self.patience = at + length + 1
            return at + length, left - good, at
        self.raw = self.raw or raw
        self.shown = self.shown or bad
        self.room -= len(names) * len(names[0])  # in JSON, each is so long at least
        if self.room < 4 * len(made):
            raise CBORTooLong
        return at + length, left - len(names), at

    def _paired(self, made: dict[str, Any], at: int, left: int, depth: int) -> tuple[int, int]:
        """Takes members of an object whose values are short strings, or have one shape. The place behind them, and how
        many are left: as many as before where a name is there twice.
        """
        names, values, length, room = self._strings_paired(at, left, depth)
        if len(values) < FEW:
            names, values, length, room = self._tabled(at, left, depth, named=True)
        behind = at + length
        if not values:
            return at, left
        before = len(made)
        made.update(zip(names, values, strict=True))
        if len(made) < before + len(names):
            rows.until_twice(made, before, [])
            self.patience = behind
            return at, left
        self.room -= room + sum(map(len, names))
        if self.room < 4 * len(made):
            raise CBORTooLong
        return behind, left - len(names)

    def _strings_paired(self, at: int, left: int, depth: int) -> Rows:
        """The next members of an object, as far as their values are short strings of the kind that names are of."""
        first = self.data[at]
        if not 0x40 <= first < 0x80:
            return Rows([], [], 0, 0)
        most = left if 0 <= left < _PAIRS else _PAIRS
        latin, texts, behind = strings.pairs(self.data, self.text, at, most, first)
        names = self._names(latin, first, depth)
        if first >= 0x60:  # what is refused must not be found before a name that is there twice
            return Rows(names, self._names(texts, first, depth) if names else [], behind - at, 0)
        return Rows(names, self._decoded(texts, names, first, depth) if names else [], behind - at, 0)

    def _names(self, latin: list[str], first: int, depth: int) -> list[str]:
        """Names of one kind, which have a sign for each byte, or other texts; none if they are refused."""
        if "".join(latin).isascii():
            return latin
        names = escaped_apart(latin)
        try:
            "".join(names).encode()
        except UnicodeEncodeError:
            if first >= 0x60:
                return []
            self.misnamed.add(depth)
        return names

    def _texts(self, made: list[Any], at: int, left: int, depth: int, later: int) -> tuple[int, int]:
        """Takes short strings of one kind into a list, and looks at it where it is time to. Where its items go on, and
        how many are left.
        """
        first = self.data[at]
        latin, behind = strings.many(self.data, self.text, at, left % runs.MANY or runs.MANY, first)
        made += self._decoded(latin, range(len(made), len(made) + len(latin)), first, depth)
        left -= len(latin)
        if left and (self.error is not None or not left % runs.MANY):
            return self._many(made, behind, left, depth, later)
        return behind, left

    def _decoded(self, latin: list[str], steps: Iterable[Any], first: int, depth: int) -> list[str]:
        """Strings of one kind, which have a sign for each byte; they are in a container by these names, or places."""
        if "".join(latin).isascii():
            return latin
        if first < 0x60 and self._are_texts(depth):
            texts = shown_apart(latin)
            self.shown = self.shown or BAD in "".join(texts)
            return texts
        return [
            text if text.isascii() else self._beyond_ascii(first, text, step, depth)
            for text, step in zip(latin, steps, strict=True)
        ]

    def _passed(self, made: dict[str, Any], at: int, left: int, depth: int) -> tuple[int, int]:
        """Steps over some members whose values are not wanted, of which only the names are kept; but not over those
        that have a name that is there already. The place behind them, and how many are left.
        """
        deeper, seen = MAX_DEPTH - depth, self._shapes(named=True)
        latin = self.text[at : at + self.stretch]
        names, length = seen.members(latin, deeper, left)
        if not names and seen.learn(self.data, at, deeper):
            names, length = seen.members(latin, deeper, left)
        if names and self._are_wanted(made, names, depth):
            self.patience = at + length
            return at, left
        if len(names) < FEW:
            self.patience = at + STRETCH
        self.stretch = min(4 * self.stretch, STRETCH) if 2 * length > len(latin) else _STRETCH
        before = len(made)
        made.update(zip(names, repeat(_NOTHING)))
        if len(made) < before + len(names):
            rows.until_twice(made, before, [])
            self.patience = at + length
            return at, left
        return at + length, left - len(names)

    def _values(self, encoded: list[bytes], depth: int) -> list[Any] | None:
        """The values of items that are good, if many of them are equal."""
        if not rows.often_equal(encoded):
            return None
        first = encoded[0]
        counts = {first: len(encoded)} if encoded.count(first) == len(encoded) else Counter(encoded)
        values: dict[bytes, Any] = {}
        texts: dict[bytes, bytes] = {}
        for item in counts:
            reader = type(self)(item)
            reader.body, reader.applied = self.body, self.applied
            values[item] = reader.item(0, 0, 0)
            try:
                texts[item] = orjson.dumps(values[item])
            except TypeError:  # it has numbers that are too long, or bytes that are no UTF-8
                return None
        length = sum((len(texts[item]) + 1) * count for item, count in counts.items())
        self.room -= length - 1 - 2 * len(encoded)  # the least has been, or will be, counted
        if self.room < 0:
            raise CBORTooLong
        if self._is_opaque(depth) or not any(value.__class__ in _PARTED for value in values.values()):
            return list(map(values.__getitem__, encoded)) if len(counts) > 1 else [values[first]] * len(encoded)
        made: list[Any] = orjson.loads(b"[%b]" % b",".join(map(texts.__getitem__, encoded)))
        return made

    def _run(self, into: list[Any], at: int, left: int, depth: int) -> tuple[int, int]:
        """Takes items of one byte into a list. The place behind them, and how many are left."""
        data = self.data
        found = runs.ONE_BYTE.match(data, at, min(at + left, len(data)) if left > 0 else len(data))
        run = found[0] if found is not None else b""
        behind = at + len(run), left - len(run)
        empty = len(run) - len(run.translate(None, runs.EMPTY))
        if depth >= MAX_DEPTH and empty:
            raise CBORError(TOO_DEEP)
        if len(run) >= runs.MANY:
            most = self._most(into, depth)
            if not most:
                return behind
            if len(into) + len(run) > most:
                raise CBORTooLong
        if 2 * len(run) + empty >= self.room:  # with commas and brackets
            raise CBORTooLong
        self.room -= empty
        for start in range(0, len(run), _PIECE):
            piece = run[start : start + _PIECE]
            into += firsts.small_values(piece)
        return behind

    def _many(self, made: list[Any], at: int, left: int, depth: int, later: int) -> tuple[int, int]:
        """Looks at a list of which many items were made, or come. Where its items go on, and how many are left: those
        that nobody wants are stepped over. Raises CBORTooLong.
        """
        most = self._most(made, depth)
        if len(made) > most > 0:
            raise CBORTooLong
        if not most:
            return self._over(at, left, depth)
        if most < sys.maxsize and len(made) <= runs.MANY:
            may_come = left if left > 0 else len(self.data) - at
            if len(made) + may_come > most and len(made) + left - self._ahead(at, left, depth)[1] > most:
                raise CBORTooLong
        while left and at >= self.patience and not later and len(made) <= most:
            alike = rows.items(self.data, at, left, MAX_DEPTH - depth)
            values = self._values(alike, depth) if alike else None
            if values is not None:
                length = len(alike) * len(alike[0])
            else:
                values, length = self._alike(at, left, depth)
            made += values
            at, left = at + length, left - len(values)
            if len(values) < FEW:
                self.patience = at
                break
        return at, left

    def _alike(self, at: int, left: int, depth: int) -> tuple[list[Any], int]:
        """The next items of a list that are alike, and how long they are. Raises CBORTooLong."""
        if not 0x80 <= self.data[at] < 0xC0:
            return [], 0
        _, values, length, room = self._tabled(at, left, depth, named=False)
        self.room -= room
        if self.room < 0:
            raise CBORTooLong
        return values, length

    def _tabled(self, at: int, left: int, depth: int, *, named: bool) -> Rows:
        """The next items of a list, or members of an object, as far as they have the shapes of those that were here."""
        place = (named, *self.path[1:depth])
        table = self.tables.get(place) or self.tables.setdefault(place, Table(named=named, plain=self.body))
        taken = table.take(self.text, at, left)
        if taken.values or not self.lessons:
            return taken
        learnt = table.learn(self.text, at, MAX_DEPTH - depth, self.lessons)
        self.lessons -= learnt or min(self.lessons, _VAIN)
        return table.take(self.text, at, left) if learnt else taken
