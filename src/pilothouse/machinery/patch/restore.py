"""What is special about documents that become objects through the original's converter, and not from JSON text.

Here is why one is no object of its type, in the words of that converter.

Strategic merge patch and apply do not decode JSON text but turn maps into objects, which has its own messages. Asked
only when the decoder has refused the document; the first problem in the order of the type's fields is told. A document
may have hundreds of thousands of values, so this is compiled: plain loops over what a type says, read once.
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from pilothouse.machinery import schema as s
from pilothouse.machinery.decode.findings import DecodeError
from pilothouse.machinery.decode.scalars import unbase64
from pilothouse.machinery.jsoncodec import dumps, kind_of, plain_floats
from pilothouse.machinery.patch.turns import TURNS, check_depth
from pilothouse.machinery.schema import Schema

_INTEGERS: Final = frozenset({s.INT32, s.INT64})
_GO_TYPES: Final = {s.INT32: "int32", s.INT64: "int64", s.FLOAT64: "float64", s.STRING: "string", s.BOOL: "bool"}
_BITS: Final = {s.INT32: 32, s.INT64: 64}
_LONG: Final = 1 << 63
_TIMES: Final = frozenset({s.TIME, s.MICRO_TIME, s.DURATION})
_DEEPEST: Final = 2_500  # levels

# What a value of a type may be, as far as it matters here. As numbers, which compiled code compares fastest.
_ANYTHING: Final = 0
_STRUCT: Final = 1
_MAP: Final = 2
_LIST: Final = 3
_TEXT: Final = 4
_INTEGER: Final = 5
_REAL: Final = 6
_TRUTH: Final = 7
_BASE64: Final = 8
_CODES: Final[dict[str, int]] = {
    s.STRUCT: _STRUCT, s.MAP: _MAP, s.LIST: _LIST, s.INT32: _INTEGER, s.INT64: _INTEGER, s.FLOAT64: _REAL,
    s.BOOL: _TRUTH, s.BYTES: _BASE64, **dict.fromkeys((s.STRING, s.INT_OR_STRING, *_TIMES), _TEXT),
}  # fmt: skip


class _Type:
    """What the walks below need to know of a type. What it is made of is made at first use: types may be recursive."""

    __slots__ = ("_fields", "_items", "_schema", "as_it_is", "bits", "code", "has_members", "kind")

    def __init__(self, schema: Schema) -> None:
        self._schema: Final = schema
        self.kind: Final = schema.kind
        self.code: Final[i64] = _CODES.get(schema.kind, _ANYTHING)
        self.has_members: Final = schema.kind in (s.STRUCT, s.MAP)
        self.bits: Final = _BITS.get(schema.kind, 0)
        # Numbers in its place stay as they are written.
        self.as_it_is: Final = schema.kind in (s.STRING, s.BOOL, s.BYTES, s.TIME, s.MICRO_TIME)
        self._fields: dict[str, _Type] | None = None
        self._items: _Type | None = None

    def fields(self) -> dict[str, _Type]:
        """Of a struct, in their order."""
        if self._fields is None:
            self._fields = {name: _type_of(field.schema) for name, field in self._schema.properties.items()}
        return self._fields

    def items(self) -> _Type:
        """Of a list or a map."""
        if self._items is None:
            self._items = _type_of(self._schema.items)
        return self._items


def _type_of(schema: Schema) -> _Type:
    known: _Type | None = schema.compiled.get("restore")
    if known is None:
        known = schema.compiled["restore"] = _Type(schema)
    return known


# ---------------------------------------------------------------------- why not


def problem(schema: Schema, value: Any) -> str:
    """What the converter says about the value; "" where it has nothing to say. Raises RecursionError."""
    return _problem(_type_of(schema), value, 0)


def _problem(known: _Type, value: Any, level: i64) -> str:
    TURNS.one_more()
    code = known.code
    if value is None or code == _ANYTHING:
        return ""
    if code == _STRUCT:
        if isinstance(value, dict):
            return _in_struct(known, value, level + 1) if value else ""
        return f"cannot restore struct from: {_kind(value)}"
    if code == _LIST:
        if isinstance(value, list):
            return _in_list(known.items(), value, level + 1) if value else ""
        return f"cannot restore slice from {_kind(value)}"
    if code == _MAP:
        if isinstance(value, dict):
            return _in_map(known.items(), value, level + 1) if value else ""
        return f"cannot restore map from {_kind(value)}"
    return "" if _is_fine(code, value) else _in_scalar(known.kind, value)


def _is_fine(code: i64, value: Any) -> bool:
    """Whether nothing more has to be known of a scalar's value."""
    if code == _TEXT:
        return isinstance(value, str)
    if code == _TRUTH:
        return isinstance(value, bool)
    if code == _INTEGER:
        return isinstance(value, int) and not isinstance(value, bool)
    return code == _REAL and isinstance(value, int | float) and not isinstance(value, bool)


def _in_struct(known: _Type, value: dict[str, Any], level: i64) -> str:
    """The first in the order of the fields, whatever that of the members is."""
    check_depth(level, _DEEPEST)
    fields = known.fields()
    found: dict[str, str] | None = None
    for name, inner in value.items():
        field = fields.get(name)
        if field is not None:
            said = _problem(field, inner, level)
            if said:
                if found is None:
                    found = {}
                found[name] = said
    if found is None:
        return ""
    for name in fields:
        if name in found:
            return found[name]
    return ""


def _in_list(known: _Type, items: list[Any], level: i64) -> str:
    check_depth(level, _DEEPEST)
    for item in items:
        said = _problem(known, item, level)
        if said:
            return said
    return ""


def _in_map(known: _Type, members: dict[str, Any], level: i64) -> str:
    check_depth(level, _DEEPEST)
    for item in members.values():
        said = _problem(known, item, level)
        if said:
            return said
    return ""


# ---------------------------------------------------------------------- numbers


def wrapped(schema: Schema, value: Any) -> Any:
    """The value with the integers that are too large for their type as the converter makes them: it cuts off the bits
    for which there is no room. The value itself where none is. Raises RecursionError.
    """
    return _wrapped(_type_of(schema), value, 0)


def _wrapped(known: _Type, value: Any, level: i64) -> Any:
    TURNS.one_more()
    code = known.code
    if code == _INTEGER:
        return value if value.__class__ is not int else _cut(value, known.bits)
    if known.has_members and isinstance(value, dict):
        check_depth(level, _DEEPEST)
        fields = known.fields() if code == _STRUCT else None
        out: dict[str, Any] | None = None
        for name, inner in value.items():
            below = known.items() if fields is None else fields.get(name)
            made = inner if below is None else _wrapped(below, inner, level + 1)
            if made is not inner:
                if out is None:
                    out = dict(value)
                out[name] = made
        return value if out is None else out
    if code == _LIST and isinstance(value, list):
        check_depth(level, _DEEPEST)
        below = known.items()
        items: list[Any] | None = None
        for at, item in enumerate(value):
            made = _wrapped(below, item, level + 1)
            if made is not item:
                if items is None:
                    items = list(value)
                items[at] = made
        return value if items is None else items
    return value


def _cut(value: int, bits: int) -> int:
    half = 1 << bits - 1
    if -half <= value < half:
        return value
    if not -_LONG <= value < _LONG:  # it came as a float
        value = -_LONG
    return (value + half) % (2 * half) - half


def has_whole_float(value: Any) -> bool:
    """Whether something in a map or a list is a float that fits int64 and has no fraction (`3.0`)."""
    todo: list[Any] = [value]
    while todo:
        container = todo.pop()
        if isinstance(container, dict):
            for item in container.values():
                if _is_whole_float(item, todo):
                    return True
        elif isinstance(container, list):
            for item in container:
                if _is_whole_float(item, todo):
                    return True
    return False


def _is_whole_float(value: Any, todo: list[Any]) -> bool:
    """A container is left for later."""
    TURNS.one_more()
    if isinstance(value, float):
        return value.is_integer() and -_LONG <= value < _LONG
    if value and isinstance(value, dict | list):
        todo.append(value)
    return False


def whole_numbers(schema: Schema, value: Any) -> Any:
    """The value with `3.0` as 3 wherever its type is no text: the converter takes it for an integer. The value itself
    where none is. Raises RecursionError.
    """
    return _whole_numbers(_type_of(schema), value, 0)


def _whole_numbers(known: _Type, value: Any, level: i64) -> Any:
    TURNS.one_more()
    if known.as_it_is:
        return value
    code = known.code
    if isinstance(value, dict):
        if not known.has_members:
            return value
        check_depth(level, _DEEPEST)
        fields = known.fields() if code == _STRUCT else None
        out: dict[str, Any] | None = None
        for name, inner in value.items():
            below = known.items() if fields is None else fields.get(name)
            made = inner if below is None else _whole_numbers(below, inner, level + 1)
            if made is not inner:
                if out is None:
                    out = dict(value)
                out[name] = made
        return value if out is None else out
    if isinstance(value, list):
        return _whole_items(known.items(), value, level + 1) if code == _LIST else value
    if isinstance(value, float) or (isinstance(value, int) and not -_LONG <= value < _LONG):
        return plain_floats(value)
    return value


def _whole_items(known: _Type, items: list[Any], level: i64) -> list[Any]:
    check_depth(level, _DEEPEST)
    made: list[Any] | None = None
    for at, item in enumerate(items):
        whole = _whole_numbers(known, item, level)
        if whole is not item:
            if made is None:
                made = list(items)
            made[at] = whole
    return items if made is None else made


# ---------------------------------------------------------------------- in words


def wrong_type_meta(value: dict[str, Any]) -> str:
    """What the converter says about kind and apiVersion of a document; "" where they are texts or absent."""
    for name in ("kind", "apiVersion"):
        one = value.get(name)
        said = _in_scalar(s.STRING, one) if one is not None else ""
        if said:
            return said
    return ""


def _in_scalar(kind: str, value: Any) -> str:
    if kind == s.BYTES:
        return _in_bytes(value)
    if kind not in _GO_TYPES:
        return _in_text(kind, value)
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
