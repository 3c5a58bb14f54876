"""From the JSON form of a value to CBOR as the original writes it.

All strings, keys too, are byte strings; numbers take the least room that holds them; what is base64 text in JSON is
bytes under tag 22. Members stay in the order of the object, so the same object gives the same bytes.
"""

from __future__ import annotations

import base64
import binascii
import struct
from typing import Any, Final, NamedTuple, final

from mypy_extensions import i64

from pilothouse.kit.giveway import give_way
from pilothouse.machinery import schema as s
from pilothouse.machinery.cbor.model import (
    ARRAY,
    BYTES,
    MAP,
    MAX_DEPTH,
    NEGATIVE,
    SELF_DESCRIBED,
    UNSIGNED,
    CBORError,
)
from pilothouse.machinery.schema import Schema

_TAG_22: Final = b"\xd6"
_NULL: Final = b"\xf6"
_FALSE: Final = b"\xf4"
_TRUE: Final = b"\xf5"
_SHORT_HEADS: Final = [bytes((major << 5 | argument,)) for major in range(8) for argument in range(32)]
_SHORT: Final = 32  # signs of a text that is worth to be kept
_MOST_KNOWN: Final = 4096
_KNOWN: Final[dict[str, bytes]] = {}  # short texts as they are written
_TURN: Final = 1024


class _Plan:
    """Where bytes are inside a type: `here`, in every member (`each`), or in some (`members`)."""

    __slots__ = ("each", "here", "members")

    def __init__(self) -> None:
        self.here = False
        self.each: _Plan | None = None
        self.members: dict[str, _Plan] = {}

    def any(self) -> bool:
        return self.here or self.each is not None or bool(self.members)


def dumps(obj: Any, schema: Schema | None = None, *, described: bool = True) -> bytes:
    """An item. `schema` is the type of a built-in object; `described` puts tag 55799 in front. Raises CBORError."""
    writer = _Writer()
    if described:
        writer.out.append(SELF_DESCRIBED)
    try:
        writer.write(obj, _plan(schema) if schema is not None else None, 0)
    except (UnicodeEncodeError, binascii.Error, OverflowError) as error:
        raise CBORError(f"cbor: {error}") from None
    return b"".join(writer.out)


class Members(NamedTuple):
    """Members of an object that may be joined with others: how many they are, and their bytes."""

    number: int
    data: bytes


def members(obj: dict[str, Any], schema: Schema | None = None) -> Members:
    """As `dumps`, without the head of the object. Raises CBORError."""
    data = dumps(obj, schema, described=False)
    return Members(len(obj), data[len(_head(MAP, len(obj))) :])


def joined(*parts: Members, described: bool = True) -> bytes:
    """One object of all these members. No name may be there twice."""
    head = _head(MAP, sum(part.number for part in parts))
    return b"".join((SELF_DESCRIBED if described else b"", head, *(part.data for part in parts)))


def list_head(obj: dict[str, Any], name: str, count: int) -> bytes:
    """An object whose last member is a list of `count` items; they follow, not described."""
    head = members(obj)
    return joined(Members(head.number + 1, head.data + _text(name) + _head(ARRAY, count)))


def watch_event(kind: str, obj: bytes) -> bytes:
    """An event of a watch, around an object that is CBOR already."""
    return b"".join((SELF_DESCRIBED, b"\xa2", _text("type"), _text(kind), _text("object"), obj))


def _head(major: int, argument: int) -> bytes:
    if argument < 24:
        return _SHORT_HEADS[major << 5 | argument]
    major <<= 5
    if argument < 0x100:
        return bytes((major | 24, argument))
    if argument < 0x10000:
        return bytes((major | 25,)) + argument.to_bytes(2, "big")
    if argument < 0x100000000:
        return bytes((major | 26,)) + argument.to_bytes(4, "big")
    return bytes((major | 27,)) + argument.to_bytes(8, "big")


def _text(text: str) -> bytes:
    raw = text.encode()
    return _head(BYTES, len(raw)) + raw


@final
class _Writer:
    """`out`: the pieces of what is written. `left`: how many items and members come before others have a turn."""

    __slots__ = ("left", "out")

    def __init__(self) -> None:
        self.out: list[bytes] = []
        self.left: i64 = _TURN

    def write(self, value: Any, plan: _Plan | None, depth: i64) -> None:
        """Any value; `plan` says where bytes are in it. Raises CBORError, and what text, base64 or numbers raise."""
        kind = type(value)
        if kind is str:
            if plan is not None and plan.here:
                raw = base64.b64decode(value)
                self.out.append(_TAG_22 + _head(BYTES, len(raw)) + raw)
            else:
                self.out.append(_kept_text(value) if len(value) < _SHORT else _text(value))
        elif kind is dict:
            self._write_object(value, plan, depth)
        elif kind is list:
            self._write_list(value, plan, depth)
        elif kind is int:
            self.out.append(_integer(value))
        elif kind is bool:
            self.out.append(_TRUE if value else _FALSE)
        elif value is None:
            self.out.append(_NULL)
        elif kind is float:
            self.out.append(_float(value))
        else:
            raise CBORError(f"cbor: unsupported type: {kind.__name__}")

    def _write_object(self, value: dict[str, Any], plan: _Plan | None, depth: i64) -> None:
        out = self.out
        self._enter(MAP, len(value), depth)
        inner: _Plan | None = None
        number: i64 = 0
        for key, item in value.items():
            number += 1
            if number == _TURN:
                number = 0
                give_way()
            out.append(_kept_text(key) if len(key) < _SHORT else _text(key))
            if plan is not None:
                inner = plan.members.get(key, plan.each)
            if inner is None and type(item) is str and len(item) < _SHORT:
                out.append(_kept_text(item))
            else:
                self.write(item, inner, depth + 1)

    def _write_list(self, value: list[Any], plan: _Plan | None, depth: i64) -> None:
        self._enter(ARRAY, len(value), depth)
        inner = plan.each if plan is not None else None
        number: i64 = 0
        for item in value:
            number += 1
            if number == _TURN:
                number = 0
                give_way()
            self.write(item, inner, depth + 1)

    def _enter(self, major: int, length: int, depth: i64) -> None:
        """Begins a container."""
        if depth > 4 * MAX_DEPTH:
            raise CBORError("cbor: object is nested too deep")
        self.out.append(_head(major, length))
        self.left -= length if length < _TURN else 1
        if self.left < 0:
            self.left = _TURN
            give_way()


def _kept_text(text: str) -> bytes:
    """A short text as it is written, which is kept."""
    written = _KNOWN.get(text)
    if written is None:
        written = _text(text)
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[text] = written
    return written


def _integer(value: int) -> bytes:
    if not -(1 << 63) <= value < 1 << 63:
        return _float(float(value))  # as the JSON reader takes what int64 cannot hold
    return _head(UNSIGNED, value) if value >= 0 else _head(NEGATIVE, -1 - value)


def _float(value: float) -> bytes:
    """In the shortest of the three forms that gives the same number back."""
    for form, first in ((">e", b"\xf9"), (">f", b"\xfa")):
        try:
            raw = struct.pack(form, value)
        except OverflowError:
            continue
        if struct.unpack(form, raw)[0] == value:
            return first + raw
    return b"\xfb" + struct.pack(">d", value)


def holds_bytes(schema: Schema) -> bool:
    """Whether bytes are somewhere inside a type."""
    return _plan(schema) is not None


def _plan(schema: Schema) -> _Plan | None:
    """Made once for each type; None where the type holds no bytes."""
    if "cbor.plan" not in schema.compiled:
        schema.compiled["cbor.plan"] = None  # for types that hold themselves: none of them holds bytes
        schema.compiled["cbor.plan"] = _make_plan(schema)
    made: _Plan | None = schema.compiled["cbor.plan"]
    return made


def _make_plan(schema: Schema) -> _Plan | None:
    plan = _Plan()
    if schema.kind == s.BYTES:
        plan.here = True
    elif schema.kind in (s.LIST, s.MAP):
        plan.each = _plan(schema.items)
    elif schema.kind == s.STRUCT:
        for name, field in schema.properties.items():
            member = _plan(field.schema)
            if member is not None:
                plan.members[name] = member
    return plan if plan.any() else None
