"""What is special about documents that become objects through the original's converter, and not from JSON text.

Here is why one is no object of its type, in the words of that converter.

Strategic merge patch and apply do not decode JSON text but turn maps into objects, which has its own messages. Asked
only when the decoder has refused the document; the first problem in the order of the type's fields is told.
"""

from __future__ import annotations

from typing import Any, Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.decode.findings import DecodeError
from pilothouse.machinery.decode.scalars import unbase64
from pilothouse.machinery.jsoncodec import dumps, kind_of, plain_floats
from pilothouse.machinery.schema import Schema

_INTEGERS: Final = frozenset({s.INT32, s.INT64})
_GO_TYPES: Final = {s.INT32: "int32", s.INT64: "int64", s.FLOAT64: "float64", s.STRING: "string", s.BOOL: "bool"}
_BITS: Final = {s.INT32: 32, s.INT64: 64}
_MAY_BE_CUT: Final = frozenset((*_BITS, s.STRUCT, s.MAP, s.LIST))  # or something in it
_LONG: Final = 1 << 63
_TIMES: Final = frozenset({s.TIME, s.MICRO_TIME, s.DURATION})
_MANY: Final = frozenset({s.MAP, s.LIST})
_TEXTS: Final = frozenset({s.STRING, s.BOOL, s.BYTES, s.TIME, s.MICRO_TIME})


def problem(schema: Schema, value: Any) -> str:
    """What the converter says about the value; "" where it has nothing to say."""
    if value is None:
        return ""
    kind = schema.kind
    if kind == s.STRUCT:
        return _in_struct(schema, value)
    if kind == s.MAP:
        if not isinstance(value, dict):
            return f"cannot restore map from {_kind(value)}"
        return next(filter(None, (problem(schema.items, inner) for inner in value.values())), "")
    if kind == s.LIST:
        if not isinstance(value, list):
            return f"cannot restore slice from {_kind(value)}"
        return next(filter(None, (problem(schema.items, item) for item in value)), "")
    if kind == s.BYTES:
        return _in_bytes(value)
    if kind in _GO_TYPES:
        return _in_scalar(kind, value)
    return _in_text(kind, value)


def wrapped(schema: Schema, value: Any) -> Any:
    """The value with the integers that are too large for their type as the converter makes them: it cuts off the bits
    for which there is no room. The value itself where none is.
    """
    if isinstance(value, dict):
        if schema.kind == s.STRUCT:
            known = schema.properties
            fields = [(name, known[name].schema) for name in value if name in known]
            inner = {name: wrapped(field, value[name]) for name, field in fields if field.kind in _MAY_BE_CUT}
        elif schema.kind == s.MAP and schema.items.kind in _MAY_BE_CUT:
            inner = {name: wrapped(schema.items, one) for name, one in value.items()}
        else:
            return value
        return {**value, **inner} if any(one is not value[name] for name, one in inner.items()) else value
    if isinstance(value, list):
        if schema.kind != s.LIST or schema.items.kind not in _MAY_BE_CUT:
            return value
        items = [wrapped(schema.items, item) for item in value]
        return items if any(one is not item for one, item in zip(items, value, strict=True)) else value
    bits = _BITS.get(schema.kind)
    if bits is None or value.__class__ is not int or -(1 << bits - 1) <= value < 1 << bits - 1:
        return value
    if not -_LONG <= value < _LONG:  # it came as a float
        value = -_LONG
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def wrong_type_meta(value: dict[str, Any]) -> str:
    """What the converter says about kind and apiVersion of a document; "" where they are texts or absent."""
    said = (value.get(name) for name in ("kind", "apiVersion"))
    return next(filter(None, (_in_scalar(s.STRING, one) for one in said if one is not None)), "")


def whole_numbers(schema: Schema, value: Any) -> Any:
    """The value with `3.0` as 3 wherever its type is no text: the converter takes it for an integer."""
    kind = schema.kind
    if kind in _TEXTS:
        return value
    if not isinstance(value, dict | list):
        return plain_floats(value)
    if kind in _MANY and schema.items.kind in _TEXTS:
        return value
    if isinstance(value, list):
        return [whole_numbers(schema.items, item) for item in value] if kind == s.LIST else value
    if kind == s.STRUCT:
        known = schema.properties
        return {
            name: whole_numbers(known[name].schema, inner) if name in known else inner for name, inner in value.items()
        }
    return {name: whole_numbers(schema.items, inner) for name, inner in value.items()} if kind == s.MAP else value


def _in_struct(schema: Schema, value: Any) -> str:
    if not isinstance(value, dict):
        return f"cannot restore struct from: {_kind(value)}"
    for name, field in schema.properties.items():
        if name in value:
            found = problem(field.schema, value[name])
            if found:
                return found
    return ""


def _in_scalar(kind: str, value: Any) -> str:
    target = _GO_TYPES[kind]
    if isinstance(value, bool):
        return "" if kind == s.BOOL else f"unrecognized type: {target}"
    if isinstance(value, int):
        if kind == s.BOOL:
            return "unrecognized type: bool"
        return f"cannot convert int64 to {target}" if kind == s.STRING else ""
    if isinstance(value, float):
        if kind in _INTEGERS:
            return "" if value.is_integer() else f"cannot convert float64 to {target}"
        return "" if kind == s.FLOAT64 else f"unrecognized type: {target}"
    return "" if isinstance(value, str) and kind == s.STRING else f"unrecognized type: {target}"


def _in_text(kind: str, value: Any) -> str:
    """Types that decode themselves from JSON text."""
    if kind in _TIMES and not isinstance(value, str):
        return f"json: cannot unmarshal {kind_of(value)} into Go value of type string"
    if kind == s.INT_OR_STRING and not isinstance(value, str):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number:
            return f"json: cannot unmarshal {kind_of(value)} into Go value of type int32"
        if not -(1 << 31) <= value < 1 << 31 or (isinstance(value, float) and not value.is_integer()):
            return f"json: cannot unmarshal number {dumps(value).decode()} into Go value of type int32"
    return ""


def _in_bytes(value: Any) -> str:
    if not isinstance(value, str):
        return f"cannot restore slice from {_kind(value)}"
    try:
        unbase64(value)
    except DecodeError as error:
        return f"error decoding from json: {error}"
    return ""


def _kind(value: Any) -> str:
    """Go's kind of a decoded JSON value."""
    if isinstance(value, dict):
        return "map"
    if isinstance(value, list):
        return "slice"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    return "int64" if isinstance(value, int) else "float64"
