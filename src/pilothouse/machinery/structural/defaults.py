"""Whether the defaults of a schema keep to it: asked when a definition is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import orjson

from pilothouse.machinery.decode.document import Decoder
from pilothouse.machinery.errors import Cause
from pilothouse.machinery.jsoncodec import dumps
from pilothouse.machinery.rules.field import shown
from pilothouse.machinery.structural import embedded
from pilothouse.machinery.structural.check import check
from pilothouse.machinery.structural.embedded import Metadata
from pilothouse.machinery.structural.explain import explain
from pilothouse.machinery.structural.node import BELOW, INT_OR_STRING, Node
from pilothouse.machinery.structural.prune import prune
from pilothouse.machinery.structural.settle import coerce

Wrap = Callable[[Any], dict[str, Any]]  # the metadata of an object that has this value at the place at hand
_UNKNOWN: Final = "must not have unknown fields"
_BAD_METADATA: Final = "must result in valid metadata"


def default_problems(root: Node, path: str, metadata: Metadata) -> list[Cause]:
    """What is wrong with the defaults below a node that is told at `path`. `metadata` judges that of objects."""
    if not root.anywhere("default"):
        return []
    walk = _Walk(metadata)
    walk.node(root, path, None)
    return walk.found


def tidy_defaults(raw: Any, metadata: Decoder) -> None:
    """Take out of the defaults below a schema what metadata of embedded objects cannot hold, in place."""
    if isinstance(raw, list):
        for one in raw:
            tidy_defaults(one, metadata)
        return
    if not isinstance(raw, dict):
        return
    default = raw.get("default")
    if isinstance(default, dict | list):
        coerce(Node(raw), default, "", metadata, [], True)
    if BELOW.isdisjoint(raw):
        return
    for name in ("properties", "items", "additionalProperties"):
        below = raw.get(name)
        tidy_defaults(list(below.values()) if name == "properties" and below else below, metadata)


class _Walk:
    def __init__(self, metadata: Metadata) -> None:
        self._metadata = metadata
        self.found: list[Cause] = []

    def node(self, node: Node, path: str, wrap: Wrap | None) -> None:
        """`wrap`: the node is inside of an object's metadata."""
        if node.default is not None:
            if wrap is not None:
                self._in_metadata(node.default, path, wrap(node.default))
            else:
                self._default(node, f"{path}.default")
        if wrap is None and node.additional is not None:
            self.node(node.additional, f"{path}.additionalProperties", None)
        if wrap is None and node.items is not None:
            self.node(node.items, f"{path}.items", None)
        for name in sorted(node.properties):
            self.node(node.properties[name], f"{path}.properties[{name}]", _inside(node, name, wrap))

    def _in_metadata(self, value: Any, path: str, whole: dict[str, Any]) -> None:
        for cause in self._metadata(whole, "metadata"):
            why = f"{_BAD_METADATA}: {cause.field}: {cause.message}"
            message = f"Invalid value: {shown(value)}: {why}"
            self.found.append(Cause("FieldValueInvalid", message, f"{path}.default"))

    def _default(self, node: Node, path: str) -> None:
        value = node.default
        unknown: list[str] = []
        if isinstance(value, dict | list):
            prune(node, orjson.loads(dumps(value)), "", unknown)
        if unknown:
            self.found.append(Cause("FieldValueInvalid", f"Invalid value: {shown(value)}: {_UNKNOWN}", path))
        found = embedded.problems(node, value, path, self._metadata)
        # Whether an int or a string stands for one of the two is not asked here.
        asked = Node({**node.raw, INT_OR_STRING: False}) if node.int_or_string else node
        if not check(asked)(value):
            found += explain(asked, value, field=path)
        self.found += found


def _inside(node: Node, name: str, wrap: Wrap | None) -> Wrap | None:
    if wrap is not None:
        return lambda value: wrap({name: value})
    if node.resource and name == "metadata":
        return lambda value: value if isinstance(value, dict) else {}
    return None
