"""From the JSON form of a value to CBOR as the original writes it.

All strings, keys too, are byte strings; numbers take the least room that holds them; what is base64 text in JSON is
bytes under tag 22. Members stay in the order of the object, so the same object gives the same bytes.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple

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
_BOOLS: Final = {False: b"\xf4", True: b"\xf5"}


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
    out = [SELF_DESCRIBED] if described else []
    try:
        _write(obj, _plan(schema) if schema is not None else None, out.append, 0)
    except (UnicodeEncodeError, binascii.Error, OverflowError) as error:
        raise CBORError(f"cbor: {error}") from None
    return b"".join(out)


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
    major <<= 5
    if argument < 24:
        return bytes((major | argument,))
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


_kept_text: Final = lru_cache(4096)(_text)


def _write(value: Any, plan: _Plan | None, put: Callable[[bytes], object], depth: int) -> None:
    kind = type(value)
    if kind is str:
        if plan is not None and plan.here:
            raw = base64.b64decode(value)
            put(_TAG_22 + _head(BYTES, len(raw)) + raw)
        else:
            put(_kept_text(value) if len(value) < 32 else _text(value))
    elif kind is dict:
        _deeper(depth)
        put(_head(MAP, len(value)))
        members = plan.members if plan is not None else {}
        each = plan.each if plan is not None else None
        for key, item in value.items():
            put(_kept_text(key) if len(key) < 32 else _text(key))
            _write(item, members.get(key, each), put, depth + 1)
    elif kind is list:
        _deeper(depth)
        put(_head(ARRAY, len(value)))
        each = plan.each if plan is not None else None
        for item in value:
            _write(item, each, put, depth + 1)
    elif kind is int:
        put(_integer(value))
    elif kind is bool:
        put(_BOOLS[value])
    elif value is None:
        put(_NULL)
    elif kind is float:
        put(_float(value))
    else:
        raise CBORError(f"cbor: unsupported type: {kind.__name__}")


def _deeper(depth: int) -> None:
    if depth > 4 * MAX_DEPTH:
        raise CBORError("cbor: object is nested too deep")


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
