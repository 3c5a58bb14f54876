"""Reading `fieldsV1` that somebody else wrote: elements in their canonical form, unknown kinds passed over, nonsense
refused.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from pilothouse.machinery.typed.fieldset import LEAF, SELF, Node, ordered
from pilothouse.machinery.typed.shape import json_text

MAX_DEPTH: Final = 200  # of paths; no type is as deep, and a hostile entry shall not exhaust the stack

# Values that are written in one way only, and keys of one name.
_VALUE: Final = r'(?:"[ !#-\[\]-~]*"|0|[1-9][0-9]{0,14})'
_CANONICAL: Final = re.compile(rf'v:{_VALUE}|k:\{{"[A-Za-z]+":{_VALUE}\}}').fullmatch


def read(value: Any) -> Node:
    """The set that a `fieldsV1` value stands for. Raises ValueError where it is none."""
    if value is None:
        return {}
    node = _read(value, 0)
    node.pop(SELF, None)  # the root names nothing
    return node


def _read(value: Any, depth: int) -> Node:
    if not isinstance(value, dict):
        raise ValueError("expected an object")
    if depth > MAX_DEPTH:
        raise ValueError("too deep")
    out: Node = {}
    for text, below in value.items():
        if text == SELF:
            out[SELF] = LEAF
            continue
        element = canonical(text)
        if element is None:
            continue
        child = _read(below, depth + 1) if below else _leaf(below)
        if len(child) == 1 and SELF in child:
            child = LEAF
        elif below and not child:
            continue  # nothing known below, and no member itself
        out[element] = child
    return ordered(out)


def _leaf(value: Any) -> Node:
    if value == {} or value is None:
        return LEAF
    raise ValueError("expected an object")


def canonical(text: str) -> str | None:
    """The element in the form that this server writes. None: of a kind that is not known. Raises ValueError."""
    if len(text) < 2 or text[1] != ":":
        raise ValueError(f"missing colon: {text}")
    kind, rest = text[0], text[2:]
    if kind == "f" or _CANONICAL(text):
        return text
    if kind == "i":
        return f"i:{int(rest)}"
    if kind == "v":
        return f"v:{json_text(json.loads(rest))}"
    if kind == "k":
        keys = json.loads(rest)
        if not isinstance(keys, dict):
            raise ValueError(f"not an object: {text}")
        return "k:{" + ",".join(f"{json_text(key)}:{json_text(keys[key])}" for key in sorted(keys)) + "}"
    return None
