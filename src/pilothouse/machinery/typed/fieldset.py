"""Sets of fields as tries of plain dicts: the very form of `fieldsV1`, so that nothing is converted on the way in or
out.

A node is a dict from path element to child node. A child that is empty, or has the key ".", is a member of the set; a
child with keys and no "." is only on the way to members. An element is `f:NAME` (a field or map key),
`k:{"KEY":VALUE}` (an item of a keyed list), `v:VALUE` (an item of a set) or `i:N`. At the root an empty dict is the
empty set.

Nodes are shared between sets and with objects: nobody may change one in place. All functions here return their
argument itself when nothing changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, Final

from pilothouse.kit.memo import remembered

Node = dict[str, Any]  # str -> Node; mypy has no recursive alias for dict invariance that is worth its price

LEAF: Final[Node] = {}  # the member without children; shared, never changed
SELF: Final = "."


def _flat(node: Node) -> bool:
    """Whether there are many elements and nothing below them."""
    return len(node) >= _MANY and not any(node.values())


def is_member(child: Node) -> bool:
    """Whether the element that leads to `child` is in the set."""
    return not child or SELF in child


def union(a: Node, b: Node) -> Node:
    """The root set of what is in `a` or in `b`, in the original's order."""
    if a is b or not b:
        return a
    if not a:
        return b
    return _union_children(a, b)


def _union_children(a: Node, b: Node) -> Node:
    out: Node | None = None
    grown = False
    for element, theirs in b.items():
        ours = a.get(element)
        if ours is None:
            joined, grown = theirs, True
        else:
            joined = _union_child(ours, theirs)
            if joined is ours:
                continue
        if out is None:
            out = dict(a)
        out[element] = joined
    if out is None:
        return a
    return ordered(out) if grown else out


def _union_child(a: Node, b: Node) -> Node:
    if a is b or (not b and is_member(a)):
        return a
    if not a:
        return b if is_member(b) else {SELF: LEAF, **b}
    if not b:
        return {SELF: LEAF, **a}
    return _union_children(a, b)


def union_of(nodes: list[Node]) -> Node:
    """The root set of what is in any of the sets (one at least), in the original's order."""
    if len(nodes) == 1:
        return nodes[0]
    children: dict[str, list[Node]] = {}
    for node in nodes:
        for element, child in node.items():
            children.setdefault(element, []).append(child)
    return ordered({element: _union_of_children(many) for element, many in children.items()})


def _union_of_children(children: list[Node]) -> Node:
    below = [child for child in children if child]
    if not below:
        return LEAF
    joined = union_of(below)
    if len(below) == len(children) or SELF in joined:
        return joined
    return {SELF: LEAF, **joined}


def subtract(a: Node, b: Node) -> Node:
    """The root set of the members of `a` that are not members of `b`. A member does not stand for what is below it."""
    if _flat(a) and _flat(b):
        kept = {element: child for element, child in a.items() if element not in b or element == SELF}
        return kept if len(kept) < len(a) else a
    out: Node | None = None
    for element in a if len(a) < len(b) else b:
        ours = a.get(element)
        theirs = b.get(element)
        if ours is None or theirs is None or element == SELF:
            continue
        left = _subtract_child(ours, theirs)
        if left is ours:
            continue
        if out is None:
            out = dict(a)
        if left is None:
            del out[element]
        else:
            out[element] = left
    return a if out is None else out


def _subtract_child(ours: Node, theirs: Node) -> Node | None:
    if is_member(theirs):
        if not ours:
            return None
        left = subtract(ours, theirs) if theirs else ours
        if SELF in left:
            left = {element: child for element, child in left.items() if element != SELF}
        return left or None
    if not ours:
        return ours
    left = subtract(ours, theirs)
    if left is ours:
        return ours
    if len(left) == 1 and SELF in left:
        return LEAF
    return left or None


def intersect(a: Node, b: Node) -> Node:
    """The root set of the members of both."""
    if _flat(a) and _flat(b):
        both = dict.fromkeys([element for element in a if element in b], LEAF)
        both.pop(SELF, None)
        return both
    out: Node = {}
    small, large = (a, b) if len(a) <= len(b) else (b, a)
    for element in small:
        other = large.get(element)
        if other is None or element == SELF:
            continue
        mine = small[element]
        if mine is other:
            out[element] = mine
            continue
        both = intersect(mine, other) if mine and other else LEAF
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
    return _ordered_deep(root)


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
    as_they_are = keys.copy()
    if _AS_TEXT.issuperset(map(_KIND, keys)):
        keys.sort()
    elif len(keys) < _MANY:
        keys.sort(key=order)
    else:
        keys = _ordered_many(keys)
    return node if keys == as_they_are else {key: node[key] for key in keys}


_KIND: Final = itemgetter(0)
_AS_TEXT: Final = frozenset("f.")
_MANY: Final = 64
_PART: Final = 4096  # elements read by one call, which lets no other thread run
_NUMBERS: Final = frozenset({int, float})
_TEXTS: Final = frozenset({str})


def _ordered_many(elements: list[str]) -> list[str]:
    """Elements sorted by `order`. Those of one kind, as the items of a list have, are read together."""
    first = [element for element in elements if element == SELF]
    rest = [element for element in elements if element != SELF]
    kinds = set(map(_KIND, rest))
    columns: list[list[Any]] = []
    if kinds == {"v"}:
        columns = [_read(rest)]
    elif kinds == {"k"}:
        read = _read(rest)
        shapes = set(map(tuple, read))  # the names of the keys
        if len(shapes) == 1:
            columns = [[keys[name] for keys in read] for name in sorted(shapes.pop())]
    if not columns:
        return first + sorted(rest, key=order)
    places = list(zip(*map(_ranks, columns), strict=True))
    return first + [rest[at] for at in sorted(range(len(rest)), key=places.__getitem__)]


def _read(elements: list[str]) -> list[Any]:
    """What stands behind the colons."""
    read: list[Any] = []
    for at in range(0, len(elements), _PART):
        texts = [element[2:] for element in elements[at : at + _PART]]
        read += json.loads(f"[{','.join(texts)}]")
    return read


def _ranks(values: list[Any]) -> list[Any]:
    """What sorts as `_rank` of each does."""
    kinds = set(map(type, values))
    return values if kinds == _TEXTS or kinds <= _NUMBERS else list(map(_rank, values))


def _ordered_deep(node: Node) -> Node:
    return ordered({element: _ordered_deep(child) if child else LEAF for element, child in node.items()})


@remembered(8192)
def order(element: str) -> tuple[Any, ...]:
    """Where an element stands among its neighbours: ".", then fields by name, keys, values, indices."""
    kind, _, rest = element.partition(":")
    if element == SELF:
        return (0,)
    if kind == "f":
        return (1, rest)
    if kind == "k":
        return (2, *((name, *_rank(value)) for name, value in sorted(json.loads(rest).items())))
    if kind == "v":
        return (3, *_rank(json.loads(rest)))
    return (4, int(rest))


def _rank(value: Any) -> tuple[int, Any]:
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
