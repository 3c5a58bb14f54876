"""What the JSON form shows of fields that are not on the wire, and how long that makes it."""

from __future__ import annotations

from typing import Any, Final

import orjson

from pilothouse.machinery import schema as s
from pilothouse.machinery.protobuf import plan
from pilothouse.machinery.protobuf.plan import INLINE, LIST, MAP, Slot
from pilothouse.machinery.schema import Schema

NOTHING: Final = object()  # for a field that is not shown

_ZERO: Final[dict[str, Any]] = {
    s.STRING: "", s.BOOL: False, s.INT32: 0, s.INT64: 0, s.FLOAT64: 0, s.QUANTITY: "0", s.INT_OR_STRING: 0,
    s.DURATION: "0s",
}  # fmt: skip
# No body may be longer, and no store holds such objects. Empty messages, two bytes each, are far longer as JSON.
_LONGEST_JSON: Final = 3 << 20
LONGEST_FILLED: Final = 2 * _LONGEST_JSON  # with the defaults (endpoints/body.py)


def absent(slot: Slot) -> Any:
    """What is shown for a field that is not on the wire, or NOTHING. Objects must be made anew each time."""
    if slot.label in (LIST, MAP) or slot.pointer or slot.kind in (s.BYTES, plan.WRAPPED):
        return NOTHING if slot.omitempty else None
    if slot.kind == s.STRUCT:
        return empty(slot.schema)
    if slot.omitzero or (slot.omitempty and slot.kind in plan.SCALARS):
        return NOTHING
    return _ZERO.get(slot.kind)


def empty(schema: Schema) -> dict[str, Any]:
    """An empty message."""
    found: dict[str, Any] = {}
    for slot in sorted(plan.slots(schema), key=lambda slot: slot.place):
        if slot.label == INLINE:
            found.update(empty(slot.schema))
        elif (shown := absent(slot)) is not NOTHING:
            found[slot.name] = shown
    return found


def most_items(slot: Slot) -> int:
    """How many messages a list may hold before its JSON is too long for any object; 0 where it is not for an object."""
    if slot.label != LIST or slot.kind != s.STRUCT or slot.name == "items":
        return 0
    return _LONGEST_JSON // (len(orjson.dumps(empty(slot.schema))) + 1)


def most_filled(slot: Slot) -> int:
    """How many of them it may hold with their defaults; 0 where nobody has counted."""
    shortest = slot.schema.shortest
    return LONGEST_FILLED // (shortest + 1) if shortest and most_items(slot) else 0
