"""Reading `fieldsV1` that somebody else wrote: elements in their canonical form, unknown kinds passed over, nonsense
refused.
"""

from __future__ import annotations

import json
import re
from json.encoder import encode_basestring
from typing import Any, Final

import orjson

from pilothouse.kit.sorting import in_order
from pilothouse.machinery.typed.fieldset import LEAF, SELF, Node, ordered
from pilothouse.machinery.typed.shape import json_text

_MANY: Final = 64  # elements which are worth a look at all of them together
_PLAIN_LEAVES: Final = frozenset({dict, type(None)})
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
    if len(value) >= _MANY and _PLAIN_LEAVES.issuperset(map(type, value.values())) and not any(value.values()):
        known = _ordered_leaves(list(value))
        if known is not None:
            return dict.fromkeys(known, LEAF)
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


def _ordered_leaves(texts: list[str]) -> list[str] | None:
    """Elements of one kind in order, if they surely are in their canonical form: fields, and texts of a set."""
    own = [SELF] if SELF in texts else []
    rest = [text for text in texts if text != SELF] if own else texts
    kinds = {text[:2] for text in rest}
    if kinds == {"f:"}:
        return own + in_order(rest)
    if kinds != {"v:"}:
        return None
    try:
        values = orjson.loads(f"[{','.join([text[2:] for text in rest])}]")
    except orjson.JSONDecodeError:
        return None
    if set(map(type, values)) != {str} or list(map("v:".__add__, map(encode_basestring, values))) != rest:
        return None
    return own + list(map("v:".__add__, map(encode_basestring, in_order(values))))


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
