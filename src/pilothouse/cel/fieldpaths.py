"""The `fieldPath` of a rule: `.spec.names['a b']`, below the place of the rule."""

from __future__ import annotations

import re
from typing import Final

from pilothouse.machinery.structural.node import Node

_STEP: Final = re.compile(r"\.([^.\[\]]+)|\['((?:[^'\\]|\\.)+)'\]|\[\"((?:[^\"\\]|\\.)+)\"\]", re.DOTALL)


def field_suffix(path: str, node: Node) -> str | None:
    """What follows the rule's own path in messages (`.spec.names[a b]`); None where the schema has no such place."""
    at, shown = 0, ""
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            return None
        name = found[1] or re.sub(r"\\(.)", r"\1", found[2] or found[3])
        if node.additional is not None:
            shown += f"[{name}]"
            node = node.additional
        elif name in node.properties:
            shown += f".{name}"
            node = node.properties[name]
        else:
            return None
        at = found.end()
    return shown or None
