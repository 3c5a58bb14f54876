"""The original's strict decoding of CBOR, in its own words: it names the place of an unknown field, not its name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Schema

_DEEP: Final = frozenset((s.STRUCT, s.LIST, s.MAP))


def unknown_field(schema: Schema, obj: Any) -> str:
    """What strict decoding of an object just read says about its first unknown field; "" if there is none."""
    kind = schema.kind
    if isinstance(obj, list):
        return _unknown_in(schema.items, obj) if kind == s.LIST else ""
    if not isinstance(obj, dict):
        return ""
    if kind == s.MAP:
        return _unknown_in(schema.items, obj.values())
    return _unknown_member(schema, obj) if kind == s.STRUCT else ""


def _unknown_in(schema: Schema, items: Iterable[Any]) -> str:
    """The same of items of one type."""
    if schema.kind in _DEEP:
        for item in items:
            if found := unknown_field(schema, item):
                return found
    return ""


def _unknown_member(schema: Schema, obj: dict[str, Any]) -> str:
    known = schema.properties
    for index, (name, value) in enumerate(obj.items()):
        field = known.get(name)
        if field is None:
            return f"cbor: found unknown field at map element index {index}"
        if field.schema.kind in _DEEP and (found := unknown_field(field.schema, value)):
            return found
    return ""
