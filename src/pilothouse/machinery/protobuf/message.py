"""A message type as the reader walks it: a `Way` for each field, found by its tag.

Made once from the slots of `plan`, when a message of the type is read for the first time; what is nested in it later
still, so that types may hold themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mypy_extensions import i64

from pilothouse.machinery import schema as s
from pilothouse.machinery.protobuf import plan, specials
from pilothouse.machinery.protobuf.absent import NOTHING, absent, most_filled, most_items
from pilothouse.machinery.protobuf.plan import Slot
from pilothouse.machinery.protobuf.wire import FIXED64, LENGTH, VARINT
from pilothouse.machinery.schema import Schema

# What a value is.
STRING: Final = 0
MESSAGE: Final = 1  # a message; of a list that is wrapped into one, or a union, too
SPECIAL: Final = 2  # a plain value in JSON and a small message on the wire
BYTES: Final = 3
DOUBLE: Final = 4
BOOL: Final = 5
INT32: Final = 6
INT64: Final = 7

# How often a field may come.
ONE: Final = 0
LIST: Final = 1
MAP: Final = 2

_LABELS: Final = {plan.ONE: ONE, plan.INLINE: ONE, plan.LIST: LIST, plan.MAP: MAP}
_KINDS: Final = {
    s.STRING: STRING, s.BYTES: BYTES, s.FLOAT64: DOUBLE, s.BOOL: BOOL, s.INT32: INT32, s.INT64: INT64,
    s.STRUCT: MESSAGE, plan.WRAPPED: MESSAGE, plan.OR_ARRAY: MESSAGE, plan.OR_BOOL: MESSAGE, plan.OR_STRINGS: MESSAGE,
}  # fmt: skip
_LEAST_COUNTED: Final = 16 << 10  # bytes of a list that may be too long once its messages have their defaults


class Way:
    """How one field is taken up. `kind`, `label`, `wire` are numbers; `slot` says the same in words."""

    def __init__(self, slot: Slot, index: int, more: int) -> None:
        self.slot = slot
        self.name = slot.name
        self.number: i64 = slot.number
        self.label: i64 = _LABELS[slot.label]
        self.kind: i64 = _KINDS.get(slot.kind, SPECIAL)
        self.wire: i64 = LENGTH
        if self.label != MAP:
            self.wire = VARINT if self.kind >= BOOL else FIXED64 if self.kind == DOUBLE else LENGTH
        elif self.kind >= DOUBLE:
            raise plan.ProtobufPlanError(f"a map of {slot.kind}")
        self.packed = self.label == LIST and self.kind >= BOOL
        self.index: i64 = index  # of what was read, among the values of a message
        self.more: i64 = more  # of what must be known beside it
        self.inline = slot.label == plan.INLINE
        self.is_struct = slot.kind == s.STRUCT
        self.is_wrapped = slot.kind == plan.WRAPPED
        self.is_amount = slot.kind == s.QUANTITY
        self.is_late = self.label == MAP or (self.label == ONE and MESSAGE <= self.kind <= DOUBLE)
        self.read: Callable[[bytes], Any] | None = specials.READERS.get(slot.kind)
        # A zero that is sent is not shown.
        self.omits = self.label == ONE and not slot.pointer and _omits(slot)
        self.zero: object = absent(slot) if not self.inline else NOTHING
        self.is_shown = self.zero is not NOTHING or self.inline
        self.holds = isinstance(self.zero, dict)
        self.most: i64 = most_items(slot)
        self.filled: i64 = most_filled(slot) or most_items(slot)
        self.measured = self.most > 0 and not plan.nests_itself(slot.schema)
        self._inner: Message | None = None

    @property
    def inner(self) -> Message:
        """The message type of its values."""
        made = self._inner
        if made is None:
            schema = plan.message_of(self.slot)
            assert schema is not None
            made = self._inner = message(schema)
        return made


def _omits(slot: Slot) -> bool:
    if slot.kind in (s.TIME, s.MICRO_TIME) and slot.omitzero:
        return True
    return slot.omitempty and slot.kind in plan.SCALARS


class Message:
    """A message type. `values` of a message that is being read begin as a copy of `blank`."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.name = schema.name
        self.nests = plan.nests_itself(schema)
        self.numbers: dict[int, Way] = {}
        slots = plan.slots(schema)
        ways = [Way(slot, index, len(slots) + index) for index, slot in enumerate(slots)]
        self.members = sorted(ways, key=lambda way: way.slot.place)
        self.shown = [way for way in self.members if way.is_shown]  # of an empty one
        self.blank: list[object] = [NOTHING] * (2 * len(ways))
        self.ways: list[Way | None] = [None] * (max((slot.number for slot in slots), default=0) * 8 + 8)
        for way in ways:
            self.numbers[way.slot.number] = way
            self.ways[way.slot.number << 3 | way.wire] = way


def message(schema: Schema) -> Message:
    """Of a STRUCT."""
    made: Message | None = schema.compiled.get("protobuf.message")
    if made is None:
        made = schema.compiled["protobuf.message"] = Message(schema)
    return made
