"""Numbers that do not fit their head: one, or many of one form behind each other."""

from __future__ import annotations

import math
import re
import struct
from typing import Final

from pilothouse.machinery.cbor.heads import EOF
from pilothouse.machinery.cbor.model import REFUSED, CBORError
from pilothouse.machinery.jsoncodec import plain_floats

FORMS: Final = {
    first: struct.Struct(f">x{form}")
    for firsts, forms in (((0x18, 0x38), "BHIQ"), ((0xF9,), "efd"))
    for head in firsts
    for first, form in enumerate(forms, head)
}
# Those that are within int64 and finite.
GOOD: Final[dict[int, bytes]] = {
    **{first: rb"\x%x.{%d}" % (first, FORMS[first].size - 1) for first in (0x18, 0x19, 0x1A, 0x38, 0x39, 0x3A)},
    **{first: rb"\x%x[\x00-\x7f].{7}" % first for first in (0x1B, 0x3B)},
    0xF9: rb"\xf9[\x00-\x7b\x80-\xfb].",
    0xFA: rb"\xfa(?:[\x00-\x7e\x80-\xfe].|[\x7f\xff][\x00-\x7f]).{2}",
    0xFB: rb"\xfb(?:[\x00-\x7e\x80-\xfe].|[\x7f\xff][\x00-\xef]).{6}",
}
_MANY: Final = {first: re.compile(rb"(?:%b){2,4096}" % good, re.DOTALL) for first, good in GOOD.items()}
_OVERFLOW: Final = "cbor: cannot unmarshal {} integer into Go value of type int64 ({} overflows Go's int64)"


class Refused(Exception):
    """A number that is well-formed, but that nobody can count with; in the original's words."""


def one(data: bytes, at: int) -> int | float:
    """The number at `at`, whose first byte is one of FORMS. Raises CBORError where it is cut off, Refused."""
    first = data[at]
    try:
        (value,) = FORMS[first].unpack_from(data, at)
    except struct.error:
        raise CBORError(EOF) from None
    if value.__class__ is float:
        if value - value:  # not 0.0: it is none that can be counted with
            what = "NaN" if math.isnan(value) else "infinity"
            raise Refused(REFUSED.format("primitives", f"floating-point {what}"))
    elif value >> 63:
        sign, value = ("positive", value) if first < 0x20 else ("negative", -1 - value)
        raise Refused(_OVERFLOW.format(sign, value))
    elif first >= 0x20:
        value = -1 - value
    return value  # type: ignore[no-any-return]


def many(data: bytes, at: int, most: int, *, plain: bool) -> list[int | float]:
    """Good numbers that have the form of the one at `at`, `most` at most if that is not negative; none if there are not
    two. `plain`: with the numbers of JSON.
    """
    first = data[at]
    form = FORMS[first]
    found = _MANY[first].match(data, at, len(data) if most < 0 else at + most * form.size)
    if found is None:
        return []
    values = [value for (value,) in form.iter_unpack(found[0])]
    if first < 0x20 or (first >= 0xF9 and not plain):
        return values
    if first < 0xF9:
        return [-1 - value for value in values]
    return [value if value % 1 and 1e-5 <= abs(value) < 1e16 else plain_floats(value) for value in values]
