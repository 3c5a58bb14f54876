"""What is wrong with an object that could not be written: looked for only after the fast code has failed."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.protobuf import plan
from pilothouse.machinery.protobuf.plan import INLINE, LIST, MAP, Slot
from pilothouse.machinery.schema import Schema

_PYTHON: Final[dict[str, tuple[type, ...]]] = {
    s.STRING: (str,), s.BOOL: (bool,), s.INT32: (int,), s.INT64: (int,), s.FLOAT64: (int, float), s.BYTES: (str,),
    s.QUANTITY: (str, int, float), s.INT_OR_STRING: (int, str), s.TIME: (str,), s.MICRO_TIME: (str,),
    s.DURATION: (str,), plan.WRAPPED: (list,), plan.OR_ARRAY: (dict, list), plan.OR_BOOL: (dict, bool),
    plan.OR_STRINGS: (dict, list),
}  # fmt: skip


def explain(schema: Schema, obj: Any, path: str = "") -> str:
    """The first value that does not fit its type, as a sentence; "" where none is found."""
    if not isinstance(obj, dict):
        return _differs(path or schema.name, "an object", obj)
    for slot in plan.slots(schema):
        if slot.label == INLINE:
            found = explain(slot.schema, obj, path)
        elif obj.get(slot.name) is None:
            continue
        else:
            found = _explain_field(slot, obj[slot.name], f"{path}.{slot.name}" if path else slot.name)
        if found:
            return found
    return ""


def _explain_field(slot: Slot, value: Any, path: str) -> str:
    if slot.label == LIST:
        if not isinstance(value, list):
            return _differs(path, "a list", value)
        return next(filter(None, (_explain_value(slot, item, f"{path}[{n}]") for n, item in enumerate(value))), "")
    if slot.label == MAP:
        if not isinstance(value, dict):
            return _differs(path, "an object", value)
        for key in value:
            if not isinstance(key, str):
                return _differs(path, "string keys", key)
        return next(filter(None, (_explain_value(slot, item, f"{path}[{key}]") for key, item in value.items())), "")
    return _explain_value(slot, value, path)


def _explain_value(slot: Slot, value: Any, path: str) -> str:
    if slot.kind == s.STRUCT:
        return explain(slot.schema, value, path)
    expected = _PYTHON.get(slot.kind)
    if expected is None or isinstance(value, expected):
        return ""
    return _differs(path, slot.kind, value)


def _differs(path: str, expected: str, value: Any) -> str:
    return f"{path}: expected {expected}, got {'null' if value is None else type(value).__name__}"
