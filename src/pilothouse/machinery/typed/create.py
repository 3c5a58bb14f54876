"""What a create owns: all that differs from the zero value of the type, as the original's encoder would write that.

A built-in object is never absent to the original but zero, and zero structs are written with the fields that cannot
be left out. So `spec` itself is owned by nobody, a list without omitempty is null before, and "" where a string is
always written is no change. Custom resources have no zero value: there all is new.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pilothouse.kit.memo import Stamped
from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Field, Schema
from pilothouse.machinery.typed.fieldset import LEAF, SELF, Node
from pilothouse.machinery.typed.own import MAX_SHAPES, Own, added
from pilothouse.machinery.typed.shape import ATOM, STRUCT, shape_of

# own(value, out, element): puts what is owned into `out`, or nothing.
_Put = Callable[[Any, Node, str], None]

_ZEROS: Final = {
    s.STRING: "", s.BOOL: False, s.INT32: 0, s.INT64: 0, s.FLOAT64: 0, s.BYTES: None, s.QUANTITY: "0",
    s.INT_OR_STRING: 0, s.TIME: None, s.MICRO_TIME: None, s.DURATION: "0s", s.FIELDS_V1: None, s.RAW: None,
    s.JSON: None, s.LIST: None, s.MAP: None,
}  # fmt: skip
# Go structs under a scalar's name: omitempty does not leave them out.
_STRUCT_SCALARS: Final = frozenset({s.TIME, s.MICRO_TIME, s.DURATION, s.QUANTITY, s.INT_OR_STRING, s.RAW})


def always_written(field: Field) -> bool:
    """Whether the original writes the field of a zero struct."""
    if field.omitzero:
        return False
    if field.pointer or field.schema.kind not in (s.STRUCT, *_STRUCT_SCALARS):
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
    if not from_nothing:
        return _over_zero(schema, skip)
    own = added(schema)

    def all_of(value: Any) -> Node:
        found = {element: child for element, child in own(value).items() if element != SELF}
        return without_skipped(found, skip)

    return all_of


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


def _over_zero(schema: Schema, skip: Node = LEAF) -> Own:
    """`f(struct) -> children` that differ from the zero struct."""
    shape = shape_of(schema)
    frames: dict[tuple[str, ...], list[tuple[str, str, _Put]]] = {}

    def frame(names: tuple[str, ...]) -> list[tuple[str, str, _Put]]:
        made = []
        for name in sorted(names):
            element = f"f:{name}"
            skipped = skip.get(element)
            if skipped is not None and not skipped:
                continue
            field = shape.fields.get(name)
            made.append((name, element, _put_leaf if field is None else _put(field, skipped or LEAF)))
        if len(frames) < MAX_SHAPES:
            frames[names] = made
        return made

    def struct(value: Any) -> Node:
        names = tuple(value)
        out: Node = {}
        found = frames.get(names)
        for name, element, put in frame(names) if found is None else found:
            put(value[name], out, element)
        return out

    return struct


def _put_leaf(value: Any, out: Node, element: str) -> None:
    out[element] = LEAF


def _put(field: Field, skip: Node) -> _Put:
    kind = shape_of(field.schema).kind
    if not always_written(field):
        return _put_leaf if kind == ATOM else _put_added(added(field.schema))
    before = zero(field)
    if kind == ATOM:
        return _put_changed(before)
    if kind == STRUCT and before is not None:
        return _put_struct(field.schema, skip)
    return _put_from_null(added(field.schema))


def _put_added(own: Own) -> _Put:
    def put(value: Any, out: Node, element: str) -> None:
        out[element] = own(value)

    return put


def _put_changed(before: Any) -> _Put:
    def put(value: Any, out: Node, element: str) -> None:
        if value != before:
            out[element] = LEAF

    return put


def _put_struct(schema: Schema, skip: Node) -> _Put:
    made: list[Own] = []

    def put(value: Any, out: Node, element: str) -> None:
        if not made:
            own = _over_zero(schema, skip)
            made.append(_once(own) if schema.stamped else own)
        if type(value) is not dict or not value:
            return
        node = made[0](value)
        if node:
            out[element] = node

    return put


def _once(own: Own) -> Own:
    """The set of a value that comes again and again is made once. Sets are shared anyway, and never changed."""
    known: Stamped[Node] = Stamped(64)

    def remembered(value: Any) -> Node:
        key = known.key(value)
        node = known.get(key)
        if node is None:
            node = own(value)
            known.keep(key, node)
        return node

    return remembered


def _put_from_null(own: Own) -> _Put:
    """The container was null before, so it is there already: only what is in it is new."""

    def put(value: Any, out: Node, element: str) -> None:
        if value is None:
            return
        node = own(value)
        out[element] = {key: child for key, child in node.items() if key != SELF} if node else LEAF

    return put
