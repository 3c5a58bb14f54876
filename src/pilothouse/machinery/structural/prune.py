"""What a schema does not know or allow is taken out of custom objects, in place: fields without a name, and nulls.

Both walk all of an object that is not plain, which may be a million small values. So they look into containers only,
and ask a node once for what they need of it.
"""

from __future__ import annotations

from typing import Any, Final

from pilothouse.machinery.structural.node import Node

_NOTHING: Final = Node({})
# Of a node: the fields that are there anyway, those with a name, what the others look like, whether they are kept.
_Members = tuple[frozenset[str], dict[str, Node], Node | None, bool]


def prune(node: Node, value: Any, path: str, unknown: list[str]) -> None:
    """Remove fields that the schema does not know; their paths are added to `unknown`."""
    found: list[str] = []
    _prune(node, value, found)
    unknown += [path + one for one in found] if path else [one.removeprefix(".") for one in found]


def _prune(node: Node, value: Any, found: list[str]) -> None:
    """Paths are told from the value, `.a[0].b`."""
    if value.__class__ is list:
        items = node.items
        if items is None:
            if node.preserves:
                return
            items = _NOTHING
        for index, item in enumerate(value):
            if item.__class__ is dict or item.__class__ is list:
                before = len(found)
                _prune(items, item, found)
                if len(found) > before:
                    _prefix(found, before, f"[{index}]")
        return
    if value.__class__ is not dict:
        return
    own, properties, additional, is_open = node.compiled.get("members") or _members(node)
    gone = []
    for name, item in value.items():
        child = properties.get(name, additional)
        if child is None:
            if not is_open and name not in own:
                gone.append(name)
        elif (item.__class__ is dict or item.__class__ is list) and name not in own:
            before = len(found)
            _prune(child, item, found)
            if len(found) > before:
                _prefix(found, before, f".{name}")
    for name in gone:
        del value[name]
        found.append(f".{name}")


def _members(node: Node) -> _Members:
    made = node.compiled["members"] = node.own, node.properties, node.additional, node.open
    return made


def _prefix(found: list[str], since: int, step: str) -> None:
    found[since:] = [step + one for one in found[since:]]


def drop_nulls(node: Node, value: Any, *, untyped: bool = False) -> None:
    """Remove nulls where they are not allowed; in lists they stay, and are an error.

    `untyped`: only where the schema names no type, and validation would not see them.
    """
    if value.__class__ is list:
        items = node.items
        if items is not None:
            for item in value:
                if item.__class__ is dict or item.__class__ is list:
                    drop_nulls(items, item, untyped=untyped)
        return
    if value.__class__ is not dict:
        return
    own, properties, additional, _ = node.compiled.get("members") or _members(node)
    gone = []
    for name, item in value.items():
        if item is None:
            child = properties.get(name, additional)
            if child is not None and name not in own and not child.nullable and not (untyped and child.types):
                gone.append(name)
        elif item.__class__ is dict or item.__class__ is list:
            child = properties.get(name, additional)
            if child is not None and name not in own:
                drop_nulls(child, item, untyped=untyped)
    for name in gone:
        del value[name]
