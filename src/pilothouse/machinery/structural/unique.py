"""Lists that hold nothing twice: sets, lists keyed like maps."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final

from pilothouse.machinery.rules.field import shown
from pilothouse.machinery.structural.node import LIST_TYPE, Node

Key = Callable[[Any], Hashable]


def identity(value: Any) -> Hashable:
    """Equal for equal JSON values only."""
    kind = value.__class__
    if kind is dict:
        return frozenset((name, identity(item)) for name, item in value.items())
    if kind is list:
        return tuple(identity(item) for item in value)
    return (bool, value) if kind is bool else value


def key_of(node: Node) -> Key:
    """What makes an item of the list the same as another one."""
    if node.list_type == "set":
        return identity
    names = node.list_keys
    if len(names) == 1:
        name = names[0]
        return lambda item: identity(item.get(name)) if item.__class__ is dict else None
    return lambda item: tuple(identity(item.get(name)) for name in names) if item.__class__ is dict else None


_PLAIN: Final = frozenset({str, int, float, type(None)})  # whose identity is the value


def keys_of(node: Node, items: Sequence[Any]) -> Sequence[Hashable]:
    """What `key_of` says of each item."""
    names = node.list_keys
    found: Sequence[Any] = items
    if node.list_type != "set":
        if len(names) != 1 or set(map(type, items)) != {dict}:
            return list(map(key_of(node), items))
        found = [item.get(names[0]) for item in items]
    return found if _PLAIN.issuperset(map(type, found)) else list(map(identity, found))


def checker(node: Node) -> Callable[[Any], bool]:
    """`f(list)`: whether nothing is in it twice."""

    def unique(value: Any) -> bool:
        if value.__class__ is not list or len(value) < 2:
            return True
        return len(set(keys_of(node, value))) == len(value)

    return unique


def repeated(keys: Iterable[Hashable]) -> list[int]:
    """Places of the keys that are there before: of each, its second place only."""
    counts: dict[Hashable, int] = {}
    found = []
    for index, key in enumerate(keys):
        seen = counts.get(key, 0)
        counts[key] = seen + 1
        if seen == 1:
            found.append(index)
    return found


def duplicates(node: Node, value: Any, path: str, found: list[tuple[str, str]]) -> None:
    """(path, value as it is shown) of every repeated item of sets and keyed lists below a node."""
    if not node.anywhere(LIST_TYPE):
        return
    if value.__class__ is list:
        items = node.items
        if items is None:
            return
        if node.list_type in ("set", "map"):
            found += [(f"{path}[{index}]", shown(value[index])) for index in repeated(keys_of(node, value))]
        if items.anywhere(LIST_TYPE):
            for index, item in enumerate(value):
                duplicates(items, item, f"{path}[{index}]", found)
    elif value.__class__ is dict:
        for name in sorted(value):
            child = node.properties.get(name)
            if child is not None:
                duplicates(child, value[name], f"{path}.{name}" if path else name, found)
            elif node.additional is not None:
                duplicates(node.additional, value[name], f"{path}[{name}]", found)
