"""From CBOR to the JSON form of a value, by the rules the original sets its decoder.

Byte strings are texts; tags 21 to 23 turn them into base64 or hexadecimal text, other tags are looked through.
Refused are keys that are not text or come twice, numbers beyond int64, NaN and infinity, bignums, and simple values
but false, true and null.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NoReturn

from pilothouse.kit.wholetext import whole_text
from pilothouse.machinery import schema as s
from pilothouse.machinery.cbor import model
from pilothouse.machinery.cbor.model import MAX_DEPTH, TYPES, CBORError
from pilothouse.machinery.cbor.wellformed import check
from pilothouse.machinery.schema import Schema

_FLOATS: Final = {25: (">e", 2), 26: (">f", 4), 27: (">d", 8)}
_SIMPLE: Final = {20: False, 21: True, 22: None}
# Items of one byte.
_TINY: Final[dict[int, int | bool | None]] = {
    **{number: number for number in range(24)},
    **{0x20 + number: -1 - number for number in range(24)},
    **{model.SIMPLE << 5 | info: value for info, value in _SIMPLE.items()},
}


class _Malformed(Exception):
    """The bytes end or break where they must not."""


def loads(data: bytes | memoryview, schema: Schema | None = None) -> Any:
    """The one item in `data`. `schema` is the type of a built-in object. Raises CBORError in the original's words."""
    data = bytes(data)
    if not data:
        raise CBORError("EOF")
    reader = _Reader(data)
    try:
        value = reader.value(0)
    except (_Malformed, IndexError, CBORError) as error:
        check(data)
        raise error if isinstance(error, CBORError) else CBORError("unexpected EOF") from None
    if reader.at != len(data):
        raise CBORError(f"cbor: {len(data) - reader.at} bytes of extraneous data starting at index {reader.at}")
    return _settle(value, schema) if reader.raw else value


def loads_sequence(data: bytes) -> list[Any]:
    """Each item of a CBOR sequence: the events of a watch."""
    items = []
    while data:
        end = check(data)
        items.append(loads(data[:end]))
        data = data[end:]
    return items


def key_at(data: bytes, at: int) -> tuple[str, int]:
    """The name of a member at `at`, and the place behind it. Raises CBORError, IndexError."""
    reader = _Reader(data)
    reader.at = at
    return reader.key(), reader.at


class _Reader:
    """Reads on from `at`. `raw` tells whether a byte string was no UTF-8; its bytes are then in surrogates."""

    __slots__ = ("at", "data", "raw")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.raw = False

    def value(self, depth: int, later: int = 0) -> Any:
        """The next item. `later` is the tag (21 to 23) that says what byte strings are to become."""
        first = self.data[self.at]
        if 0x40 <= first < 0x58 and not later:  # most values by far: a short byte string
            return self._short_text(first - 0x40)
        if first in _TINY:
            self.at += 1
            return _TINY[first]
        major, info = first >> 5, first & 31
        if major == model.SIMPLE:
            return self._simple(info)
        argument = self._argument(info)
        if major == model.BYTES:
            return self._byte_text(self._string(major, argument), later)
        if major == model.TEXT:
            return self._utf8(self._string(major, argument))
        if major == model.UNSIGNED:
            if argument >> 63:
                raise CBORError(_overflow("positive", argument))
            return argument
        if major == model.NEGATIVE:
            if argument >> 63:
                raise CBORError(_overflow("negative", -1 - argument))
            return -1 - argument
        if depth >= MAX_DEPTH:
            raise CBORError(f"cbor: exceeded max nested level {MAX_DEPTH}")
        if major == model.TAG:
            return self._tagged(argument, depth + 1, later)
        if major == model.ARRAY:
            return self._array(argument, depth + 1, later)
        return self._map(argument, depth + 1, later)

    def _short_text(self, size: int) -> str:
        start = self.at + 1
        self.at = start + size
        if self.at > len(self.data):
            raise _Malformed
        raw = self.data[start : self.at]
        return raw.decode() if raw.isascii() else self._byte_text(raw, 0)

    def _argument(self, info: int) -> int:
        """The number in an item's head, -1 for an indefinite length."""
        self.at += 1
        if info < 24:
            return info
        if info < 28:
            size = 1 << (info - 24)
            at = self.at
            self.at += size
            if self.at > len(self.data):
                raise _Malformed
            return int.from_bytes(self.data[at : self.at], "big")
        if info == model.INDEFINITE:
            return -1
        raise _Malformed

    def _string(self, major: int, size: int) -> bytes:
        data, at = self.data, self.at
        if size >= 0:
            self.at = at + size
            if self.at > len(data):
                raise _Malformed
            return data[at : self.at]
        chunks = []
        while data[self.at] != model.BREAK:
            first = data[self.at]
            size = self._argument(first & 31)
            if first >> 5 != major or size < 0:
                raise _Malformed
            chunks.append(self._string(major, size))
            if major == model.TEXT:
                self._utf8(chunks[-1])
        self.at += 1
        return b"".join(chunks)

    def _utf8(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise CBORError("cbor: invalid UTF-8 string") from None

    def _byte_text(self, raw: bytes, later: int) -> str:
        if later:
            return _ENCODED[later](raw).decode()
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.raw = True
            return raw.decode("utf-8", "surrogateescape")

    def _array(self, count: int, depth: int, later: int) -> list[Any]:
        if count >= 0:
            return [self.value(depth, later) for _ in range(count)]
        found = []
        while self.data[self.at] != model.BREAK:
            found.append(self.value(depth, later))
        self.at += 1
        return found

    def _map(self, count: int, depth: int, later: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        index = 0
        while index != count:
            if count < 0 and self.data[self.at] == model.BREAK:
                self.at += 1
                break
            key = self.key()
            if key in found:
                raise CBORError(f'cbor: found duplicate map key "{key}" at map element index {index}')
            found[key] = self.value(depth, later)
            index += 1
        return found

    def key(self) -> str:
        first = self.data[self.at]
        if 0x40 <= first < 0x58:
            return self._short_text(first - 0x40)
        major = first >> 5
        if major == model.BYTES:
            return self._byte_text(self._string(major, self._argument(first & 31)), 0)
        if major == model.TEXT:
            return self._utf8(self._string(major, self._argument(first & 31)))
        raise CBORError(f"cbor: cannot unmarshal {TYPES[major]} into Go value of type string")

    def _tagged(self, tag: int, depth: int, later: int) -> Any:
        if tag in model.BIGNUMS:
            _refuse("tag", "bignum")
        if tag in _ENCODED:
            return self.value(depth, tag)
        value = self.value(depth, later)
        if tag == model.TIME_NUMBER and isinstance(value, int | float) and not isinstance(value, bool):
            return _time(value)
        return value

    def _simple(self, info: int) -> Any:
        self.at += 1
        if info in _SIMPLE:
            return _SIMPLE[info]
        if info in _FLOATS:
            form, size = _FLOATS[info]
            raw = self.data[self.at : self.at + size]
            if len(raw) < size:
                raise _Malformed
            self.at += size
            number = struct.unpack(form, raw)[0]
            if math.isnan(number):
                _refuse("primitives", "floating-point NaN")
            if math.isinf(number):
                _refuse("primitives", "floating-point infinity")
            return number
        if info > 24:
            raise _Malformed
        value = info
        if info == 24:
            value = self.data[self.at]
            self.at += 1
            if value < 32:
                raise _Malformed
        return _refuse("primitives", f"simple value {value} is not recognized")


_ENCODED: Final[dict[int, Callable[[bytes], bytes]]] = {
    model.AS_BASE64URL: lambda raw: base64.urlsafe_b64encode(raw).rstrip(b"="),
    model.AS_BASE64: base64.b64encode,
    model.AS_BASE16: lambda raw: raw.hex().encode(),
}


def _refuse(kind: str, why: str) -> NoReturn:
    raise CBORError(f"cbor: data item of cbor type {kind} is not accepted by protocol: {why}")


def _overflow(sign: str, number: int) -> str:
    return f"cbor: cannot unmarshal {sign} integer into Go value of type int64 ({number} overflows Go's int64)"


def _time(seconds: float) -> str:
    """Seconds since 1970 as an RFC 3339 text."""
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        raise CBORError(f"cbor: time {seconds} is out of range") from None
    shown = f"{moment:%Y-%m-%dT%H:%M:%S}"
    return f"{shown}.{moment.microsecond:06d}".rstrip("0") + "Z" if moment.microsecond else f"{shown}Z"


def _settle(value: Any, schema: Schema | None) -> Any:
    """Byte strings that were no UTF-8: refused where base64 belongs, else each bad byte becomes U+FFFD."""
    if isinstance(value, str):
        if schema is not None and schema.kind == s.BYTES:
            raw = value.encode("utf-8", "surrogateescape")
            bad = next((at for at, byte in enumerate(raw) if byte not in _BASE64), len(raw))
            raise CBORError(f"cbor: failed to decode base64 from byte string: illegal base64 data at input byte {bad}")
        return whole_text(value)
    if isinstance(value, list):
        items = schema.items if schema is not None and schema.kind == s.LIST else None
        return [_settle(item, items) for item in value]
    if isinstance(value, dict):
        return {_settle(key, None): _settle(item, under(schema, key)) for key, item in value.items()}
    return value


_BASE64: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n")


def under(schema: Schema | None, key: str) -> Schema | None:
    """The type of a member of an object, where it is known."""
    if schema is None:
        return None
    if schema.kind == s.MAP:
        return schema.items
    field = schema.properties.get(key) if schema.kind == s.STRUCT else None
    return field.schema if field is not None else None
