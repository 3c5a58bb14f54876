"""One node of a structural schema, read lazily: what nobody looks at costs nothing.

A definition of a big operator has ten thousand nodes, of which an object touches a few dozen.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
BELOW: Final = frozenset({"properties", "items", "additionalProperties"})  # where the schemas below one stand
EMBEDDED: Final = "x-kubernetes-embedded-resource"
INT_OR_STRING: Final = "x-kubernetes-int-or-string"
LIST_TYPE: Final = "x-kubernetes-list-type"
MAP_TYPE: Final = "x-kubernetes-map-type"
MAP_KEYS: Final = "x-kubernetes-list-map-keys"
RULES: Final = "x-kubernetes-validations"
INT_OR_STRING_TYPES: Final = ("integer", "string")

Raw = Mapping[str, Any]
_UNREAD: Final[Any] = object()  # stands where nobody has looked yet


class Node:
    """A schema node. `raw` are its keywords as the definition has them; what is made of a node is kept in `compiled`.

    `resource`: the node is a whole object with apiVersion, kind and metadata (the root, and embedded resources).
    """

    __slots__ = ("_additional", "_items", "_properties", "compiled", "raw", "resource", "root")

    def __init__(self, raw: Raw, *, root: bool = False) -> None:
        self.raw = raw
        self.root = root
        self.resource = root or bool(raw.get(EMBEDDED))
        self._properties: dict[str, Node] | None = None
        self._items: Node | None = _UNREAD
        self._additional: Node | None = _UNREAD
        self.compiled: dict[Hashable, Any] = {}

    @property
    def type(self) -> str:
        """ "" where the schema leaves it open."""
        return str(self.raw.get("type") or "")

    @property
    def types(self) -> tuple[str, ...]:
        """All JSON types that a value may have; () for any."""
        if self.raw.get(INT_OR_STRING):
            return INT_OR_STRING_TYPES
        return (self.type,) if self.type else ()

    @property
    def nullable(self) -> bool:
        return bool(self.raw.get("nullable"))

    @property
    def preserves(self) -> bool:
        """Fields that the schema does not name are kept."""
        return bool(self.raw.get(PRESERVE))

    @property
    def int_or_string(self) -> bool:
        return bool(self.raw.get(INT_OR_STRING))

    @property
    def default(self) -> Any:
        """None: there is none (a null default counts as none)."""
        return self.raw.get("default")

    @property
    def list_type(self) -> str:
        return str(self.raw.get(LIST_TYPE) or "atomic")

    @property
    def list_keys(self) -> tuple[str, ...]:
        return tuple(self.raw.get(MAP_KEYS) or ())

    @property
    def map_type(self) -> str:
        return str(self.raw.get(MAP_TYPE) or "granular")

    @property
    def properties(self) -> dict[str, Node]:
        """The named fields, a resource's apiVersion, kind and metadata among them where the schema names them."""
        if self._properties is None:
            self._properties = {name: Node(raw) for name, raw in (self.raw.get("properties") or {}).items()}
        return self._properties

    @property
    def own(self) -> frozenset[str]:
        """Fields that are there whatever the schema says, and are neither pruned nor defaulted by it."""
        return RESOURCE_FIELDS if self.resource else frozenset()

    @property
    def items(self) -> Node | None:
        """Of a list."""
        if self._items is _UNREAD:
            raw = self.raw.get("items")
            self._items = Node(raw) if isinstance(raw, Mapping) else None
        return self._items

    @property
    def additional(self) -> Node | None:
        """What fields that are not named look like; None where the schema does not say."""
        if self._additional is _UNREAD:
            raw = self.raw.get("additionalProperties")
            self._additional = Node(raw) if isinstance(raw, Mapping) else None
        return self._additional

    @property
    def open(self) -> bool:
        """Fields that are not named are kept (`additionalProperties: false` refuses them, and does not prune)."""
        return self.preserves or isinstance(self.raw.get("additionalProperties"), bool)

    @property
    def closed(self) -> bool:
        """`additionalProperties: false`: fields that are not named are an error (they are not pruned)."""
        return self.raw.get("additionalProperties") is False

    @property
    def has_rules(self) -> bool:
        """Whether the node or one below it has rules (`x-kubernetes-validations`)."""
        found: bool | None = self.compiled.get("rules")
        if found is None:
            found = self.compiled["rules"] = _has_rules(self.raw)
        return found

    def anywhere(self, keyword: str) -> bool:
        """Whether the node or one below it has a keyword."""
        place = ("anywhere", keyword)
        found: bool | None = self.compiled.get(place)
        if found is None:
            found = self.compiled[place] = _anywhere(self.raw, keyword)
        return found

    def __repr__(self) -> str:
        return f"Node({self.type or '?'}, {sorted(self.raw)})"


def _anywhere(raw: Any, keyword: str) -> bool:
    if not isinstance(raw, Mapping):
        return False
    if raw.get(keyword) is not None:
        return True
    if BELOW.isdisjoint(raw):
        return False
    below = (raw.get("items"), raw.get("additionalProperties"), *(raw.get("properties") or {}).values())
    return any(_anywhere(one, keyword) for one in below)


def _has_rules(raw: Any) -> bool:
    if not isinstance(raw, Mapping):
        return False
    if BELOW.isdisjoint(raw):
        return bool(raw.get(RULES))
    if raw.get(RULES) or _has_rules(raw.get("items")) or _has_rules(raw.get("additionalProperties")):
        return True
    return any(map(_has_rules, (raw.get("properties") or {}).values()))


RESOURCE_FIELDS: Final = frozenset({"apiVersion", "kind", "metadata"})
