"""The outline of a custom object's document: dense lists that are pruned anyway are not made first."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.decode.outline import outline
from pilothouse.machinery.schema import Field, Schema
from pilothouse.machinery.structural.node import Node

_ANY: Final = Schema(s.JSON)


def outlined(root: Node, data: bytes) -> bytes:
    """A document that makes the same object, and of which the same is told; this one if there is nothing to save."""
    return outline(_shape(root), data, sound=False, lists=True)


def _shape(node: Node) -> Schema:
    """What the outline has to know of a node: which members are there, and where anything may be."""
    made: Schema | None = node.compiled.get("outline.shape")
    if made is None:
        made = node.compiled["outline.shape"] = _shaped(node)
    return made


def _shaped(node: Node) -> Schema:
    items, additional = node.items, node.additional
    if node.type == "array" and items is not None:
        return Schema(s.LIST, items=lambda: _shape(items))
    if node.type != "object" or node.open:
        return _ANY
    if additional is not None:
        return _ANY if node.properties else Schema(s.MAP, items=lambda: _shape(additional))
    known: dict[str, Callable[[], Schema]] = {
        name: partial(_shape, child) for name, child in node.properties.items()
    } | dict.fromkeys(node.own, _any)
    return Schema(s.STRUCT, fields=lambda: [Field(name, make) for name, make in known.items()])


def _any() -> Schema:
    return _ANY
