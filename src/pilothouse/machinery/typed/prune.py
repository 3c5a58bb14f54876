"""Taking fields out of an object: what a manager applied before, no longer applies, and nobody else owns.

Compiled (docs/designs/compiled.md). Whatever calls itself raises RecursionError where sets are too deep.
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from pilothouse.machinery.schema import Schema
from pilothouse.machinery.typed.fieldset import LEAF, SELF, Node, is_member
from pilothouse.machinery.typed.shape import ATOM, FREE, KEYED, MAP, SET, STRUCT, Shape, shape_of
from pilothouse.machinery.typed.turns import DEEPEST, TURNS


class _Gone:
    """Stands for what is taken out."""


_GONE: Final = _Gone()


def prune(schema: Schema, merged: dict[str, Any], last: Node, kept: Node) -> Any:
    """`merged` without what is in `last` (the applier's set before) and not in `kept` (all sets now, the applier's
    new one too).

    A struct field counts as owned when anything in it is. What nobody owns stays as long as that which it is in stays.
    A container that loses all it had becomes null, as the original leaves it.
    """
    return _prune(schema, merged, last, kept, False, False, 0)


def _child_schema(shape: Shape, name: str) -> Schema | None:
    """None: the value is owned whole."""
    if shape.kind == STRUCT:
        field = shape.fields.get(name)
        if field is not None:
            return field.schema
        return _FREE if shape.open else None
    return _FREE if shape.kind == FREE else shape.item


_FREE: Final = Schema("json")


def _prune(
    schema: Schema | None, value: Any, last: Node, kept: Node, owned_before: bool, given_up: bool, depth: i64
) -> Any:
    """`owned_before`: something above was in `last`. `given_up`: something above was, and is in `kept` no more."""
    if schema is None or not value:
        return value
    if depth > DEEPEST:
        raise RecursionError
    shape = shape_of(schema)
    if type(value) is dict and shape.kind in (STRUCT, MAP, FREE):
        out: dict[str, Any] | None = None
        for element, before in last.items():
            name = element[2:]
            if element[0] != "f" or name not in value:
                continue
            declared = shape.kind == STRUCT and name in shape.fields
            child = _child_schema(shape, name)
            state = (declared, owned_before, given_up)
            left = _pruned_item(child, value[name], element, before, kept, state, depth)
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
            if left is value[name]:
                continue
            if out is None:
                out = dict(value)
            if left is _GONE:
                del out[name]
            else:
                out[name] = left
        return value if out is None else out or None
    if type(value) is list and shape.kind in (SET, KEYED):
        items: list[Any] = []
        changed = False
        for item in value:
            element = shape.element(item)
            here = last.get(element)
            left = item
            if here is not None:
                state = (False, owned_before, given_up)
                left = _pruned_item(shape.item, item, element, here, kept, state, depth)
            changed = changed or left is not item
            if left is not _GONE:
                items.append(left)
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
        return (items or None) if changed else value
    return value


def _pruned_item(
    schema: Schema | None,
    value: Any,
    element: str,
    before: Node,
    kept: Node,
    state: tuple[bool, bool, bool],
    depth: i64,
) -> Any:
    declared, owned_before, given_up = state
    if declared and value == [] and schema is not None and shape_of(schema).kind in (SET, KEYED):
        return value  # in nobody's set, so nobody can take it out
    in_last = declared or is_member(before)
    now = kept.get(element)
    in_kept = now is not None and (declared or is_member(now))
    owned_before = owned_before or in_last
    given_up = given_up or (owned_before and not in_kept)
    if in_last and given_up:
        return _GONE
    return _prune(schema, value, before, now or LEAF, owned_before, given_up, depth + 1) if before else value


def collapsed(schema: Schema | None, node: Node, depth: i64 = 0) -> Node:
    """The set as the type is now: what lies below a value that is owned whole stands for that value.

    Types of custom resources change, and sets outlive them.
    """
    if schema is None or not node:
        return node
    if depth > DEEPEST:
        raise RecursionError
    shape = shape_of(schema)
    if shape.kind == ATOM:
        return LEAF
    out: Node | None = None
    for element, child in node.items():
        if not child:
            continue
        below = _child_schema(shape, element[2:]) if element[0] == "f" else shape.item
        now = collapsed(below, child, depth + 1)
        if now is not child:
            if out is None:
                out = dict(node)
            out[element] = now
    return node if out is None else out


def with_named(schema: Schema | None, node: Node, depth: i64 = 0) -> Node:
    """The set with every struct field as a member that has anything below it."""
    if schema is None or not node:
        return node
    if depth > DEEPEST:
        raise RecursionError
    shape = shape_of(schema)
    out: Node | None = None
    for element, child in node.items():
        if not child:
            continue
        name = element[2:]
        is_field = element[0] == "f"
        below = _child_schema(shape, name) if is_field else shape.item
        named = with_named(below, child, depth + 1)
        if is_field and shape.kind == STRUCT and name in shape.fields and SELF not in named:
            named = {SELF: LEAF, **named}
        if named is not child:
            if out is None:
                out = dict(node)
            out[element] = named
    return node if out is None else out


def without(schema: Schema | None, value: Any, gone: Node, depth: i64 = 0) -> Any:
    """The value without the members of the set. A container that loses all it had becomes null."""
    if schema is None or not value or not gone:
        return value
    if depth > DEEPEST:
        raise RecursionError
    shape = shape_of(schema)
    if type(value) is dict and shape.kind in (STRUCT, MAP, FREE):
        kept = {}
        for name, inner in value.items():
            node = gone.get(f"f:{name}")
            if node is None:
                kept[name] = inner
            elif not is_member(node):
                kept[name] = without(_child_schema(shape, name), inner, node, depth + 1)
        return kept or None
    if type(value) is list and shape.kind in (SET, KEYED):
        items = []
        for item in value:
            node = gone.get(shape.element(item))
            if node is None:
                items.append(item)
            elif not is_member(node):
                items.append(without(shape.item, item, node, depth + 1))
        return items or None
    return value
