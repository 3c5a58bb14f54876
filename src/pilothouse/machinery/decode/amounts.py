"""Whether a text surely is a quantity, sign by sign: of a long list of them nearly all are. Compiled."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

_MOST: Final = 99  # signs
_SUFFIXES: Final = frozenset(("", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))


def is_readable(text: str) -> bool:
    """False only means that it has to be read."""
    end: i64 = len(text)
    if end == 0 or end > _MOST:
        return False
    first: i64 = 0
    sign: i64 = ord(text[0])
    if sign == 0x2B or sign == 0x2D:
        first = 1
    at = _digits(text, first, end)
    if at == first:
        return False
    if at < end and ord(text[at]) == 0x2E:
        at = _digits(text, at + 1, end)
    return at == end or text[at:] in _SUFFIXES


def _digits(text: str, at: i64, end: i64) -> i64:
    """The place behind the digits that stand there."""
    while at < end:
        sign: i64 = ord(text[at])
        if sign < 0x30 or sign > 0x39:
            break
        at += 1
    return at
