"""Sets of fields as tries of plain dicts: the very form of `fieldsV1`, so that nothing is converted on the way in or
out.

A node is a dict from path element to child node. A child that is empty, or has the key ".", is a member of the set; a
child with keys and no "." is only on the way to members. An element is `f:NAME` (a field or map key),
`k:{"KEY":VALUE}` (an item of a keyed list), `v:VALUE` (an item of a set) or `i:N`. At the root an empty dict is the
empty set.

Nodes are shared between sets and with objects: nobody may change one in place. All functions here return their
argument itself when nothing changes, and raise RecursionError where sets are too deep.

Compiled (docs/designs/compiled.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from mypy_extensions import i64

from pilothouse.kit.sorting import in_order
from pilothouse.machinery.typed.turns import DEEPEST, TURNS

Node = dict[str, Any]  # str -> Node; mypy has no recursive alias for dict invariance that is worth its price

LEAF: Final[Node] = {}  # the member without children; shared, never changed
SELF: Final = "."


def is_member(child: Node) -> bool:
    """Whether the element that leads to `child` is in the set."""
    return not child or SELF in child


def union(a: Node, b: Node) -> Node:
    """The root set of what is in `a` or in `b`, in the original's order."""
    if a is b or not b:
        return a
    if not a:
        return b
    return _union_children(a, b, 0)


def _union_children(a: Node, b: Node, depth: i64) -> Node:
    if depth > DEEPEST:
        raise RecursionError
    out: Node | None = None
    grown = False
    for element, theirs in b.items():
        TURNS.left -= 1
        if TURNS.left <= 0:
            TURNS.over()
        ours = a.get(element)
        if ours is None:
            joined, grown = theirs, True
        else:
            joined = _union_child(ours, theirs, depth)
            if joined is ours:
                continue
        if out is None:
            out = dict(a)
        out[element] = joined
    if out is None:
        return a
    return ordered(out) if grown else out


def _union_child(a: Node, b: Node, depth: i64) -> Node:
    if a is b or (not b and is_member(a)):
        return a
    if not a:
        return b if is_member(b) else {SELF: LEAF, **b}
    if not b:
        return {SELF: LEAF, **a}
    return _union_children(a, b, depth + 1)


def union_of(nodes: list[Node]) -> Node:
    """The root set of what is in any of the sets (one at least), in the original's order."""
    return _union_of(nodes, 0)


def _union_of(nodes: list[Node], depth: i64) -> Node:
    if len(nodes) == 1:
        return nodes[0]
    if depth > DEEPEST:
        raise RecursionError
    children: dict[str, list[Node]] = {}
    for node in nodes:
        for element, child in node.items():
            children.setdefault(element, []).append(child)
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
    out: Node = {}
    for element, many in children.items():
        out[element] = _union_of_children(many, depth + 1)
    return ordered(out)


def _union_of_children(children: list[Node], depth: i64) -> Node:
    below = [child for child in children if child]
    if not below:
        return LEAF
    joined = _union_of(below, depth)
    if len(below) == len(children) or SELF in joined:
        return joined
    return {SELF: LEAF, **joined}


def subtract(a: Node, b: Node) -> Node:
    """The root set of the members of `a` that are not members of `b`. A member does not stand for what is below it."""
    return _subtract(a, b, 0)


def _subtract(a: Node, b: Node, depth: i64) -> Node:
    if depth > DEEPEST:
        raise RecursionError
    out: Node | None = None
    for element in a if len(a) < len(b) else b:
        TURNS.left -= 1
        if TURNS.left <= 0:
            TURNS.over()
        ours = a.get(element)
        theirs = b.get(element)
        if ours is None or theirs is None or element == SELF:
            continue
        left = _subtract_child(ours, theirs, depth + 1)
        if left is ours:
            continue
        if out is None:
            out = dict(a)
        if left is None:
            del out[element]
        else:
            out[element] = left
    return a if out is None else out


def _subtract_child(ours: Node, theirs: Node, depth: i64) -> Node | None:
    if not ours and not theirs:
        return None
    if is_member(theirs):
        if not ours:
            return None
        left = _subtract(ours, theirs, depth) if theirs else ours
        if SELF in left:
            left = {element: child for element, child in left.items() if element != SELF}
        return left or None
    if not ours:
        return ours
    left = _subtract(ours, theirs, depth)
    if left is ours:
        return ours
    if len(left) == 1 and SELF in left:
        return LEAF
    return left or None


def intersect(a: Node, b: Node) -> Node:
    """The root set of the members of both."""
    return _intersect(a, b, 0)


def _intersect(a: Node, b: Node, depth: i64) -> Node:
    if depth > DEEPEST:
        raise RecursionError
    out: Node = {}
    small, large = (a, b) if len(a) <= len(b) else (b, a)
    for element in small:
        TURNS.left -= 1
        if TURNS.left <= 0:
            TURNS.over()
        other = large.get(element)
        if other is None or element == SELF:
            continue
        mine = small[element]
        if mine is other:
            out[element] = mine
            continue
        both = _intersect(mine, other, depth + 1) if mine and other else LEAF
        if is_member(mine) and is_member(other):
            out[element] = {SELF: LEAF, **both} if both else LEAF
        elif both:
            out[element] = both
    return ordered(out) if small is b else out


def contains(node: Node, path: tuple[str, ...]) -> bool:
    """Whether the path (of elements) is a member."""
    for element in path:
        child = node.get(element)
        if child is None:
            return False
        node = child
    return bool(path) and is_member(node)


def of_paths(*paths: tuple[str, ...]) -> Node:
    """The set of these paths; each is a tuple of elements such as ("f:spec", "f:replicas")."""
    root: Node = {}
    for path in paths:
        node = root
        for depth, element in enumerate(path):
            last = depth == len(path) - 1
            child = node.get(element)
            if child is None:
                child = node[element] = {}
                if last:
                    break
                node = child
                continue
            if (last and child) or (not last and not child):
                child[SELF] = LEAF
            node = child
    return _ordered_deep(root, 0)


def members(node: Node) -> Iterator[tuple[str, ...]]:
    """All paths of the set: at each level the members first, then what is below, as the original lists conflicts."""
    stack: list[tuple[tuple[str, ...], Node]] = [((), node)]
    while stack:
        prefix, node = stack.pop()
        for element, child in node.items():
            if element != SELF and is_member(child):
                yield (*prefix, element)
        below = [((*prefix, element), child) for element, child in node.items() if child]
        stack.extend(reversed(below))


def ordered(node: Node) -> Node:
    """The node with its elements in the original's order (not its children)."""
    if len(node) < 2:
        return node
    keys = list(node)
    in_place = _ordered(keys)
    if in_place == keys:
        return node
    out: Node = {}
    for element in in_place:
        out[element] = node[element]
    return out


def _ordered(elements: list[str]) -> list[str]:
    """The elements in order. Those whose texts stand for texts sort as these, most others by what they stand for."""
    as_texts = True
    own: list[str] = []
    rest: list[str] = []
    for element in elements:
        if element == SELF:
            own.append(element)
        else:
            rest.append(element)
            as_texts = as_texts and element.startswith("f:")
    if as_texts:
        return own + in_order(rest)
    places: list[Any] = []
    name = None
    for at, element in enumerate(rest):
        key, place = _text_of(element)
        if place is None or (at and key != name):
            return own + in_places(rest, [order(one) for one in rest])
        name = key
        places.append(place)
        TURNS.left -= 1
        if TURNS.left <= 0:
            TURNS.over()
    return own + in_places(rest, places)


def _text_of(element: str) -> tuple[str, str | None]:
    """What an element has one text for, and the text: it sorts by that among those of the same; None for others."""
    if "\\" in element:
        return "", None
    parts = element.split('"')
    if len(parts) == 3 and parts[0] == "v:" and not parts[2]:
        return "", parts[1]
    if len(parts) == 5 and parts[0] == "k:{" and parts[2] == ":" and parts[4] == "}":
        return parts[1], parts[3]
    return "", None


def in_places(elements: list[str], places: list[Any]) -> list[str]:
    """Elements in the order of what they stand for: values, or what `order` makes of several."""
    if len(elements) < 2:
        return elements
    texts: dict[str, str] = {}
    for at, place in enumerate(places):
        if type(place) is not str:
            break
        texts[place] = elements[at]
    if len(texts) == len(elements):
        return [texts[text] for text in in_order(texts)]
    rows = [(place if type(place) is tuple else rank(place), at) for at, place in enumerate(places)]
    return [elements[row[1]] for row in in_order(rows)]


def _ordered_deep(node: Node, depth: i64) -> Node:
    if depth > DEEPEST:
        raise RecursionError
    out: Node = {}
    for element, child in node.items():
        out[element] = _ordered_deep(child, depth + 1) if child else LEAF
    return ordered(out)


def order(element: str) -> tuple[Any, ...]:
    """Where an element stands among its neighbours: ".", then fields by name, keys, values, indices."""
    if element == SELF:
        return (0,)
    kind, rest = element[0], element[2:]
    if kind == "f":
        return (1, rest)
    if kind == "k":
        found: list[Any] = [2]
        for name, value in sorted(json.loads(rest).items()):
            found += (name, *rank(value))
        return tuple(found)
    if kind == "v":
        return (3, *rank(json.loads(rest)))
    return (4, int(rest))


def rank(value: Any) -> tuple[int, Any]:
    """Numbers before text before truth values before lists before maps before null."""
    if isinstance(value, bool):
        return (2, value)
    if isinstance(value, int | float):
        return (0, value)
    if isinstance(value, str):
        return (1, value)
    if value is None:
        return (5, 0)
    return (3 if isinstance(value, list) else 4, json.dumps(value, sort_keys=True))
