"""A sign for each item: once numbers and strings are one byte too, as all others are, few calls tell of very many items
whether they are well-formed, however small and mixed they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from pilothouse.machinery.cbor import model, numbers, runs
from pilothouse.machinery.cbor.heads import BREAK_CODE
from pilothouse.machinery.cbor.model import BREAK, TOO_DEEP, CBORError

LISTED: Final = -1 << 60  # items left of a list whose end is marked,
MAPPED: Final = -1 << 61  # and of such a map: as with all others, each item makes it one less
# The sign of an item says how many are in it; that of what needs no second look is 0. Others are:
_EMPTY: Final = 0x80  # a container, while it counts how deep it is
_ENDLESS: Final = {0x9F: LISTED, 0xBF: MAPPED}
_LONGER: Final = 0x18  # stands for what was longer than a byte
# The containers that are most of all, with their items; backwards, since what is rare is found best if it comes last.
_FULL: Final = (
    *(bytes(inner) + bytes((inner,)) for inner in range(1, 9)),
    b"\xff\x9f", b"\xff\0\x9f", b"\xff\0\0\x9f", b"\xff\xbf", b"\xff\0\0\xbf",
)  # fmt: skip
_HIDDEN: Final = 3  # containers in each other that may be behind a sign at first
_SMALL: Final = 32  # signs that are not worth it
_LONG: Final = 64  # bytes of a string; few are as long
_WORTH: Final = 32  # of so many signs one has to vanish, or it is not worth it to look for containers again
_ONE_BYTE: Final = (*range(0x18), *range(0x20, 0x38), 0x40, 0x60, 0xF4, 0xF5, 0xF6)
_LISTS: Final = {0x80: _EMPTY, **{0x80 + items: items for items in range(1, 24)}, 0x9F: 0x9F}
_MAPS: Final = {**{0xA0 + pairs: 2 * pairs for pairs in range(1, 24)}, 0xBF: 0xBF}
_TAGS: Final = (0xC0, *range(0xC4, 0xD8))  # neither times nor big numbers
_REFUSED: Final = (*range(0xE0, 0xF4), 0xF7)  # simple values
_HEAD: Final = re.compile(rb"[^\0]")


class _Form(NamedTuple):
    """How items are read. `longer`: a pattern of those that are longer than a byte; `odd`: of the bytes that are none
    of the others; `table`: the sign of each byte.
    """

    longer: re.Pattern[bytes]
    odd: re.Pattern[bytes]
    table: bytes


class _Deep(Exception):
    """Containers may be too deep in each other."""


class Walk:
    """Steps over items. `left`: how many are to come where the walk is, at LISTED or MAPPED less where their end is
    marked; `outer`: the same of the containers around it, of which no more than `deeper` may be; `over`: whether it is
    at its end.
    """

    __slots__ = ("deeper", "left", "outer", "over")

    def __init__(self, left: int, deeper: int) -> None:
        self.left = left
        self.outer: list[int] = []
        self.deeper = deeper
        self.over = False

    def take(self, data: bytes, at: int, size: int, *, loose: bool) -> int:
        """Steps over the items in the next bytes, and into them. The place behind: `at` if an item there is odd, -1 if
        their end is among them, so that it has to be done with less bytes. `loose`: they need only be well-formed.
        Raises CBORError.
        """
        before, outer = self.left, list(self.outer)
        room = self.deeper - len(outer) - _HIDDEN
        for exact in (room <= 0, True):
            signs, length = _signs(data[at : at + size], _form(loose, exact))
            signs, hidden = (signs, 0) if exact else _reduced(signs, room // 2)
            try:
                taken = self.took(signs, self.deeper - hidden)
                break
            except _Deep:
                if exact:
                    raise CBORError(TOO_DEEP) from None
                self.left, self.outer = before, list(outer)
        if taken != len(signs):
            if taken == len(signs) - 1 and self.over and signs[taken] == BREAK:
                return at + length - 1
            self.left, self.outer = before, outer
            self.over = False
            return -1
        return at + length

    def into_tag(self) -> None:
        """A tag that is longer than a byte. Raises CBORError."""
        try:
            self.took(b"\1", self.deeper)
        except _Deep:
            raise CBORError(TOO_DEEP) from None

    def took(self, signs: bytes, deeper: int) -> int:
        """How many of these signs were taken: not those behind the end. Raises CBORError, _Deep."""
        left, outer, taken = self.left, self.outer, 0
        for place in (*(found.start() for found in _HEAD.finditer(signs)), len(signs)):
            while 0 <= left <= place - taken:  # the items before it are all that are left here, or more
                taken += left
                if not outer:
                    self.left, self.over = 0, True
                    return taken
                left = outer.pop()
            left -= place - taken
            if place == len(signs):
                break
            sign = signs[place]
            taken = place + 1
            if sign != BREAK:
                if len(outer) >= deeper:
                    raise _Deep
                outer.append(left - 1)
                left = sign if sign < _EMPTY else _ENDLESS.get(sign, 0)
            elif left >= 0 or (left <= MAPPED and left & 1):
                raise CBORError(BREAK_CODE)
            elif not outer:
                self.left, self.over = left, True
                return place
            else:
                left = outer.pop()
        self.left = left
        return len(signs)


def is_odd(data: bytes, at: int, *, loose: bool) -> bool:
    """Whether an item has no sign."""
    form = _form(loose, False)
    return form.odd.match(data, at) is not None and form.longer.match(data, at) is None


def _signs(piece: bytes, form: _Form) -> tuple[bytes, int]:
    """A sign for each item, or head of a container, and how many bytes these are: all up to one that is odd, or cut."""
    piece = piece.rstrip(b"\x18")  # of a number that is cut
    signs = form.longer.sub(b"\x18", piece)
    odd = form.odd.search(signs)
    if odd is None:
        return signs.translate(form.table), len(piece)
    end = odd.start()
    if end > signs.rfind(b"\x18"):
        behind = len(piece) - len(signs) + end
    else:
        last = signs.rfind(b"\x18", 0, end)
        behind = end - last - 1
        if last >= 0:
            count = signs.count(b"\x18", 0, end)
            behind += next(islice(form.longer.finditer(piece), count - 1, None)).end()
    return signs[:end].translate(form.table), behind


def _reduced(signs: bytes, most: int) -> tuple[bytes, int]:
    """Signs without most of the containers whose items are all there, each of which is one item for those around it;
    and how many containers may be in each other behind a sign: `most` and _HIDDEN at most.
    """
    signs = signs.translate(_EMPTY_TOO)
    if len(signs) < _SMALL:
        return signs, _HIDDEN
    back = signs[::-1]
    found = [full for full in _FULL if full[-1] in back]
    hidden = 0
    gone = len(back)
    while found and hidden + len(found) <= most and gone * _WORTH > len(back):
        before = len(back)
        for full in found:
            back = back.replace(full, b"\0")
        gone = before - len(back)
        hidden += len(found) if gone else 0
    return back[::-1], hidden + _HIDDEN


def _any(firsts: Iterable[int]) -> bytes:
    return b"".join(rb"\x%02x" % first for first in firsts)


def _short(loose: bool) -> dict[int, bytes]:
    """Patterns of strings and numbers whose first byte says how long they are, short ones first."""
    made = {}
    for size in range(1, 24):
        made[0x40 + size] = rb"\x%x.{%d}" % (0x40 + size, size)
        made[0x60 + size] = (rb"\x%x.{%d}" if loose else rb"\x%x[\x00-\x7f]{%d}") % (0x60 + size, size)
    for first, form in numbers.FORMS.items():
        made[first] = rb"\x%x.{%d}" % (first, form.size - 1) if loose else numbers.GOOD[first]
    for head, first in ((0x5F, 0x40), (0x7F, 0x60)):
        pieces = b"|".join(made[first + size] for size in range(1, 24))
        made[head] = rb"\x%x(?:\x%x|%b)*\xff" % (head, first, pieces)
    if loose:
        made[0xF8] = rb"\xf8[\x20-\xff]"
    return made


def _longer_strings(loose: bool) -> Iterator[bytes]:
    """Patterns of strings whose length is in the second byte, of those that many have."""
    for head, sign in ((0x58, b"."), (0x78, b"." if loose else rb"[\x00-\x7f]")):
        sizes = b"|".join(rb"\x%x%b{%d}" % (size, sign, size) for size in range(24, _LONG))
        yield rb"\x%x(?:%b)" % (head, sizes)


@lru_cache(4)
def _form(loose: bool, exact: bool) -> _Form:
    """`exact`: each head has a sign, else an item with another in it may have one for both."""
    short = _short(loose)
    scalar = rb"(?:[%b]|%b)" % (_any(_ONE_BYTE), b"|".join(short.values()))
    longer = [*short.values(), *_longer_strings(loose)]
    if not exact:
        longer += [rb"\xd9[\x01-\xff].%b" % scalar, rb"\xd8[\x18-\xff]%b" % scalar]
    signs = dict.fromkeys((*_ONE_BYTE, _LONGER), 0) | _LISTS | dict.fromkeys(_TAGS, 1) | {0xA0: _EMPTY, BREAK: BREAK}
    if loose:
        signs |= dict.fromkeys(_REFUSED, 0) | _MAPS | dict.fromkeys((0xC1, 0xC2, 0xC3), 1)
    elif not exact:
        longer.append(rb"\xa1(?:%b|%b)%b" % (runs.SHORT[model.BYTES], runs.SHORT[model.TEXT], scalar))
    return _Form(
        re.compile(b"|".join(longer), re.DOTALL),
        re.compile(b"[^%b]" % _any(signs)),
        bytes(signs.get(first, 0) for first in range(256)),
    )


_EMPTY_TOO: Final = bytes(0 if sign == _EMPTY else sign for sign in range(256))
