"""What a schema does not know or allow is taken out of custom objects, in place: fields without a name, and nulls.

Both walk all of an object that is not plain, which may be a million small values. So they look into containers only,
and ask a node once for what they need of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, filterfalse
from typing import Any, Final

from pilothouse.kit.runs import RUN, doubtful
from pilothouse.machinery.structural.node import Node

_NOTHING: Final = Node({})
_OBJECTS: Final = frozenset((dict,))
_LISTS: Final = frozenset((list,))
_CONTAINERS: Final = frozenset((dict, list))
_NULL_OR_CONTAINERS: Final = _CONTAINERS | {type(None)}
# Of a node: the fields that are there anyway, those with a name, what the others look like, whether they are kept.
_Members = tuple[frozenset[str], dict[str, Node], Node | None, bool]


def prune(node: Node, value: Any, path: str, unknown: list[str]) -> None:
    """Remove fields that the schema does not know; their paths are added to `unknown`."""
    _prune(node, value, path, None, unknown)


def _prune(node: Node, value: Any, path: str, index: int | None, unknown: list[str]) -> None:
    """`index`: where the value is in the list at `path`; None where the path is its own."""
    if value.__class__ is list:
        items = node.items
        if items is None:
            if node.preserves:
                return
            items = _NOTHING
        path = path if index is None else f"{path}[{index}]"
        if len(value) > RUN and _pruned_flat(items, value, path, unknown):
            return
        for place, item in enumerate(value) if len(value) <= RUN else doubtful(value, _nothing_to_do(items)):
            if item.__class__ is dict or (item.__class__ is list and not _CONTAINERS.isdisjoint(map(type, item))):
                _prune(items, item, path, place, unknown)
        return
    if value.__class__ is not dict:
        return
    if len(value) > RUN:
        _prune_many(node, value, path if index is None else f"{path}[{index}]", unknown)
        if node.additional is not None and _CONTAINERS.isdisjoint(map(type, value.values())):
            return  # a map of plain values
    own, properties, additional, is_open = node.compiled.get("prune.members") or _members(node)
    below, gone = [], []
    for name, item in value.items():
        child = properties.get(name, additional)
        if child is None:
            if not is_open and name not in own:
                gone.append(name)
        elif (item.__class__ is dict or item.__class__ is list) and name not in own:
            below.append((child, name, item))
    if not below and not gone:
        return
    path = path if index is None else f"{path}[{index}]"
    start = f"{path}." if path else ""
    for child, name, item in below:
        _prune(child, item, start + name, None, unknown)
    for name in gone:
        del value[name]
        unknown.append(start + name)


def _prune_many(node: Node, value: dict[str, Any], path: str, unknown: list[str]) -> None:
    """Remove the fields of a long object that the schema does not know, without looking at each."""
    names = _only_names(node)
    if names is None or names.issuperset(value):
        return
    start = f"{path}." if path else ""
    unknown += map(start.__add__, filterfalse(names.__contains__, value))
    kept = [(name, value[name]) for name in filter(names.__contains__, value)]
    value.clear()
    value.update(kept)


def _pruned_flat(node: Node, value: list[Any], path: str, unknown: list[str]) -> bool:
    """Whether a long list has only objects of scalars, in which there is nothing but fields to remove; they are."""
    names = _only_names(node)
    if names is None or set(map(type, value)) != _OBJECTS:
        return False
    if not _CONTAINERS.isdisjoint(map(type, chain.from_iterable(map(dict.values, value)))):
        return False
    for start in range(0, len(value), RUN):
        run = value[start : start + RUN]
        if names.issuperset(chain.from_iterable(run)):
            continue
        gone = []
        for place, item in enumerate(run, start):
            for name in item:
                if name not in names:
                    gone.append((item, name))
                    unknown.append(f"{path}[{place}].{name}")
        for item, name in gone:
            del item[name]
    return True


def _nothing_to_do(node: Node) -> Callable[[Sequence[Any]], bool]:
    """Whether in a run of items, all objects or none, surely nothing is unknown and nothing to be looked into."""
    names = _only_names(node)

    def test(run: Sequence[Any]) -> bool:
        types = set(map(type, run))
        if types == _LISTS:
            return _CONTAINERS.isdisjoint(map(type, chain.from_iterable(run)))
        if types != _OBJECTS:
            return _CONTAINERS.isdisjoint(types)
        if names is not None and not names.issuperset(chain.from_iterable(run)):
            return False
        return _CONTAINERS.isdisjoint(map(type, chain.from_iterable(map(dict.values, run))))

    return test


def _only_names(node: Node) -> frozenset[str] | None:
    """The only fields that an object of this node may have; None where others are kept."""
    own, properties, additional, is_open = node.compiled.get("prune.members") or _members(node)
    return None if is_open or additional is not None else own.union(properties)


def _members(node: Node) -> _Members:
    made = node.compiled["prune.members"] = node.own, node.properties, node.additional, node.open
    return made


def drop_nulls(node: Node, value: Any, *, untyped: bool = False) -> None:
    """Remove nulls where they are not allowed; in lists they stay, and are an error.

    `untyped`: only where the schema names no type, and validation would not see them.
    """
    if value.__class__ is list:
        items = node.items
        if items is not None and not _CONTAINERS.isdisjoint(map(type, value)):
            for item in value:
                if item.__class__ is dict or item.__class__ is list:
                    drop_nulls(items, item, untyped=untyped)
        return
    if value.__class__ is not dict or _NULL_OR_CONTAINERS.isdisjoint(map(type, value.values())):
        return
    own, properties, additional, _ = node.compiled.get("prune.members") or _members(node)
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
