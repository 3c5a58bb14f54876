"""What is special about documents that become objects through the original's converter, and not from JSON text.

Here is why one is no object of its type, in the words of that converter.

Strategic merge patch and apply do not decode JSON text but turn maps into objects, which has its own messages. Asked
only when the decoder has refused the document; the first problem in the order of the type's fields is told. Values of
one type are looked at together, as a document may have very many of them.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import chain, compress
from typing import Any, Final

from pilothouse.kit.runs import RUN, doubtful
from pilothouse.machinery import schema as s
from pilothouse.machinery.decode.findings import DecodeError
from pilothouse.machinery.decode.scalars import unbase64
from pilothouse.machinery.digits import has_digits
from pilothouse.machinery.jsoncodec import compact, dumps, kind_of, only_plain_numbers, plain_floats
from pilothouse.machinery.schema import Schema

_INTEGERS: Final = frozenset({s.INT32, s.INT64})
_GO_TYPES: Final = {s.INT32: "int32", s.INT64: "int64", s.FLOAT64: "float64", s.STRING: "string", s.BOOL: "bool"}
_BITS: Final = {s.INT32: 32, s.INT64: 64}
_MAY_BE_CUT: Final = frozenset((*_BITS, s.STRUCT, s.MAP, s.LIST))  # or something in it
_LONG: Final = 1 << 63
_TIMES: Final = frozenset({s.TIME, s.MICRO_TIME, s.DURATION})
_MANY: Final = frozenset({s.MAP, s.LIST})
_TEXTS: Final = frozenset({s.STRING, s.BOOL, s.BYTES, s.TIME, s.MICRO_TIME})


_FEW_DIGITS: Final = 10  # of the smallest number that has to be cut
_CLASSES: Final[dict[str, tuple[type, str]]] = {
    s.STRUCT: (dict, "struct from:"), s.MAP: (dict, "map from"), s.LIST: (list, "slice from"),
}  # fmt: skip
_NOTHING: Final = type(None)
# Classes of values of which nothing more has to be known.
_FINE: Final[dict[str, frozenset[type]]] = {
    s.INT32: frozenset((int, _NOTHING)),
    s.INT64: frozenset((int, _NOTHING)),
    s.FLOAT64: frozenset((int, float, _NOTHING)),
    s.BOOL: frozenset((bool, _NOTHING)),
    s.BYTES: frozenset((_NOTHING,)),
    **dict.fromkeys((s.STRING, s.INT_OR_STRING, *_TIMES), frozenset((str, _NOTHING))),
}

_Problem = tuple[int, str]  # the place of a value among others, and what the converter says about it


def problem(schema: Schema, value: Any) -> str:
    """What the converter says about the value; "" where it has nothing to say."""
    found = _first(schema, [value])
    return "" if found is None else found[1]


def _first(schema: Schema, values: list[Any]) -> _Problem | None:
    """The first problem among values of a type."""
    kind = schema.kind
    if kind not in _CLASSES:
        return _first_scalar(schema.kind, values)
    expected, said = _CLASSES[kind]
    wrong = None
    if not {expected, _NOTHING}.issuperset(map(type, values)):
        at = next(at for at, value in enumerate(values) if value is not None and not isinstance(value, expected))
        wrong = at, f"cannot restore {said} {_kind(values[at])}"
        values = values[:at]
    return (_first_in_structs if kind == s.STRUCT else _first_inside)(schema, values) or wrong


def _first_in_structs(schema: Schema, values: list[Any]) -> _Problem | None:
    first = None
    left = list(compress(range(len(values)), values))  # places of those that are not empty
    names = set(chain.from_iterable(map(values.__getitem__, left)))
    for name, field in schema.properties.items():
        if name not in names:
            continue
        places = [at for at in left if name in values[at]]
        found = _first(field.schema, [values[at][name] for at in places])
        if found is not None:
            first = places[found[0]], found[1]
            left = left[: bisect_left(left, first[0])]  # a later field counts only if it is of an earlier one
    return first


def _first_inside(schema: Schema, values: list[Any]) -> _Problem | None:
    """As `_first`, of lists or maps."""
    inner = [() if not value else value.values() if isinstance(value, dict) else value for value in values]
    found = _first(schema.items, list(chain.from_iterable(inner)))
    if found is None:
        return None
    at, text = found
    for place, items in enumerate(inner):
        if at < len(items):
            return place, text
        at -= len(items)
    raise IndexError(found)


def _first_scalar(kind: str, values: list[Any]) -> _Problem | None:
    fine = _FINE.get(kind)
    if fine is None or fine.issuperset(map(type, values)):
        return None
    said = ((at, _in_scalar(kind, value)) for at, value in enumerate(values) if value is not None)
    return next((found for found in said if found[1]), None)


def wrapped(schema: Schema, value: Any) -> Any:
    """The value with the integers that are too large for their type as the converter makes them: it cuts off the bits
    for which there is no room. The value itself where none is.
    """
    text = compact(value)
    return value if text is not None and not has_digits(text, _FEW_DIGITS) else _wrapped(schema, value)


def _wrapped(schema: Schema, value: Any) -> Any:
    if isinstance(value, dict):
        if schema.kind == s.STRUCT:
            known = schema.properties
            fields = [(name, known[name].schema) for name in value if name in known]
            inner = {name: _wrapped(field, value[name]) for name, field in fields if field.kind in _MAY_BE_CUT}
        elif schema.kind == s.MAP and schema.items.kind in _MAY_BE_CUT:
            inner = {name: _wrapped(schema.items, one) for name, one in value.items()}
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
        return _whole_items(schema.items, value) if kind == s.LIST else value
    if kind == s.STRUCT:
        known = schema.properties
        return {
            name: whole_numbers(known[name].schema, inner) if name in known else inner for name, inner in value.items()
        }
    return {name: whole_numbers(schema.items, inner) for name, inner in value.items()} if kind == s.MAP else value


def _whole_items(schema: Schema, items: list[Any]) -> list[Any]:
    made = list(items)
    for at, item in doubtful(items, only_plain_numbers) if len(items) > RUN else enumerate(items):
        made[at] = whole_numbers(schema, item)
    return made


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
