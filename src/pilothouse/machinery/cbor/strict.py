"""The original's strict decoding of CBOR, in its own words: it names the place of an unknown field, not its name."""

from __future__ import annotations

from typing import Any

from pilothouse.machinery import schema as s
from pilothouse.machinery.cbor.texts import under
from pilothouse.machinery.schema import Schema


def unknown_field(schema: Schema, obj: Any) -> str:
    """What strict decoding of an object just read says about its first unknown field; "" if there is none."""
    if isinstance(obj, list):
        items = schema.items if schema.kind == s.LIST else None
        return next(filter(None, (unknown_field(items, item) for item in obj)), "") if items is not None else ""
    if not isinstance(obj, dict) or schema.kind not in (s.STRUCT, s.MAP):
        return ""
    for index, (key, value) in enumerate(obj.items()):
        member = under(schema, key)
        if member is None:
            return f"cbor: found unknown field at map element index {index}"
        found = unknown_field(member, value)
        if found:
            return found
    return ""
