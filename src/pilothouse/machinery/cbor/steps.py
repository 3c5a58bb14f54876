"""Stepping over items that nobody wants: many alike at once, small ones by their signs, others one by one."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.machinery.cbor import model, runs, shapes, signs
from pilothouse.machinery.cbor.beyond import Beyond
from pilothouse.machinery.cbor.heads import BREAK_CODE, EOF, head
from pilothouse.machinery.cbor.model import MAX_DEPTH, CBORError
from pilothouse.machinery.cbor.places import ITEM
from pilothouse.machinery.cbor.shapes import Shapes
from pilothouse.machinery.cbor.signs import Walk
from pilothouse.machinery.schema import Schema

STRETCH: Final = 1 << 14  # bytes that are stepped over together,
_FIRST: Final = 128  # at first
_SOME: Final = 4  # items, of which there may be no more,
_FEW: Final = 16
_MANY: Final = 256
_OWN_TAGS: Final = 23  # up to this, some tags are looked at


class Steps(Beyond):
    """`named`: whether the names at the top are good. `shapes`: those that were seen, by whether all is refused, and
    whether they are of members.
    """

    __slots__ = ("named", "shapes")

    def __init__(self, data: bytes, schema: Schema | None, room: int) -> None:
        super().__init__(data, schema, room)
        self.named = True
        self.shapes: dict[tuple[bool, bool], Shapes] = {}

    def item(self, at: int, depth: int, later: int) -> Any:
        """Any item, as the reader reads it."""
        raise NotImplementedError

    def _over(self, at: int, left: int, depth: int) -> tuple[int, int]:
        """Steps over items of a list. The place behind them, and how many are left: none, if there is a count."""
        data, few, slow = self.data, 0 if left > 0 else _SOME, _MANY
        while left and not (left < 0 and data[at] == model.BREAK):
            if few or 0 < left < _FEW:
                self.item(at, depth, 0)
                at, left, few = self.at, left - 1, max(few - 1, 0)
                continue
            at, left = self._ahead(at, left, depth)
            if not 0 <= left < _FEW:
                at, left, odd = self._walked(at, left, depth)
                few, slow = (slow, 4 * slow) if odd else (0, slow)
        return at, left

    def _walked(self, at: int, left: int, depth: int) -> tuple[int, int, bool]:
        """Steps over items of which most are small, whatever they are: over a STRETCH of them, or all if they are in
        each other. The place behind them, how many are left, and whether the next are better read one by one.
        """
        data, path = self.data, self.path
        walk = Walk(left if left > 0 else signs.LISTED, MAX_DEPTH - depth)
        enough, size, most = at + STRETCH, _FIRST, STRETCH
        odd = 0
        while not (walk.over or ((at >= enough or odd > _FEW) and not walk.outer)):
            if at >= len(data):
                raise CBORError(EOF)
            loose = self.error is not None
            behind = at if signs.is_odd(data, at, loose=loose) else walk.take(data, at, size, loose=loose)
            if behind < 0:
                size = most = max(size >> 3, 1)
            elif behind > at:
                size = min(4 * size, most, max(2 * (behind - at), _FIRST))
                odd = 0 if behind - at > _FIRST else odd
                at = behind
            elif (
                not walk.over
                and data[at] >> 5 == model.TAG
                and (tag := head(data, at))[1] > (-1 if loose else _OWN_TAGS)
            ):
                walk.into_tag()
                at = tag[2]
            elif not walk.over:
                inner = depth + len(walk.outer)
                path[depth + 1 : inner + 1] = [ITEM] * (inner - depth)
                self.item(at, inner, 0)
                walk.took(b"\0", 0)
                at, odd = self.at, odd + 1
        return at, walk.left if left > 0 else left + walk.left - signs.LISTED, odd > _FEW

    def _ahead(self, at: int, left: int, depth: int) -> tuple[int, int]:
        """Steps over as many items as can be had at once."""
        data, deeper, seen = self.data, MAX_DEPTH - depth, self._shapes(named=False)
        plain = runs.plain_items(deeper)
        if seen.pattern(deeper) is None:
            seen.learn(data, at, deeper)
        while True:
            for pattern, items in ((seen.pattern(deeper), shapes.SOME), (plain, runs.MANY)):
                while pattern is not None and not 0 <= left < items and (found := pattern.match(data, at)) is not None:
                    same = found[0]
                    at, left = at + len(same), left - items
                    while not 0 <= left < items and data.startswith(same, at):
                        at, left = at + len(same), left - items
            if 0 <= left < shapes.SOME or not seen.learn(data, at, deeper):
                return at, left

    def _shapes(self, *, named: bool) -> Shapes:
        key = self.error is not None, named
        return self.shapes.get(key) or self.shapes.setdefault(key, Shapes(loose=key[0], named=named))

    def _is_unmade(self, depth: int) -> bool:
        """Whether nothing of an object matters any more, not even its names."""
        return self.error is not None and (not self.named or not self._is_top(depth))

    def _unmade(self, at: int, left: int, depth: int) -> dict[str, Any]:
        """Steps over members of an object that is refused: nothing is made of them, and names may be what they like."""
        self.path[depth] = ITEM
        at, behind = self._over(at, 2 * left if left > 0 else left, depth)
        if behind:  # their end is marked
            if (left - behind) % 2:
                raise CBORError(BREAK_CODE)
            at += 1
        self.at = at
        return {}
