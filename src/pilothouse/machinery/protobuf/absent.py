"""What the JSON form shows of fields that are not on the wire, as literals of generated code."""

from __future__ import annotations

from typing import Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.protobuf import plan
from pilothouse.machinery.protobuf.plan import INLINE, LIST, MAP, Slot
from pilothouse.machinery.schema import Schema

_ZERO: Final = {
    s.STRING: '""', s.BOOL: "False", s.INT32: "0", s.INT64: "0", s.FLOAT64: "0", s.QUANTITY: '"0"',
    s.INT_OR_STRING: "0", s.DURATION: '"0s"',
}  # fmt: skip
# No body may be longer, and no store holds such objects. Empty messages, two bytes each, are far longer as JSON.
_LONGEST_JSON: Final = 3 << 20
LONGEST_FILLED: Final = 2 * _LONGEST_JSON  # with the defaults (endpoints/body.py)


def absent(slot: Slot) -> str:
    """The literal for a field that is not on the wire; "" where it is not shown."""
    if slot.label in (LIST, MAP) or slot.pointer or slot.kind in (s.BYTES, plan.WRAPPED):
        return "" if slot.omitempty else "None"
    if slot.kind == s.STRUCT:
        return empty_literal(slot.schema)
    if slot.omitzero or (slot.omitempty and slot.kind in plan.SCALARS):
        return ""
    return _ZERO.get(slot.kind, "None")


def members(schema: Schema) -> list[str]:
    """The members of an empty message, each as it stands in a literal."""
    found: list[str] = []
    for slot in sorted(plan.slots(schema), key=lambda slot: slot.place):
        if slot.label == INLINE:
            found += members(slot.schema)
        elif shown := absent(slot):
            found.append(f"{slot.name!r}: {shown}")
    return found


def empty_literal(schema: Schema) -> str:
    """What an empty message is, as it stands in generated code."""
    return f"{{{', '.join(members(schema))}}}"


def most_items(slot: Slot) -> int:
    """How many messages a list may hold before its JSON is too long for any object; 0 where it is not for an object."""
    if slot.label != LIST or slot.kind != s.STRUCT or slot.name == "items":
        return 0
    return _LONGEST_JSON // (len(empty_literal(slot.schema).replace(" ", "")) + 1)


def most_filled(slot: Slot) -> int:
    """How many of them it may hold with their defaults; 0 where nobody has counted."""
    shortest = slot.schema.shortest
    return LONGEST_FILLED // (shortest + 1) if shortest and most_items(slot) else 0
