"""Patterns of many small items behind each other, which one call finds: a megabyte may hold a million of them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pilothouse.machinery.cbor import model, numbers

MANY: Final = 256  # items that are stepped over together
EMPTY: Final = b"\x80\xa0"  # containers
# Items of one byte.
ONE_BYTE: Final = re.compile(rb"[\x00-\x17\x20-\x37\x40\x60\x80\xa0\xf4-\xf6]+")
_PIECES: Final = {
    major | size: re.compile(rb"(?:%b.{%d}){1,4096}" % (bytes((major | size,)), size), re.DOTALL)
    for major in (0x40, 0x60)
    for size in range(24)
}

# What needs no second look: numbers within int64 and finite, strings that may be what they are, times that have a text.
_SHORT_BYTES: Final = b"|".join([rb"\x40"] + [rb"\x%x.{%d}" % (0x40 + size, size) for size in range(1, 24)])
_SHORT_TEXT: Final = b"|".join([rb"\x60"] + [rb"\x%x[\x00-\x7f]{%d}" % (0x60 + size, size) for size in range(1, 24)])
_SHORT: Final = _SHORT_BYTES + b"|" + _SHORT_TEXT
SHORT: Final = {model.BYTES: b"(?:%b)" % _SHORT_BYTES, model.TEXT: b"(?:%b)" % _SHORT_TEXT}
_SCALAR: Final = b"|".join(
    (
        rb"[\x00-\x17\x20-\x37\xf4-\xf6]|[\x5f\x7f]\xff",
        *numbers.GOOD.values(),
        _SHORT,
    )
)
_FLAT: Final = rb"[\x00-\x17\x20-\x37\x40\x60\xf4-\xf6]"  # one byte, and no container
# One level: empty containers, endless lists of what has one byte, times.
_DEEPER: Final = rb"[\x80\xa0]|\xbf\xff|\x9f%b*\xff|\xc1(?:[\x00-\x17]|\x18.|\x19.{2}|\x1a.{4})" % _FLAT
# Lists that end with the item behind this.
_LAST: Final = b"|".join(rb"\x%x%b{%d}" % (0x81 + before, _FLAT, before) for before in range(1, 23))
TAG: Final = rb"[\xc0\xc4-\xd7]|\xd8[\x18-\xff]|\xd9[\x01-\xff]."  # neither times nor big numbers


@lru_cache(64)
def plain_items(deeper: int) -> re.Pattern[bytes]:
    """MANY items of which each is a number, a short string or the like, perhaps at the end of a chain of lists, objects
    of one member and tags. No more than `deeper` containers and tags are in each other.
    """
    if not deeper:
        return re.compile(rb"(?:%b){%d}" % (_SCALAR, MANY), re.DOTALL)
    item = rb"%b|%b" % (_SCALAR, _DEEPER)
    if deeper == 1:
        return re.compile(rb"(?:%b){%d}" % (item, MANY), re.DOTALL)
    most = deeper - 1
    link = rb"%b|%b|\xa1(?:%b)" % (_LAST, TAG, _SHORT)
    # There is one way only to match anything, so a failure is found without trying others.
    chain = rb"\x81{1,%d}|(?:%b)(?:\x81|%b){0,%d}" % (most, link, link, most - 1)
    return re.compile(rb"(?:%b|(?:%b)(?:%b)){%d}" % (item, chain, item, MANY), re.DOTALL)


def pieces(first: int) -> re.Pattern[bytes]:
    """Short strings that begin with this byte, and so are equally long."""
    return _PIECES[first]
