"""The original's strict decoding of CBOR, in its own words: it names the place of an unknown field, not its name."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Schema

_DEEP: Final = frozenset((s.STRUCT, s.LIST, s.MAP))


def unknown_field(schema: Schema, obj: Any) -> str:
    """What strict decoding of an object just read says about its first unknown field; "" if there is none."""
    if isinstance(obj, list):
        items = schema.items if schema.kind == s.LIST else None
        if items is None or items.kind not in _DEEP:
            return ""
        return next(filter(None, (unknown_field(items, item) for item in obj)), "")
    if not isinstance(obj, dict):
        return ""
    if schema.kind == s.MAP and schema.items.kind in _DEEP:
        return next(filter(None, (unknown_field(schema.items, item) for item in obj.values())), "")
    return _unknown_member(schema, obj) if schema.kind == s.STRUCT else ""


def _unknown_member(schema: Schema, obj: dict[str, Any]) -> str:
    known = schema.properties
    for index, (name, value) in enumerate(obj.items()):
        field = known.get(name)
        if field is None:
            return f"cbor: found unknown field at map element index {index}"
        if field.schema.kind in _DEEP and (found := unknown_field(field.schema, value)):
            return found
    return ""
