"""Numbers: whole ones within int64, and floats that are finite. Others are refused."""

from __future__ import annotations

import struct
from typing import Final

from mypy_extensions import i64

from pilothouse.machinery.cbor.heads import EOF, Heads
from pilothouse.machinery.cbor.model import REFUSED, CBORError

HALF: Final = 0xF9  # first bytes of floats
DOUBLE: Final = 0xFB
_HALF: Final = struct.Struct(">e")
_FLOAT: Final = struct.Struct(">f")
_DOUBLE: Final = struct.Struct(">d")
_OVERFLOW: Final = "cbor: cannot unmarshal {} integer into Go value of type int64 ({} overflows Go's int64)"


class Numbers(Heads):
    """Reads them."""

    __slots__ = ()

    def integer(self, first: i64) -> int:
        """The whole number that is next; 0 for one that is refused."""
        at = self.at
        value = self.argument()
        if first & 31 == 27 and self.data[at + 1] >= 0x80:
            exact = int.from_bytes(self.data[at + 1 : at + 9], "big")
            sign, exact = ("positive", exact) if first < 0x20 else ("negative", -1 - exact)
            self.refuse(_OVERFLOW.format(sign, exact))
            return 0
        return value if first < 0x20 else -1 - value

    def check_float(self, first: i64) -> bool:
        """Whether the float that is next is finite; it is stepped over."""
        data = self.data
        at = self.at + 1
        self.at = at + (2 << (first - HALF))
        if self.at > self.end:
            raise CBORError(EOF)
        high: i64 = data[at]
        low: i64 = data[at + 1]
        if first == HALF:
            finite = high & 0x7C != 0x7C
            number = high & 0x03 != 0 or low != 0
        else:
            most: i64 = 0x80 if first == HALF + 1 else 0xF0
            finite = high & 0x7F != 0x7F or low & most != most
            number = low & ~most != 0 or data[at + 2 : self.at].strip(b"\0") != b""
        if not finite and self.error is None:
            self.refuse(REFUSED.format("primitives", f"floating-point {'NaN' if number else 'infinity'}"))
        return finite

    def real(self, first: i64) -> float:
        """The float that is next; 0 for one that is refused."""
        at = self.at + 1
        if not self.check_float(first):
            return 0.0
        form = _DOUBLE if first == DOUBLE else _HALF if first == HALF else _FLOAT
        value: float = form.unpack_from(self.data, at)[0]
        return value
