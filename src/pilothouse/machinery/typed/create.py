"""What a create owns: all that differs from the zero value of the type, as the original's encoder would write that.

A built-in object is never absent to the original but zero, and zero structs are written with the fields that cannot
be left out. So `spec` itself is owned by nobody, a list without omitempty is null before, and "" where a string is
always written is no change. Custom resources have no zero value: there all is new.

Compiled (docs/designs/compiled.md).
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from pilothouse.kit.memo import Stamped
from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Field, Schema
from pilothouse.machinery.typed.fieldset import LEAF, SELF, Node
from pilothouse.machinery.typed.own import MAX_SHAPES, Own, added
from pilothouse.machinery.typed.shape import ATOM, STRUCT, Shape, shape_of
from pilothouse.machinery.typed.turns import DEEPEST

_ZEROS: Final = {
    s.STRING: "", s.BOOL: False, s.INT32: 0, s.INT64: 0, s.FLOAT64: 0, s.BYTES: None, s.QUANTITY: "0",
    s.INT_OR_STRING: 0, s.TIME: None, s.MICRO_TIME: None, s.DURATION: "0s", s.FIELDS_V1: None, s.RAW: None,
    s.JSON: None, s.LIST: None, s.MAP: None,
}  # fmt: skip
# Go structs, some under a scalar's name: omitempty does not leave them out.
_STRUCTS: Final = frozenset({s.STRUCT, s.TIME, s.MICRO_TIME, s.DURATION, s.QUANTITY, s.INT_OR_STRING, s.RAW})


def always_written(field: Field) -> bool:
    """Whether the original writes the field of a zero struct."""
    if field.omitzero:
        return False
    if field.pointer or field.schema.kind not in _STRUCTS:
        return not field.omitempty
    return True


def zero(field: Field) -> Any:
    """The zero value of a field that is always written, as JSON."""
    if field.pointer:
        return None
    return zero_struct(field.schema) if field.schema.kind == s.STRUCT else _ZEROS[field.schema.kind]


def zero_struct(schema: Schema) -> dict[str, Any]:
    """What the original writes for a zero struct of the type."""
    return {name: zero(field) for name, field in schema.properties.items() if always_written(field)}


def created(schema: Schema, from_nothing: bool = False, skip: Node = LEAF) -> Own:
    """`f(object) -> root set` of what its creator owns, made anew at each call: the caller keeps it.

    `from_nothing`: there is no zero value (custom resources). `skip`: fields that are never owned; a member without
    children stands for all that is below it, one with children only for itself.
    """
    return _FromNothing(added(schema), skip) if from_nothing else _OverZero(schema, skip)


class _FromNothing(Own):
    def __init__(self, own: Own, skip: Node) -> None:
        super().__init__(True, False)
        self._own = own
        self._skip = skip

    def node(self, value: Any, depth: i64) -> Node:
        found = self._own.node(value, depth)
        return without_skipped({element: child for element, child in found.items() if element != SELF}, self._skip)


def without_skipped(node: Node, skip: Node) -> Node:
    """The set without the fields of `skip` (see `created`)."""
    out: Node = {}
    for element, child in node.items():
        skipped = skip.get(element)
        if skipped is None:
            out[element] = child
        elif skipped:
            left = without_skipped(child, skipped)
            if SELF in skipped:
                left.pop(SELF, None)
            if left:
                out[element] = left
    return out


class _OverZero(Own):
    """`f(struct) -> children` that differ from the zero struct."""

    def __init__(self, schema: Schema, skip: Node) -> None:
        super().__init__(True, False)
        self._shape: Shape = shape_of(schema)
        self._skip = skip
        self._fields: dict[str, _Put | None] = {}
        self._frames: dict[tuple[str, ...], list[_Put]] = {}

    def node(self, value: Any, depth: i64) -> Node:
        names = tuple(value)
        out: Node = {}
        puts = self._frames.get(names)
        if puts is None:
            puts = self._frame(names)
        for put in puts:
            put.put(value[put.name], out, depth + 1)
        return out

    def _frame(self, names: tuple[str, ...]) -> list[_Put]:
        made: list[_Put] = []
        for name in sorted(names):
            put = self._fields[name] if name in self._fields else self._put(name)
            if put is not None:
                made.append(put)
        if len(self._frames) < MAX_SHAPES:
            self._frames[names] = made
        return made

    def _put(self, name: str) -> _Put | None:
        """How a field is put; None where it is never owned."""
        element = f"f:{name}"
        skipped = self._skip.get(element)
        if skipped is not None and not skipped:
            self._fields[name] = None
            return None
        field = self._shape.fields.get(name)
        if field is None:
            return _Put(name)
        made = self._fields[name] = _put(name, field, skipped or LEAF)
        return made


class _Put:
    """Puts what is owned of a field into a set: the whole of it, here."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.element = f"f:{name}"

    def put(self, value: Any, out: Node, depth: i64) -> None:
        out[self.element] = LEAF


def _put(name: str, field: Field, skip: Node) -> _Put:
    kind = shape_of(field.schema).kind
    if not always_written(field):
        return _Put(name) if kind == ATOM else _Added(name, added(field.schema))
    before = zero(field)
    if kind == ATOM:
        return _Changed(name, before)
    if kind == STRUCT and before is not None:
        return _Inner(name, field.schema, skip)
    return _FromNull(name, added(field.schema))


class _Added(_Put):
    def __init__(self, name: str, own: Own) -> None:
        super().__init__(name)
        self._own = own

    def put(self, value: Any, out: Node, depth: i64) -> None:
        out[self.element] = self._own.node(value, depth)


class _Changed(_Put):
    def __init__(self, name: str, before: Any) -> None:
        super().__init__(name)
        self._before = before

    def put(self, value: Any, out: Node, depth: i64) -> None:
        if value != self._before:
            out[self.element] = LEAF


class _Inner(_Put):
    """A struct, which was there before. Sets of those that come again and again are made once: they are shared anyway,
    and never changed.
    """

    def __init__(self, name: str, schema: Schema, skip: Node) -> None:
        super().__init__(name)
        self._schema = schema
        self._skip = skip
        self._own: Own | None = None  # as it is met: types may hold themselves
        self._known: Stamped[Node] | None = Stamped(64) if schema.stamped else None

    def put(self, value: Any, out: Node, depth: i64) -> None:
        if not isinstance(value, dict) or not value:
            return
        if depth > DEEPEST:
            raise RecursionError
        if self._own is None:
            self._own = _OverZero(self._schema, self._skip)
        if self._known is None:
            node = self._own.node(value, depth)
        else:
            key = self._known.key(value)
            known = self._known.get(key)
            node = self._own.node(value, depth) if known is None else known
            if known is None:
                self._known.keep(key, node)
        if node:
            out[self.element] = node


class _FromNull(_Put):
    """The container was null before, so it is there already: only what is in it is new."""

    def __init__(self, name: str, own: Own) -> None:
        super().__init__(name)
        self._own = own

    def put(self, value: Any, out: Node, depth: i64) -> None:
        if value is None:
            return
        node = self._own.node(value, depth)
        out[self.element] = {key: child for key, child in node.items() if key != SELF} if node else LEAF
