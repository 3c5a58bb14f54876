"""Digits of any length as numbers. Python refuses to read thousands of them, and no field holds more than 64 bits."""

from __future__ import annotations

import re
from math import copysign
from typing import Final

from pilothouse.machinery.goquote import quote

UINT64_MAX: Final = 2**64 - 1
_MOST: Final = 40  # digits that are read: a number that has more is beyond every range anyway


def whole(text: str) -> int:
    """The number that `text`, ASCII digits with or without a sign, says. Of very long ones only the first digits are
    read, so that the number is wrong, but still too large for all that asks.
    """
    sign, digits = (text[0], text[1:]) if text[:1] in ("-", "+") else ("", text)
    number = int(digits.lstrip("0")[:_MOST] or "0")
    return -number if sign == "-" else number


def unsigned(text: str) -> int | str:
    """The number, or what is wrong with it in Go's words."""
    if not (text.isascii() and text.isdigit()):
        return f"strconv.ParseUint: parsing {quote(text)}: invalid syntax"
    value = whole(text)
    return value if value <= UINT64_MAX else f"strconv.ParseUint: parsing {quote(text)}: value out of range"


def _table(signs: bytes, sign: int) -> bytes:
    """Digits as zeros, and these signs as one: then one search finds all that is looked for."""
    return bytes(0x30 if 0x30 <= byte <= 0x39 else sign if byte in signs else byte for byte in range(256))


_AS_ZERO: Final = _table(b"", 0)
_POINT: Final = _table(b".eE", ord("."))
_POWER: Final = _table(b"eE", ord("e"))


def may_have_floats(text: bytes) -> bool:
    """False where JSON text surely has no number with a point or an exponent in it."""
    return b"0." in text.translate(_POINT)  # several times faster than a regex


def may_have_exponents(text: bytes) -> bool:
    """False where JSON text surely has no number with an exponent in it."""
    return b"0e" in text.translate(_POWER)


_ENDS: Final = (b".0,", b".0]", b".0}")


def may_have_odd_floats(text: bytes) -> bool:
    """False where compact JSON text surely has no number with an exponent, and none like `1.0`, in it."""
    if may_have_exponents(text):
        return True
    return b".0" in text and (text.endswith(b".0") or any(end in text for end in _ENDS))


def has_digits(text: bytes, count: int) -> bool:
    """Whether so many digits stand one after the other in `text`."""
    return b"0" * count in text.translate(_AS_ZERO)


# All begin with the same class of signs, which is searched much faster than what may begin in several ways.
_REALS: Final = re.compile(rb"[-0-9][0-9]*+(?:\.[0-9]++(?:[eE][+-]?[0-9]++)?|[eE][+-]?[0-9]++|(?<=[0-9]{17}))").findall


def text_of_real(data: bytes, value: float) -> str | None:
    """How a number stands in JSON text in which it is known to be; None where that may be in several ways."""
    texts = {text for text in set(_REALS(data)) if float(text) == value}
    texts = {text for text in texts if copysign(1.0, float(text)) == copysign(1.0, value)}
    return texts.pop().decode() if len(texts) == 1 else None
