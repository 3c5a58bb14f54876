"""What is owned: by whoever adds a value, creates an object, or applies a configuration. Compiled to closures, once a
type.

Structs of one shape (the same fields present) have sets of one shape, so the frame of a set is made once for each
shape seen and shared; what remains for an object is to fill in what differs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from json.encoder import encode_basestring
from typing import Any, Final

from pilothouse.kit.sorting import in_order
from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Field, Schema
from pilothouse.machinery.typed.fieldset import LEAF, SELF, Node, ordered
from pilothouse.machinery.typed.shape import ATOM, FREE, MAP, SET, STRUCT, Shape, shape_of

Own = Callable[[Any], Node]
_FEW_SHAPES: Final = 4
MAX_SHAPES: Final = 256  # frames kept for a type; beyond that they are made anew each time


class _Frame:
    """The set of a struct with certain fields: what is fixed, and what must be filled in for each value."""

    __slots__ = ("fill", "fixed")

    def __init__(self, fixed: Node, fill: list[tuple[str, str, Own]]) -> None:
        self.fixed = fixed
        self.fill = fill


def added(schema: Schema) -> Own:
    """`f(value) -> child node` of a value that was not there before: itself, and all that is in it."""
    found = schema.compiled.get("typed.added")
    if found is None:
        schema.compiled["typed.added"] = found = _compile(schema, _below(added), whole=True)
    return found


def applied(schema: Schema) -> Own:
    """`f(value) -> child node` of a value in an applied configuration: containers with a schema are not members
    themselves.
    """
    found = schema.compiled.get("typed.applied")
    if found is None:
        schema.compiled["typed.applied"] = found = _compile(schema, _below(applied), whole=False)
    return found


def _below(make: Callable[[Schema], Own]) -> Callable[[Schema], Own | None]:
    """How children are made: None for those that are owned whole."""
    return lambda of: None if shape_of(of).kind == ATOM else make(of)


def _compile(schema: Schema, child: Callable[[Schema], Own | None], whole: bool) -> Own:
    shape = shape_of(schema)
    if shape.kind == ATOM:
        return lambda value: LEAF
    if shape.kind == FREE:
        return _free if whole else _free_applied
    if shape.kind == STRUCT:
        return _Frames(shape, child, whole, whole).own
    if shape.kind == MAP:
        return _map(shape, child, whole)
    if shape.kind == SET:
        return _set(shape, whole)
    return _keyed(shape, child, whole)


def _free(value: Any) -> Node:
    if type(value) is not dict or not value:
        return LEAF
    out: Node = {SELF: LEAF}
    for name in in_order(value):
        inner = value[name]
        out[f"f:{name}"] = _free(inner) if inner.__class__ is dict else LEAF
    return out


def _free_applied(value: Any) -> Node:
    """A field that may hold anything is no member itself, but what is in it is owned with all its parts."""
    out = _free(value)
    return {element: node for element, node in out.items() if element != SELF} if len(out) > 1 else LEAF


class _Frames:
    """The frames of one struct type, by the names of the fields that are there. `member`: the struct itself is one."""

    def __init__(self, shape: Shape, child: Callable[[Schema], Own | None], whole: bool, member: bool) -> None:
        self.known: dict[tuple[str, ...], _Frame] = {}
        self._shape = shape
        self._child = child
        self._whole = whole
        self._member = member

    def make(self, names: tuple[str, ...]) -> _Frame:
        fixed: Node = {SELF: LEAF} if self._member and names else {}
        fill = []
        for name in sorted(names):
            element = f"f:{name}"
            field = self._shape.fields.get(name)
            own = self._child(field.schema) if field is not None else _free if self._shape.open else None
            fixed[element] = LEAF
            if own is not None:
                fill.append((name, element, own if self._whole else _unless_empty_list(field, own)))
        made = _Frame(fixed, fill)
        if len(self.known) < MAX_SHAPES:
            self.known[names] = made
        return made

    @staticmethod
    def filled(frame: _Frame, value: dict[str, Any]) -> Node:
        out: Node | None = None
        for name, element, own in frame.fill:
            node = own(value[name])
            if node is LEAF:
                continue  # as the frame has it
            if out is None:
                out = frame.fixed.copy()
            if node is _NOTHING:
                del out[element]
            else:
                out[element] = node
        return frame.fixed if out is None else _whole(out)

    def own(self, value: Any) -> Node:
        if type(value) is not dict or not value:
            return LEAF
        names = tuple(value)
        frame = self.known.get(names) or self.make(names)
        return self.filled(frame, value) if frame.fill else frame.fixed

    def own_all(self, values: list[Any]) -> list[Node]:
        """`own` of many."""
        if len(values) < _MANY or set(map(type, values)) != {dict}:
            return list(map(self.own, values))
        shapes = list(map(tuple, values))
        kinds = set(shapes)
        if len(kinds) == 1:
            return self._alike(shapes[0], values)
        if len(kinds) > _FEW_SHAPES:
            return list(map(self.own, values))
        nodes = {
            names: iter(self._alike(names, [value for value, own in zip(values, shapes, strict=True) if own == names]))
            for names in kinds
        }
        return [next(nodes[names]) for names in shapes]

    def _alike(self, names: tuple[str, ...], values: list[dict[str, Any]]) -> list[Node]:
        """The sets of structs that have the same fields: mostly they are one."""
        frame = self.known.get(names) or self.make(names)
        if all(_is_one(own, [value[name] for value in values]) for name, _, own in frame.fill):
            return [self.filled(frame, values[0])] * len(values)
        return [self.filled(frame, value) for value in values]


def _is_one(own: Own, values: list[Any]) -> bool:
    """Whether the sets of some values surely are the same, which is soon known of empty values and of structs."""
    if not any(values):
        return [] not in values  # of an empty list it is not sure that it is owned whole
    frames = getattr(own, "__self__", None)
    return isinstance(frames, _Frames) and len(set(map(id, frames.own_all(values)))) == 1


def _whole(node: Node) -> Node:
    """The set of a struct out of those of its fields."""
    if len(node) == 1 and SELF in node:
        return LEAF
    return node if node else _NOTHING


_NOTHING: Final[Node] = {}  # told apart from LEAF by identity: neither a member nor anything below it


def _unless_empty_list(field: Field | None, own: Own) -> Own:
    """An empty list that would be owned item by item has nothing to own when it is applied; null has, and so has an
    empty map.
    """
    if field is None or field.schema.kind != s.LIST:
        return own
    return lambda value: _NOTHING if value == [] else own(value)


def _map(shape: Shape, child: Callable[[Schema], Own | None], whole: bool) -> Own:
    if shape.item is None:
        raise TypeError("a map without items")
    own = child(shape.item)

    def leaves(value: Any) -> Node:
        if type(value) is not dict or not value:
            return LEAF
        return leaves_of(value, member=whole)

    def granular(value: Any) -> Node:
        if type(value) is not dict or not value:
            return LEAF
        out: Node = {SELF: LEAF} if whole else {}
        for name in in_order(value):
            node = own(value[name])  # type: ignore[misc]
            out[f"f:{name}"] = node if whole or not node else {SELF: LEAF, **node}
        return out

    return leaves if own is None else granular


def leaves_of(fields: Collection[str], *, member: bool = False) -> Node:
    """The set of these fields; `member`: and of what they are in."""
    elements = [f"f:{name}" for name in in_order(fields)]
    return dict.fromkeys([SELF, *elements] if member else elements, LEAF)


_ALIKE: Final = ({str}, {int})


def _set(shape: Shape, whole: bool) -> Own:
    elements = shape.elements

    def items(value: Any) -> Node:
        if type(value) is not list or not value:
            return LEAF
        if set(map(type, value)) in _ALIKE:
            named = elements(in_order(_once(value)))
            return dict.fromkeys([SELF, *named] if whole else named, LEAF)
        named = elements(value)
        return ordered(dict.fromkeys([SELF, *named] if whole else named, LEAF))

    return items


def _once(items: list[Any]) -> list[Any]:
    """Each item once, in their order: what is in order nearly is soon sorted."""
    return items if len(set(items)) == len(items) else [*dict.fromkeys(items)]


def _keyed(shape: Shape, child: Callable[[Schema], Own | None], whole: bool) -> Own:
    if shape.item is None:
        raise TypeError("a list without items")
    own = child(shape.item)
    frames = _Frames(shape_of(shape.item), child, whole, True) if shape_of(shape.item).kind == STRUCT else None
    one_by_one = _keyed_one_by_one(shape, own, whole)

    def nodes_of(items: list[Any]) -> list[Node]:
        if own is None:
            return [LEAF] * len(items)
        if frames is not None:
            return frames.own_all(items)
        return [node if whole or not node else {SELF: LEAF, **node} for node in map(own, items)]

    many = _keyed_in_columns(shape, nodes_of, whole, one_by_one)
    if frames is not None and len(shape.keys) == 1:
        return _keyed_by_text(shape, frames, whole, one_by_one, many)
    return lambda value: many(value) if type(value) is list and len(value) >= _MANY else one_by_one(value)


def _keyed_one_by_one(shape: Shape, own: Own | None, whole: bool) -> Own:
    elements = shape.elements

    def items(value: Any) -> Node:
        if type(value) is not list or not value:
            return LEAF
        out: Node = {SELF: LEAF} if whole else {}
        for key, item in zip(elements(value), value, strict=True):
            if key in out:
                out[key] = LEAF  # twice the same key: owned as one, whole
                continue
            node = own(item) if own is not None else LEAF
            out[key] = node if whole or not node else {SELF: LEAF, **node}
        return ordered(out)

    return items


def _keyed_by_text(shape: Shape, frames: _Frames, whole: bool, slowly: Own, many: Own) -> Own:
    """The common case, a list of few structs with one text as the key, in one loop without calls."""
    name = shape.keys[0][0]
    start = f"k:{{{encode_basestring(name)}:"
    known, make, filled = frames.known, frames.make, frames.filled

    def items(value: Any) -> Node:
        if type(value) is not list or not value:
            return LEAF
        if len(value) >= _MANY:
            return many(value)
        nodes: Node = {}
        for item in value:
            key = item.get(name) if type(item) is dict else None
            if type(key) is not str:
                return slowly(value)
            names = tuple(item)
            frame = known.get(names) or make(names)
            nodes[f"{start}{encode_basestring(key)}}}"] = filled(frame, item) if frame.fill else frame.fixed
        if len(nodes) < len(value) or _sort_otherwise("".join(nodes)):
            return slowly(value)
        out: Node = {SELF: LEAF} if whole else {}
        for key in sorted(nodes):
            out[key] = nodes[key]
        return out

    return items


_MANY: Final = 16


def _keyed_in_columns(shape: Shape, nodes_of: Callable[[list[Any]], list[Node]], whole: bool, slowly: Own) -> Own:
    """Many items, all of which have keys that are texts or numbers."""

    def items(value: list[Any]) -> Node:
        columns = shape.columns(value)
        if columns is None:
            return slowly(value)
        elements = shape.elements_of(columns)
        nodes = nodes_of(value)
        by_element = dict(zip(elements, nodes, strict=True))
        if len(by_element) < len(value):  # twice the same key: owned as one, whole
            by_element.update((element, LEAF) for element, count in Counter(elements).items() if count > 1)
        ordered = _by_keys(columns, elements)
        out: Node = {SELF: LEAF} if whole else {}
        out.update(zip(ordered, map(by_element.__getitem__, ordered), strict=True))
        return out

    return items


def _by_keys(columns: list[list[Any]], elements: list[str]) -> list[str]:
    """Elements in the order of their keys, those that come twice once or twice."""
    if len(columns) > 1:
        return [row[-1] for row in in_order(list(zip(*columns, elements, strict=True)))]
    named = dict(zip(columns[0], elements, strict=True))
    return [named[key] for key in in_order(named)]


def _sort_otherwise(texts: str) -> bool:
    """Whether there are signs that come before the quote, or are escaped: such elements do not sort as their text
    does.
    """
    return " " in texts or "!" in texts or "\\" in texts
