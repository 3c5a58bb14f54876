"""From CBOR to the JSON form of a value, by the rules the original sets its decoder.

Byte strings are texts; tags 21 to 23 turn them into base64 or hexadecimal text, other tags are looked through.
Refused are keys that are not text or come twice, numbers beyond int64, NaN and infinity, bignums, and simple values
but false, true and null.
"""

from __future__ import annotations

import base64
import math
import re
import struct
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, NoReturn

from pilothouse.kit.wholetext import whole_text
from pilothouse.machinery import schema as s
from pilothouse.machinery.cbor import model
from pilothouse.machinery.cbor.model import MAX_DEPTH, TYPES, CBORError, CBORTooLong
from pilothouse.machinery.cbor.wellformed import check
from pilothouse.machinery.schema import Schema

_NUMBERS: Final = {
    first: struct.Struct(f">x{form}")
    for firsts, forms in (((0x18, 0x38), "BHIQ"), ((0xF9,), "efd"))
    for head in firsts
    for first, form in enumerate(forms, head)
}
_SIMPLE: Final = {20: False, 21: True, 22: None}
_OTHER: Final = object()
# Items of one byte.
_ONE_BYTE: Final[dict[int, Any]] = {
    **{number: number for number in range(24)},
    **{0x20 + number: -1 - number for number in range(24)},
    0x40: "",
    0x60: "",
    **{model.SIMPLE << 5 | info: value for info, value in _SIMPLE.items()},
}
_TINY: Final = tuple(_ONE_BYTE.get(first, _OTHER) for first in range(256))
_EMPTY: Final = b"\x80\xa0"  # containers
_SMALL: Final = bytes(first in _ONE_BYTE or first in _EMPTY for first in range(256))
_PIECES: Final = tuple(re.compile(rb"(?:%b[\s\S]{%d}){1,4096}" % (bytes((0x40 + size,)), size)) for size in range(24))
_RUN: Final = re.compile(rb"[\x00-\x17\x20-\x37\x40\x60\x80\xa0\xf4-\xf6]{1,65536}+")


class _Open:
    """A container whose items come next: `count` of them (pairs of a map), -1 where their end is marked."""

    __slots__ = ("count", "depth", "later", "made")

    def __init__(self, made: Any, count: int, depth: int, later: int) -> None:
        self.made = made
        self.count = count
        self.depth = depth
        self.later = later


def _opened(first: int) -> _Open | None:
    """What begins at an item's first byte, if it is all of the head of a container."""
    major, info = first >> 5, first & 31
    if major not in (model.ARRAY, model.MAP) or not (info < 24 or info == model.INDEFINITE):
        return None
    return _Open([] if major == model.ARRAY else {}, info if info < 24 else -1, 0, 0)


_OPENED: Final = tuple(_opened(first) for first in range(256))


class _Malformed(Exception):
    """The bytes end or break where they must not."""


def loads(data: bytes | memoryview, schema: Schema | None = None) -> Any:
    """The one item in `data`. `schema` is the type of a built-in object. Raises CBORError in the original's words."""
    return loads_noting(data, schema)[0]


def loads_noting(data: bytes | memoryview, schema: Schema | None = None, room: int = sys.maxsize) -> tuple[Any, bool]:
    """The same, and whether there are floats in it. Raises CBORTooLong for more than `room` bytes of JSON, as soon as
    that is sure.
    """
    data = bytes(data)
    if not data:
        raise CBORError("EOF")
    reader = _Reader(data, room)
    try:
        value = reader.item()
    except (_Malformed, IndexError, CBORError) as error:
        check(data)
        raise error if isinstance(error, CBORError) else CBORError("unexpected EOF") from None
    if reader.at != len(data):
        raise CBORError(f"cbor: {len(data) - reader.at} bytes of extraneous data starting at index {reader.at}")
    return _settle(value, schema) if reader.raw else value, reader.floats


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
    """Reads on from `at`.

    `raw` tells whether a byte string was no UTF-8; its bytes are then in surrogates. `floats`: whether there are any.
    `room`: bytes of JSON that may still come. `later`, in its methods: the tag (21 to 23) that says what byte strings
    are to become.
    """

    __slots__ = ("at", "data", "floats", "raw", "room")

    def __init__(self, data: bytes, room: int = sys.maxsize) -> None:
        self.data = data
        self.room = room
        self.at = 0
        self.raw = self.floats = False

    def item(self) -> Any:
        """The next item, with all that is in it: one loop, for a megabyte may be a million items."""
        data, at = self.data, self.at
        root: list[Any] = []
        into: Any = root
        is_map, left, depth, later, key, deeper, then = False, 1, 0, 0, "", 0, 0
        stack: list[tuple[Any, bool, int, int, int]] = []
        while True:
            while left:
                first = data[at]
                if left < 0 and first == model.BREAK:
                    at += 1
                    break
                left -= 1
                if is_map:
                    end = at + first - 0x3F
                    raw = data[at + 1 : end] if 0x40 <= first < 0x58 else b"\xff"
                    if raw.isascii():
                        key, at = raw.decode(), end
                    else:
                        self.at = at
                        key, at = self.key(), self.at
                    if key in into:
                        raise CBORError(f'cbor: found duplicate map key "{key}" at map element index {len(into)}')
                    first = data[at]
                elif left and _SMALL[first] and _SMALL[data[at + 1]]:
                    at, left = self._run(into, at, left, depth)
                    continue
                value, opened = _TINY[first], _OPENED[first]
                if value is not _OTHER:
                    at += 1
                elif 0x40 < first < 0x58 and not later:
                    self.at = at
                    value, at = self._text_at(first), self.at
                elif opened is not None:
                    if depth >= MAX_DEPTH:
                        raise _too_deep()
                    value, deeper, then = opened.made.copy(), depth + 1, later
                    at += 1
                else:
                    self.at = at
                    value = self._number(first) if first in _NUMBERS else self._other(depth, later)
                    at = self.at
                    if value.__class__ is _Open:
                        opened, value = value, value.made
                        deeper, then = opened.depth, opened.later
                if is_map:
                    into[key] = value
                else:
                    into.append(value)
                if opened is not None and opened.count:
                    self._need(2)  # brackets
                    if left:
                        stack.append((into, is_map, left, depth, later))
                    into, left, depth, later, is_map = value, opened.count, deeper, then, value.__class__ is dict
            if not stack:
                self.at = at
                return root[0]
            into, is_map, left, depth, later = stack.pop()

    def _need(self, size: int) -> None:
        """Bytes of JSON that what was read surely has."""
        self.room -= size
        if self.room < 0:
            raise CBORTooLong

    def _run(self, into: list[Any], at: int, left: int, depth: int) -> tuple[int, int]:
        """Takes items of one byte into a list, which has `left` to come after the next one. The place behind, and how
        many are left.
        """
        data = self.data
        found = _RUN.match(data, at, min(at + left + 1, len(data)) if left > 0 else len(data))
        run = found[0] if found is not None else b""
        if depth >= MAX_DEPTH and run.translate(None, _EMPTY) != run:
            raise _too_deep()
        if b"\x80" in run or b"\xa0" in run:
            self._need(2 * len(run))
            into += [[] if byte == 0x80 else {} if byte == 0xA0 else _TINY[byte] for byte in run]
        else:
            into += map(_TINY.__getitem__, run)
        return at + len(run), left + 1 - len(run)

    def _text_at(self, first: int) -> str:
        """A short byte string, whose head is `first`."""
        start = self.at + 1
        self.at = end = start + first - 0x40
        raw = self.data[start:end]
        if end > len(self.data):
            raise _Malformed
        return raw.decode() if raw.isascii() else self._byte_text(raw, 0)

    def _other(self, depth: int, later: int) -> Any:
        """Any item: its value, or an _Open for a container that is not empty."""
        data = self.data
        first = data[self.at]
        timed = False
        while first >> 5 == model.TAG:
            tag = self._argument(first & 31)
            if depth >= MAX_DEPTH:
                raise _too_deep()
            depth += 1
            if tag in model.BIGNUMS:
                _refuse("tag", "bignum")
            if tag in _ENCODED:
                later = tag
            timed = timed or tag == model.TIME_NUMBER
            first = data[self.at]
        major = first >> 5
        if major == model.ARRAY or major == model.MAP:
            return self._opened(major, self._argument(first & 31), depth, later)
        value = self._number(first) if first in _NUMBERS else self._scalar(first, later)
        if timed and value.__class__ in (int, float):
            return _time(value)
        return value

    def _number(self, first: int) -> int | float:
        """A number that does not fit its head."""
        numbers = _NUMBERS[first]
        try:
            (value,) = numbers.unpack_from(self.data, self.at)
        except struct.error:
            raise _Malformed from None
        self.at += numbers.size
        if value.__class__ is float:
            if value - value:  # not 0.0: it is none that can be counted with
                _refuse("primitives", f"floating-point {'NaN' if math.isnan(value) else 'infinity'}")
            self.floats = True
        elif value >> 63:
            sign, value = ("positive", value) if first < 0x20 else ("negative", -1 - value)
            raise CBORError(_overflow(sign, value))
        elif first >= 0x20:
            value = -1 - value
        return value  # type: ignore[no-any-return]

    def _opened(self, major: int, count: int, depth: int, later: int) -> Any:
        if depth >= MAX_DEPTH:
            raise _too_deep()
        made: Any = [] if major == model.ARRAY else {}
        return _Open(made, count, depth + 1, later) if count else made

    def _scalar(self, first: int, later: int) -> Any:
        major, info = first >> 5, first & 31
        if major == model.SIMPLE:
            return self._simple(info)
        argument = self._argument(info)
        if major == model.BYTES:
            return self._byte_text(self._string(major, argument), later)
        if major == model.TEXT:
            return self._utf8(self._string(major, argument))
        if argument < 0:
            raise _Malformed
        return argument if major == model.UNSIGNED else -1 - argument

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
        short = major << 5
        while (first := data[at]) != model.BREAK:
            if short <= first < short + 24:
                start = at + 1
                at = start + first - short
                if major == model.BYTES and data[at] == first:
                    run = _PIECES[first - short].match(data, start - 1)
                    if run is not None:
                        at = run.end()
                        chunks.append(_without_heads(run[0], first - short))
                        continue
            else:
                self.at = at
                size = self._argument(first & 31)
                if first >> 5 != major or size < 0:
                    raise _Malformed
                start = self.at
                at = start + size
            if at > len(data):
                raise _Malformed
            if start < at:
                chunks.append(data[start:at])
                if major == model.TEXT:
                    self._utf8(chunks[-1])
        self.at = at + 1
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

    def key(self) -> str:
        first = self.data[self.at]
        major = first >> 5
        if major == model.BYTES:
            return self._byte_text(self._string(major, self._argument(first & 31)), 0)
        if major == model.TEXT:
            return self._utf8(self._string(major, self._argument(first & 31)))
        raise CBORError(f"cbor: cannot unmarshal {TYPES[major]} into Go value of type string")

    def _simple(self, info: int) -> Any:
        self.at += 1
        if info in _SIMPLE:
            return _SIMPLE[info]
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


def _without_heads(pieces: bytes, size: int) -> bytes:
    """Pieces of a byte string, each of `size`, joined."""
    joined = bytearray(pieces)
    del joined[:: size + 1]
    return bytes(joined)


def _too_deep() -> CBORError:
    return CBORError(f"cbor: exceeded max nested level {MAX_DEPTH}")


def _refuse(kind: str, why: str) -> NoReturn:
    raise CBORError(f"cbor: data item of cbor type {kind} is not accepted by protocol: {why}")


def _overflow(sign: str, number: int) -> str:
    return f"cbor: cannot unmarshal {sign} integer into Go value of type int64 ({number} overflows Go's int64)"


def _time(seconds: float) -> str:
    """Seconds since 1970 as an RFC 3339 text."""
    try:
        shown = (_EPOCH + timedelta(seconds=seconds)).isoformat()
    except OverflowError:
        raise CBORError(f"cbor: time {seconds} is out of range") from None
    return shown.rstrip("0") + "Z" if "." in shown else f"{shown}Z"


_EPOCH: Final = datetime(1970, 1, 1)


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
