"""Embedded resources must look like resources: apiVersion, kind, and metadata that would be valid anywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from pilothouse.machinery import names
from pilothouse.machinery.errors import Cause
from pilothouse.machinery.rules.field import shown
from pilothouse.machinery.structural.node import EMBEDDED, Node

Metadata = Callable[[dict[str, Any], str], Sequence[Cause]]  # (metadata, its path) -> what is wrong
_SIMPLE: Final = frozenset({"apiVersion", "kind"})


def valid(value: Any) -> bool:
    """Whether nothing can be wrong: no metadata, and plain words. False only means: look closer."""
    if value.__class__ is not dict:
        return True
    version, kind = value.get("apiVersion"), value.get("kind")
    if version.__class__ is not str or kind.__class__ is not str or not version or not kind:
        return False
    return not value.get("metadata") and version.count("/") <= 1 and not names.label_1035(kind.lower())


def problems(node: Node, value: Any, path: str, metadata: Metadata) -> list[Cause]:
    """What is wrong with the embedded resources below a node."""
    found: list[Cause] = []
    _walk(node, value, path, metadata, found)
    return found


def _walk(node: Node, value: Any, path: str, metadata: Metadata, found: list[Cause]) -> None:
    if not node.anywhere(EMBEDDED):
        return
    if value.__class__ is list:
        items = node.items
        for index, item in enumerate(value):
            if items is not None:
                _walk(items, item, f"{path}[{index}]", metadata, found)
    elif value.__class__ is dict:
        if node.resource and not node.root:
            found += _resource(value, path, metadata)
        for name in sorted(value):
            child = node.properties.get(name)
            if name in node.own:
                continue
            if child is not None:
                _walk(child, value[name], f"{path}.{name}" if path else name, metadata, found)
            elif node.additional is not None:
                _walk(node.additional, value[name], f"{path}[{name}]", metadata, found)


def _resource(value: dict[str, Any], path: str, metadata: Metadata) -> list[Cause]:
    found: list[Cause] = []
    version, kind = value.get("apiVersion"), value.get("kind")
    if not version:
        found.append(Cause("FieldValueRequired", "Required value", f"{path}.apiVersion"))
    elif str(version).count("/") > 1:
        why = f"unexpected GroupVersion string: {version}"
        found.append(Cause("FieldValueInvalid", f"Invalid value: {shown(version)}: {why}", f"{path}.apiVersion"))
    if not kind:
        found.append(Cause("FieldValueRequired", "Required value", f"{path}.kind"))
    else:
        whys = names.label_1035(str(kind).lower())
        if whys:
            why = f"may have mixed case, but should otherwise match: {','.join(whys)}"
            found.append(Cause("FieldValueInvalid", f"Invalid value: {shown(kind)}: {why}", f"{path}.kind"))
    sent = value.get("metadata")
    if sent.__class__ is dict:
        found += metadata(sent, f"{path}.metadata")
    return found
