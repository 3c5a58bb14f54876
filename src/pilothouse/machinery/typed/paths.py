"""How the original prints paths in its messages.

Compiled (docs/designs/compiled.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from mypy_extensions import i64

from pilothouse.machinery.goquote import quote
from pilothouse.machinery.typed.fieldset import SELF, Node, is_member
from pilothouse.machinery.typed.text import plain
from pilothouse.machinery.typed.turns import DEEPEST, TURNS


def value_text(value: Any) -> str:
    """A value inside a path: text in quotes, maps as `key=value` joined by `;`. Raises RecursionError."""
    return _value_text(value, 0)


def _value_text(value: Any, depth: i64) -> str:
    if depth > DEEPEST:
        raise RecursionError
    if isinstance(value, str):
        return quote(value)
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"[{','.join([_value_text(item, depth + 1) for item in value])}]"
    if isinstance(value, dict):
        return ";".join([f"{key}={_value_text(value[key], depth + 1)}" for key in sorted(value)])
    return plain(value)


def element_text(element: str) -> str:
    """`.name`, `[name="x"]`, `[="x"]` or `[3]`."""
    kind, rest = element[0], element[2:]
    if kind == "f":
        return f".{rest}"
    if kind != "k" and kind != "v":
        return f"[{rest}]"
    if "\\" not in rest and rest.isascii() and rest.isprintable():  # texts are shown as they are written
        parts = rest.split('"')
        if kind == "v" and len(parts) == 3 and not parts[0] and not parts[2]:
            return f"[={rest}]"
        if kind == "k" and len(parts) == 5 and (parts[0], parts[2], parts[4]) == ("{", ":", "}"):
            return f'[{parts[1]}="{parts[3]}"]'
    if kind == "k":
        return f"[{','.join([f'{key}={value_text(value)}' for key, value in json.loads(rest).items()])}]"
    return f"[={value_text(json.loads(rest))}]"


def member_texts(node: Node) -> list[str]:
    """The paths of all members, in the order of `fieldset.members`."""
    found: list[str] = []
    stack: list[tuple[str, Node]] = [("", node)]
    while stack:
        prefix, node = stack.pop()
        below: list[tuple[str, Node]] = []
        for element, child in node.items():
            if element == SELF:
                continue
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
            text = f"{prefix}.{element[2:]}" if element.startswith("f:") else prefix + element_text(element)
            if is_member(child):
                found.append(text)
            if child:
                below.append((text, child))
        below.reverse()
        stack += below
    return found


def path_text(path: Iterable[str]) -> str:
    """A path of elements as conflicts show it: `.spec.containers[name="x"].image`."""
    return "".join([element_text(element) for element in path])
