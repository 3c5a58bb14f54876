"""Many quantities at once: a resource list may hold fifty thousand, nearly all of which are shown as they were sent.

All texts are joined to lines, of which each sign is replaced by what it is (a digit, a suffix). What makes a text odd
is then a pair of such signs, or three, and is looked for in all lines in one call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from pilothouse.kit.runs import doubtful
from pilothouse.machinery.quantity import shown

_MOST_DIGITS: Final = 18  # with which a text may be canonical
_FEW: Final = 16  # odd texts that are looked for in a list of any length
_PART: Final = 8  # of all texts, so many are looked for: where more are odd, all are taken to be
_FINE: Final = "nu-."  # signs of which a quantity that is canonical and no multiple of a thousandth has one


def _sign(byte: int) -> bytes:
    sign = chr(byte)
    if sign in "0\n":
        return sign.encode()
    return b"1" if sign in "123456789" else b"s" if sign in "numkMGTPE" else b"?"


_SIGNS: Final = b"".join(map(_sign, range(256)))
_ODD: Final = (b"?", b"\n\n", b"\ns", b"\n0", b"s0", b"s1", b"ss", b"000\n", b"000s")
_AS_ONE: Final = bytes(0x31 if chr(byte) in "0123456789" else byte for byte in range(256))  # so that few differ
_READABLE: Final = re.compile(rb"(?:[+-]?1{1,99}(?:\.1{0,99})?(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?1{1,3})?\n)*").fullmatch
_TENTHS: Final = re.compile(r"^([1-9][0-9]{0,11})\.([1-9])$", re.ASCII | re.MULTILINE).sub
_HUNDREDTHS: Final = re.compile(r"^([1-9][0-9]{0,11})\.([0-9][1-9])$", re.ASCII | re.MULTILINE).sub


def are_readable(texts: Sequence[str]) -> bool:
    """Whether surely none is refused."""
    if not texts:
        return True
    lines = "\n".join(texts).encode("ascii", "replace").translate(_AS_ONE)
    if lines.count(b"\n") != len(texts) - 1:
        return False
    return _READABLE(b"\n".join([*set(lines.split(b"\n")), b""])) is not None


def are_coarse(texts: Sequence[str]) -> bool:
    """Whether all are surely multiples of a thousandth, of texts that are quantities as they are shown."""
    lines = "\n".join(texts)
    return not any(sign in lines for sign in _FINE)


def are_positive(texts: Sequence[str]) -> bool:
    """Whether all are surely more than nothing, of texts that are quantities as they are shown."""
    lines = "\n".join(["", *texts])
    return "-" not in lines and "\n0" not in lines and "\n." not in lines and "\n+" not in lines


def shown_all(texts: Sequence[str], show: Callable[[str], str] = shown) -> list[str]:
    """`show` of each, which is not asked of those that are surely shown as they were sent.

    Raises what `show` does: before any is written, if one is refused.
    """
    made = [*texts]
    places = odd_places(texts)
    odd = texts if len(places) == len(texts) else [texts[place] for place in places]
    for _, text in doubtful(odd, are_readable):
        show(text)
    fixed = with_thousandths([*odd])
    for index in odd_places(fixed):
        fixed[index] = show(odd[index])
    for place, text in zip(places, fixed, strict=True):
        made[place] = text
    return made


def odd_places(texts: Sequence[str]) -> Sequence[int]:
    """Where those are that may not be shown as they were sent."""
    lines = "\n".join(["", *texts, ""]).encode("ascii", "replace").translate(_SIGNS)
    if lines.count(b"\n") != len(texts) + 1 or max(map(len, texts), default=0) > _MOST_DIGITS:
        return range(len(texts))
    if sum(map(lines.count, _ODD)) > max(_FEW, len(texts) // _PART):
        return range(len(texts))
    places: set[int] = set()
    for odd in _ODD:
        places.update(_lines_with(odd, lines))
    return sorted(places)


def _lines_with(part: bytes, lines: bytes) -> Iterator[int]:
    """Each line, counted from 0, that has a part in it, or begins with it behind a line break."""
    line, start = -1, 0
    at = lines.find(part)
    while at >= 0:
        line += lines.count(b"\n", start, at + 1)
        yield line
        start = at + 1
        at = lines.find(part, max(start, lines.find(b"\n", start)))


def with_thousandths(texts: list[str]) -> list[str]:
    """The same quantities, those with one or two digits behind the point as they are shown: `1.5` as `1500m`."""
    lines = "\n".join(texts)
    if "." not in lines or lines.count("\n") != len(texts) - 1:
        return texts
    return _HUNDREDTHS(r"\g<1>\g<2>0m", _TENTHS(r"\g<1>\g<2>00m", lines)).split("\n")
