"""Forms of names, looked at sign by sign: an object may have a hundred thousand of them.

This is compiled: one loop for each form, many times as fast as a regular expression on each name. What a name is told
that does not fit is the business of `names`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mypy_extensions import i64

from pilothouse.kit.giveway import give_way

_INSIDE: Final = 1
_FIRST: Final = 2
_LAST: Final = 4
_POINT: Final = 8
_TURN: Final = 4_096  # names that are looked at before others have their turn


class Form:
    """ASCII signs that may stand in a name, at its beginning, and at its end. `longest`: signs in all.

    `points`: it is made of such parts with points between. `empty`: nothing at all is fine too.
    """

    __slots__ = ("_empty", "_kinds", "_longest")

    def __init__(
        self, inside: str, first: str, last: str, longest: int, *, points: bool = False, empty: bool = False
    ) -> None:
        kinds = bytearray(256)
        for signs, kind in ((inside, _INSIDE), (first, _FIRST), (last, _LAST), ("." if points else "", _POINT)):
            for sign in signs:
                kinds[ord(sign)] |= kind
        self._kinds: Final = bytes(kinds)
        self._longest: Final[i64] = longest
        self._empty: Final = empty

    def fits(self, text: str) -> bool:
        if len(text) > self._longest or not text.isascii():
            return False
        name = text.encode()
        size: i64 = len(name)
        if size == 0:
            return self._empty
        kinds = self._kinds
        kind: i64 = _POINT
        at: i64 = 0
        while at < size:
            before = kind
            kind = kinds[name[at]]
            if kind & _POINT:
                if not before & _LAST:
                    return False
            elif not kind & (_FIRST if before & _POINT else _INSIDE):
                return False
            at += 1
        return kind & _LAST != 0

    def all_fit(self, texts: Iterable[str]) -> bool:
        left: i64 = _TURN
        for text in texts:
            if not self.fits(text):
                return False
            left -= 1
            if left == 0:
                left = _TURN
                give_way()
        return True
