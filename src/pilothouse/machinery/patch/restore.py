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
from pilothouse.machinery.jsoncodec import plain_floats
from pilothouse.machinery.schema import Schema

_INTEGERS: Final = frozenset({s.INT32, s.INT64})
_GO_TYPES: Final = {s.INT32: "int32", s.INT64: "int64", s.FLOAT64: "float64", s.STRING: "string", s.BOOL: "bool"}
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
    return ""


def wrong_type_meta(value: dict[str, Any]) -> str:
    """What the converter says about kind and apiVersion of a document; "" where they are texts or absent."""
    said = (value.get(name) for name in ("kind", "apiVersion"))
    return next(filter(None, (_in_scalar(s.STRING, one) for one in said if one is not None)), "")


def whole_numbers(schema: Schema, value: Any) -> Any:
    """The value with `3.0` as 3 wherever its type is no text: the converter takes it for an integer."""
    if isinstance(value, dict):
        if schema.kind == s.STRUCT:
            known = schema.properties
            return {
                name: whole_numbers(known[name].schema, inner) if name in known else inner
                for name, inner in value.items()
            }
        return (
            {name: whole_numbers(schema.items, inner) for name, inner in value.items()}
            if schema.kind == s.MAP
            else value
        )
    if isinstance(value, list):
        return [whole_numbers(schema.items, item) for item in value] if schema.kind == s.LIST else value
    return value if schema.kind in _TEXTS else plain_floats(value)


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
