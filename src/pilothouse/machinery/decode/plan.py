"""What the walker needs to know of a type, at a glance: plain numbers and tables instead of a Schema's words.

A plan is made from a Schema when it is first asked for, that of a struct's fields when an object of it first comes:
types refer to each other, and most are never used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import orjson
from mypy_extensions import i64

from pilothouse.machinery import schema as s
from pilothouse.machinery.decode import scalars
from pilothouse.machinery.decode.findings import Findings
from pilothouse.machinery.decode.schemaprops import JSON_SCHEMA_CHOICES
from pilothouse.machinery.schema import Field, Schema

# How a value is read. What is not told here apart is read by a function of `scalars`.
STRUCT: Final = 0
LIST: Final = 1
MAP: Final = 2
STRING: Final = 3
BOOL: Final = 4
INT32: Final = 5
INT64: Final = 6
QUANTITY: Final = 7
INT_OR_STRING: Final = 8
STRINGS: Final = 9
STRING_MAP: Final = 10
QUANTITIES: Final = 11
QUANTITY_MAP: Final = 12
AS_IT_IS: Final = 13
CHOICE: Final = 14
OTHER: Final = 15

_CODES: Final = {
    s.STRUCT: STRUCT, s.LIST: LIST, s.MAP: MAP, s.STRING: STRING, s.BOOL: BOOL, s.INT32: INT32, s.INT64: INT64,
    s.QUANTITY: QUANTITY, s.INT_OR_STRING: INT_OR_STRING, s.FIELDS_V1: AS_IT_IS, s.RAW: AS_IT_IS,
}  # fmt: skip
_ENDING: Final = frozenset((s.QUANTITY, s.INT_OR_STRING, s.TIME, s.MICRO_TIME, s.DURATION))
_CHECKED: Final = (s.STRING, s.BOOL, s.INT32, s.INT64)  # zero values of these are shown as they are
# What stands for null or absence where something must stand.
_ZEROS: Final[dict[str, Any]] = {
    s.STRING: "", s.BOOL: False, s.INT32: 0, s.INT64: 0, s.FLOAT64: 0, s.QUANTITY: "0", s.INT_OR_STRING: 0,
    s.DURATION: "0s",
}  # fmt: skip
# Kinds whose zero is left out with omitempty; all others are structs to Go, which are never empty.
_EMPTY_OMITTED: Final = frozenset((s.STRING, s.BOOL, s.INT32, s.INT64, s.FLOAT64, s.LIST, s.MAP, s.BYTES))
# No body may be longer, and no store holds such objects. Empty objects are longer when they are decoded.
LONGEST: Final = 3 << 20
_LONGEST_FILLED: Final = 2 * LONGEST  # with the defaults (endpoints/body.py)
_NO_LIMIT: Final = 1 << 62

KEPT: Final = 0  # what happens to a value that is empty once it is read: it stays,
LEFT_OUT: Final = 1  # or is left out,
NULLED: Final = 2  # or is shown as null

_Read = Callable[[Any, Findings], Any]


def _plainly(read: Callable[[Any], Any]) -> _Read:
    return lambda value, findings: read(value)


_READS: Final[dict[str, _Read]] = {
    s.FLOAT64: _plainly(scalars.float64), s.BYTES: _plainly(scalars.octets), s.TIME: _plainly(scalars.time),
    s.MICRO_TIME: _plainly(scalars.micro_time), s.DURATION: _plainly(scalars.duration),
    s.JSON: _plainly(scalars.any_json),
}  # fmt: skip


class Plan:
    """Of a type."""

    def __init__(self, schema: Schema, owner: Schema | None) -> None:
        self.schema: Final = schema
        self.owner: Final = owner  # the struct whose field it is, if that matters
        self.kind: Final = schema.kind
        self.read: _Read = _READS.get(schema.kind, _nothing)
        self.code: i64 = _code(schema)
        if self.code == QUANTITIES:
            self.read = scalars.quantity_list
        elif self.code == QUANTITY_MAP:
            self.read = scalars.quantity_map
        self.zero: Any = _ZEROS.get(schema.kind)  # for null, if it is no struct
        self._items: Plan | None = None
        self._struct: Struct | None = None
        self._ends: i64 = -1  # not known yet

    def ends(self) -> bool:
        """Whether what is wrong in a value may end decoding."""
        if self._ends < 0:
            self._ends = 1 if _ends_decoding(self.schema) else 0
        return self._ends == 1

    def items(self) -> Plan:
        """Of the values of a list or map."""
        if self._items is None:
            self._items = plan_of(self.schema.items, self.owner)
            if self.schema.kind == s.MAP and self.schema.items.kind == s.BYTES:
                self._items = Plan(self.schema.items, None)
                self._items.zero = ""  # the original stores an empty text for null bytes
        return self._items

    def struct(self) -> Struct:
        """The fields of a struct; of a choice, those of the struct it stands in."""
        if self._struct is None:
            self._struct = struct_of(self.schema if self.code == STRUCT or self.owner is None else self.owner)
        return self._struct


def _code(schema: Schema) -> int:
    if schema.kind in (s.LIST, s.MAP):
        is_list = schema.kind == s.LIST
        if schema.items.kind == s.STRING:
            return STRINGS if is_list else STRING_MAP
        if schema.items.kind == s.QUANTITY:
            return QUANTITIES if is_list else QUANTITY_MAP
    elif schema.kind == s.JSON and schema.name in JSON_SCHEMA_CHOICES:
        return CHOICE
    return _CODES.get(schema.kind, OTHER)


def _ends_decoding(schema: Schema) -> bool:
    known: bool | None = schema.compiled.get("decode.ends")
    if known is None:
        schema.compiled["decode.ends"] = True  # of a type that holds itself
        if schema.kind == s.STRUCT:
            known = any(_ends_decoding(field.schema) for field in schema.fields)
        elif schema.kind in (s.MAP, s.LIST):
            known = _ends_decoding(schema.items)
        else:
            known = schema.kind in _ENDING or schema.name in JSON_SCHEMA_CHOICES
        schema.compiled["decode.ends"] = known
    return known


def _nothing(value: Any, findings: Findings) -> Any:
    raise TypeError("not read by a function")


class Member:
    """Of a field."""

    def __init__(self, place: int, owner: Schema, field: Field, above: tuple[str, ...]) -> None:
        kind = field.schema.kind
        self.name: Final = field.name
        self.above: Final = above  # the Go names of the inlined structs that it stands in
        self.place: i64 = place  # in the order of the type
        self.plan: Final = plan_of(field.schema, owner)
        self.code: i64 = self.plan.code
        self.left_out: Final = _is_left_out(field)  # without a value
        self.pointer: Final = field.pointer
        self.zero: Any = None if field.pointer else self.plan.zero
        self.stands: Final = (
            not self.left_out and not field.pointer and kind == s.STRUCT
        )  # as an object, without a value
        self.empty: i64 = KEPT
        if not field.pointer and self.left_out:
            self.empty = LEFT_OUT
        elif not field.pointer and kind in _EMPTY_OMITTED and kind not in _CHECKED:
            # Stored objects cannot tell an empty list from none; where one must be shown, the original shows null.
            self.empty = NULLED
        self._most: i64 = 0  # items; 0: not known yet

    def most(self) -> i64:
        """Items that a list may have."""
        if self._most == 0:
            items = self.plan.schema.items
            # Only of a list of objects it is known; `items` of a list kind are as many as there are.
            self._most = most_items(items) if items.kind == s.STRUCT and self.name != "items" else _NO_LIMIT
        return self._most


class Struct:
    """Of the fields of a struct."""

    def __init__(self, schema: Schema) -> None:
        self.schema: Final = schema
        above = _above(schema)
        self.order: Final = [
            Member(place, schema, field, above[name]) for place, (name, field) in enumerate(schema.properties.items())
        ]
        self.members: Final = {member.name: member for member in self.order}
        self.needed: Final = [member for member in self.order if not member.left_out]
        self.count: i64 = len(self.needed)


def _above(schema: Schema) -> dict[str, tuple[str, ...]]:
    """The names of the inlined structs that each field stands in."""
    made: dict[str, tuple[str, ...]] = {}
    for field in schema.fields:
        if field.inline:
            for name, above in _above(field.schema).items():
                made[name] = (field.schema.name, *above)
        else:
            made[field.name] = ()
    return made


def plan_of(schema: Schema, owner: Schema | None = None) -> Plan:
    """The plan of a type, kept in the schema. `owner`: the struct whose field has it."""
    key = ("decode.plan", owner.name) if owner is not None and _may_choose(schema) else "decode.plan"
    made: Plan | None = schema.compiled.get(key)
    if made is None:
        made = schema.compiled[key] = Plan(schema, owner)
    return made


def _may_choose(schema: Schema) -> bool:
    """Whether a value may be a schema of the kind that it stands in."""
    while schema.kind in (s.LIST, s.MAP):
        schema = schema.items
    return schema.name in JSON_SCHEMA_CHOICES


def struct_of(schema: Schema) -> Struct:
    """The plan of a struct's fields."""
    made: Struct | None = schema.compiled.get("decode.struct")
    if made is None:
        made = schema.compiled["decode.struct"] = Struct(schema)
    return made


def zeros(struct: Struct) -> dict[str, Any]:
    """A struct without values."""
    made: dict[str, Any] = {}
    for member in struct.needed:
        made[member.name] = zeros(member.plan.struct()) if member.stands else member.zero
    return made


def _is_left_out(field: Field) -> bool:
    """Whether a zero value is left out."""
    if field.pointer:
        return field.omitempty
    return field.omitzero or (field.omitempty and field.schema.kind in _EMPTY_OMITTED)


def most_items(schema: Schema) -> int:
    """How many of a STRUCT a list may hold before its JSON is too long for any object."""
    shortest = orjson.dumps(zeros(struct_of(schema))).replace(b"null", b"[]").replace(b"false", b"true")
    return min(LONGEST // (len(shortest) + 1), _LONGEST_FILLED // (schema.shortest + 1))
