"""From a structural schema to the `Schema` that field ownership, patches and selectors work with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Field, Schema
from pilothouse.machinery.structural.node import Node

_SCALARS: Final = {"string": s.STRING, "boolean": s.BOOL, "integer": s.INT64, "number": s.FLOAT64}


def schema_of(node: Node, metadata: Schema) -> Schema:
    """The type of a node's values. `metadata`: the type of an object's metadata. Made once a node."""
    made: Schema | None = node.compiled.get("schema")
    if made is None:
        made = node.compiled["schema"] = _make(node, metadata)
    return made


def _make(node: Node, metadata: Schema) -> Schema:
    kind = node.type
    if node.int_or_string:
        return Schema(s.INT_OR_STRING, nullable=node.nullable)
    if kind in _SCALARS:
        return Schema(_SCALARS[kind], name=kind, nullable=node.nullable)
    if kind == "array":
        return _list(node, metadata)
    additional = node.additional
    if additional is not None and not node.properties:
        made = partial(schema_of, additional, metadata)
        return Schema(s.MAP, items=made, map_type=node.map_type, nullable=node.nullable)
    if kind == "object" or node.properties or node.resource:
        return _struct(node, metadata)
    return Schema(s.JSON)


def _list(node: Node, metadata: Schema) -> Schema:
    items = node.items or Node({})
    return Schema(
        s.LIST,
        items=lambda: schema_of(items, metadata),
        list_type=node.list_type,
        list_keys=node.list_keys,
        nullable=node.nullable,
    )


def _struct(node: Node, metadata: Schema) -> Schema:
    return Schema(
        s.STRUCT,
        fields=lambda: _fields(node, metadata),
        map_type=node.map_type,
        preserve_unknown=node.open,
        nullable=node.nullable,
        embedded=node.resource and not node.root,
    )


def _fields(node: Node, metadata: Schema) -> Sequence[Field]:
    own: dict[str, Schema] = {}
    if node.resource:
        text = Schema(s.STRING, name="string")
        own = {"apiVersion": text, "kind": text, "metadata": metadata}
    made = [Field(name, _just(schema), pointer=True) for name, schema in own.items()]
    for name, child in sorted(node.properties.items()):
        if name not in own:
            made.append(Field(name, partial(schema_of, child, metadata), pointer=True, default=child.default))
    return made


def _just(schema: Schema) -> Callable[[], Schema]:
    return lambda: schema
