"""Types of expressions made of a structural schema, with how big their values may become.

A request is at most three megabytes; what a schema sets no limit to is limited by that. Types are made when they are
looked at, and kept in the node.
"""

from __future__ import annotations

from typing import Any, Final

from pilothouse.cel import types
from pilothouse.cel.escaping import escaped, is_reserved
from pilothouse.cel.types import Member, Type
from pilothouse.machinery.structural.node import Node

REQUEST: Final = 3 * 1024 * 1024  # bytes
_KEY: Final = "type of expressions"
_LEAST: Final = "least bytes"
_NAMES: Final = 10**9
# format -> its type, the bytes of its shortest text in JSON, and of its longest (0: the request's)
_FORMATS: Final[dict[str, tuple[Type, int, int]]] = {
    "byte": (types.BYTES, 2, 0),
    "duration": (types.DURATION, 4, 32),
    "date": (types.TIMESTAMP, 12, 12),
    "date-time": (types.TIMESTAMP, 22, 32),
}
_PLAIN: Final = {"boolean": (types.BOOL, 4), "number": (types.DOUBLE, 1), "integer": (types.INT, 1)}
_META: Final = {"type": "object", "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}}}
_ALWAYS: Final[dict[str, Any]] = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": _META}


def type_of(node: Node) -> Type | None:
    """None: expressions cannot see it, since nothing is known of it."""
    if _KEY not in node.compiled:
        node.compiled[_KEY] = _type(node)
    found: Type | None = node.compiled[_KEY]
    return found


def members(node: Node) -> dict[str, Node]:
    """The properties that expressions see; of a whole object its name and kind are always there."""
    if not node.resource:
        return node.properties
    found: dict[str, Node] | None = node.compiled.get("cel.members")
    if found is None:
        found = {**node.properties, **{name: Node(raw) for name, raw in _ALWAYS.items()}}
        node.compiled["cel.members"] = found
    return found


class NodeFields:
    """Fields of an object by its schema."""

    __slots__ = ("_found", "_names", "_node")

    def __init__(self, node: Node) -> None:
        self._node = node
        self._found: dict[str, Member | None] = {}
        self._names: dict[str, str] | None = None

    def field(self, name: str) -> Member | None:
        if name not in self._found:
            self._found[name] = self._member(name)
        return self._found[name]

    def _member(self, name: str) -> Member | None:
        properties = members(self._node)
        if self._names is None:
            self._names = {escaped(one): one for one in properties}
            self._names.pop("", None)
        key = self._names.get(name) or (name if is_reserved(name) and name in properties else "")
        kind = type_of(properties[key]) if key else None
        return Member(key, kind) if kind is not None else None


def _limit(node: Node, keyword: str) -> int | None:
    found = node.raw.get(keyword)
    return max(0, int(found)) if found is not None else None


def _type(node: Node) -> Type | None:
    if node.int_or_string:
        return Type("dyn", most=REQUEST - 2)
    kind = node.type
    if node.resource or kind == "object":
        return _object(node)
    if kind == "array":
        return _list(node)
    if kind == "string":
        return _string(node)
    return _PLAIN[kind][0] if kind in _PLAIN else None


def _object(node: Node) -> Type | None:
    if node.additional is not None:
        held = type_of(node.additional)
        if held is None:
            return None
        most = _limit(node, "maxProperties")
        if most is None:
            most = (REQUEST - 2) // (least_bytes(node.additional) + 6)
        return types.map_of(types.STRING, held, most)
    # Objects of two nodes are of two types. The original's names have a number that means nothing too.
    return Type("object", f"selfType{id(node) // 16 % _NAMES}", fields=NodeFields(node))


def _list(node: Node) -> Type | None:
    held = type_of(node.items) if node.items is not None else None
    if held is None or node.items is None:
        return None
    most = _limit(node, "maxItems")
    if most is None:
        most = (REQUEST - 2) // (least_bytes(node.items) + 1)
    return types.list_of(held, most)


def _string(node: Node) -> Type:
    form = _FORMATS.get(str(node.raw.get("format") or ""))
    most = _limit(node, "maxLength")
    if form is not None:
        kind, _, longest = form
        if kind is types.BYTES and most is not None:
            return Type(kind.kind, most=most)
        return Type(kind.kind, most=longest or REQUEST - 2)
    if most is not None:
        return Type("string", most=most * 4)  # letters may have four bytes
    values = node.raw.get("enum")
    if values:
        return Type("string", most=max(len(str(one).encode()) for one in values))
    return Type("string", most=REQUEST - 2)


def least_bytes(node: Node) -> int:
    """How short a value's JSON may be."""
    found: int | None = node.compiled.get(_LEAST)
    if found is None:
        found = node.compiled[_LEAST] = _least(node)
    return found


def _least(node: Node) -> int:
    if node.int_or_string:
        return 1
    kind = node.type
    if kind in _PLAIN:
        return _PLAIN[kind][1]
    if kind == "string":
        form = _FORMATS.get(str(node.raw.get("format") or ""))
        return form[1] if form is not None else 2
    size = 2
    if kind == "object" and node.additional is None:
        for name in node.raw.get("required") or ():
            child = node.properties.get(name)
            if child is not None and child.default is None and type_of(child) is not None:
                size += len(name) + least_bytes(child) + 4
    return size
