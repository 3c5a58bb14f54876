"""What is owned: by whoever adds a value, creates an object, or applies a configuration. Made once a type.

Structs of one shape (the same fields present) have sets of one shape, so the frame of a set is made once for each
shape seen and shared; what remains for an object is to fill in what differs.

Compiled (docs/designs/compiled.md).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from mypy_extensions import i64

from pilothouse.kit.sorting import in_order
from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.typed.fieldset import LEAF, SELF, Node, in_places, rank
from pilothouse.machinery.typed.shape import ATOM, FREE, LACKING, MAP, SET, STRUCT, Key, Shape, shape_of
from pilothouse.machinery.typed.turns import DEEPEST, TURNS

MAX_SHAPES: Final = 256  # frames kept for a type; beyond that they are made anew each time
_NOTHING: Final[Node] = {}  # told apart from LEAF by identity: neither a member nor anything below it


class Own:
    """Tells the child node of a value, which is LEAF here: it is owned whole. `plain`: that is so of all values.

    `whole`: the value was not there before, and is owned with all that is in it. In an applied configuration
    containers with a schema are not members themselves.
    """

    def __init__(self, whole: bool, plain: bool) -> None:
        self.whole: bool = whole
        self.plain: bool = plain

    def __call__(self, value: Any) -> Node:
        return self.node(value, 0)

    def node(self, value: Any, depth: i64) -> Node:
        """`depth`: levels above. Raises RecursionError."""
        return LEAF

    def item(self, value: Any, depth: i64) -> Node:
        """The node of an item of a map or a list, which is a member itself."""
        node = self.node(value, depth)
        return node if self.whole or not node else {SELF: LEAF, **node}


def added(schema: Schema) -> Own:
    """`f(value) -> child node` of a value that was not there before: itself, and all that is in it."""
    return _own(schema, True)


def applied(schema: Schema) -> Own:
    """`f(value) -> child node` of a value in an applied configuration."""
    return _own(schema, False)


def _own(schema: Schema, whole: bool) -> Own:
    name = "typed.added" if whole else "typed.applied"
    found: Own | None = schema.compiled.get(name)
    if found is None:
        found = schema.compiled[name] = _made(shape_of(schema), whole)
    return found


def _made(shape: Shape, whole: bool) -> Own:
    if shape.kind == ATOM:
        return Own(whole, True)
    if shape.kind == FREE:
        return _Free(whole, False)
    if shape.kind == STRUCT:
        return _Struct(shape, whole, whole)
    if shape.item is None:
        raise TypeError("a container without items")
    if shape.kind == MAP:
        return _Map(shape.item, whole)
    return _Set(shape, whole) if shape.kind == SET else _Keyed(shape, shape.item, whole)


class _Free(Own):
    """A value without a schema. A field that may hold anything is no member itself, but what is in it is owned with all
    its parts.
    """

    def node(self, value: Any, depth: i64) -> Node:
        if not isinstance(value, dict) or not value:
            return LEAF
        if self.whole:
            return _free(value, {SELF: LEAF}, depth)
        return _free(value, {}, depth)


def _free(value: dict[str, Any], out: Node, depth: i64) -> Node:
    if depth > DEEPEST:
        raise RecursionError
    for name in in_order(value) if len(value) > 1 else value:
        inner = value[name]
        if isinstance(inner, dict) and inner:
            out[f"f:{name}"] = _free(inner, {SELF: LEAF}, depth + 1)
        else:
            out[f"f:{name}"] = LEAF
        TURNS.left -= 1
        if TURNS.left <= 0:
            TURNS.over()
    return out


class _Frame:
    """The set of a struct with certain fields: what is fixed, and what must be filled in for each value."""

    def __init__(self, fixed: Node, fill: list[_Fill]) -> None:
        self.fixed = fixed
        self.fill = fill


class _Fill:
    """A field to fill in. `skips`: an empty list that would be owned item by item has nothing to own when it is
    applied; null has, and so has an empty map.
    """

    def __init__(self, name: str, own: Own, skips: bool) -> None:
        self.name = name
        self.element = f"f:{name}"
        self.own = own
        self.skips: bool = skips


class _Struct(Own):
    """The sets of one struct type, by the names of the fields that are there. `member`: the struct itself is one."""

    def __init__(self, shape: Shape, whole: bool, member: bool) -> None:
        super().__init__(whole, False)
        self._shape = shape
        self._member: bool = member
        self._fields: dict[str, _Fill] = {}
        self._known: dict[tuple[str, ...], _Frame] = {}

    def _field(self, name: str) -> _Fill:
        field = self._shape.fields.get(name)
        if field is not None:
            fill = _Fill(name, _own(field.schema, self.whole), not self.whole and field.schema.kind == s.LIST)
        else:
            fill = _Fill(name, _Free(True, False) if self._shape.open else Own(self.whole, True), False)
            if len(self._fields) > MAX_SHAPES:  # of undeclared ones there may be any number
                return fill
        self._fields[name] = fill
        return fill

    def _frame(self, names: tuple[str, ...]) -> _Frame:
        fixed: Node = {SELF: LEAF} if self._member and names else {}
        fill: list[_Fill] = []
        for name in in_order(names):
            field = self._fields.get(name) or self._field(name)
            fixed[field.element] = LEAF
            if not field.own.plain:
                fill.append(field)
        made = _Frame(fixed, fill)
        if len(self._known) < MAX_SHAPES:
            self._known[names] = made
        return made

    def node(self, value: Any, depth: i64) -> Node:
        if not isinstance(value, dict) or not value:
            return LEAF
        if depth > DEEPEST:
            raise RecursionError
        names = tuple(value)
        frame = self._known.get(names) or self._frame(names)
        if not frame.fill:
            return frame.fixed
        out: Node | None = None
        for field in frame.fill:
            inner = value[field.name]
            node = _NOTHING if field.skips and inner == [] else field.own.node(inner, depth + 1)
            if node is LEAF:
                continue  # as the frame has it
            if out is None:
                out = frame.fixed.copy()
            if node is _NOTHING:
                del out[field.element]
            else:
                out[field.element] = node
        if out is None:
            return frame.fixed
        if not out:
            return _NOTHING
        return LEAF if len(out) == 1 and SELF in out else out


class _Map(Own):
    def __init__(self, item: Schema, whole: bool) -> None:
        super().__init__(whole, False)
        self._item: Own = _own(item, whole)

    def node(self, value: Any, depth: i64) -> Node:
        if not isinstance(value, dict) or not value:
            return LEAF
        if self._item.plain:
            return leaves_of(value, member=self.whole)
        if depth > DEEPEST:
            raise RecursionError
        out: Node = {SELF: LEAF} if self.whole else {}
        for name in in_order(value):
            out[f"f:{name}"] = self._item.item(value[name], depth + 1)
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
        return out


def leaves_of(fields: Collection[str], *, member: bool = False) -> Node:
    """The set of these fields; `member`: and of what they are in."""
    out: Node = {SELF: LEAF} if member else {}
    for name in in_order(fields):
        out[f"f:{name}"] = LEAF
        TURNS.left -= 1
        if TURNS.left <= 0:
            TURNS.over()
    return out


class _Set(Own):
    def __init__(self, shape: Shape, whole: bool) -> None:
        super().__init__(whole, False)
        self._shape = shape

    def node(self, value: Any, depth: i64) -> Node:
        if not isinstance(value, list) or not value:
            return LEAF
        out: Node = {SELF: LEAF} if self.whole else {}
        items: dict[Any, Any] = {}
        texts = True
        for item in value:
            texts = texts and type(item) is str
            items[self._shape.identity(item)] = item
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
        found = in_order(list(items)) if texts else _sorted_by_rank(list(items.values()))
        for element in self._shape.elements(found):
            out[element] = LEAF
        return out


def _sorted_by_rank(values: list[Any]) -> list[Any]:
    rows = [(*rank(value), at) for at, value in enumerate(values)]
    return [values[row[-1]] for row in in_order(rows)]


class _Keyed(Own):
    def __init__(self, shape: Shape, item: Schema, whole: bool) -> None:
        super().__init__(whole, False)
        self._shape = shape
        self._keys: list[Key] = shape.keys
        self._struct: bool = shape_of(item).kind == STRUCT
        self._item: Own = _Struct(shape_of(item), whole, True) if self._struct else _own(item, whole)

    def node(self, value: Any, depth: i64) -> Node:
        if not isinstance(value, list) or not value:
            return LEAF
        if depth > DEEPEST:
            raise RecursionError
        nodes: Node = {}
        places: list[Any] = []  # of the elements in `nodes`
        for item in value:
            element = self._shape.element(item)
            if element in nodes:
                nodes[element] = LEAF  # twice the same key: owned as one, whole
                continue
            nodes[element] = self._item.node(item, depth + 1) if self._struct else self._item.item(item, depth + 1)
            places.append(self._place(item))
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
        if len(nodes) == 1 and not self.whole:
            return nodes
        out: Node = {SELF: LEAF} if self.whole else {}
        for element in in_places(list(nodes), places):
            out[element] = nodes[element]
        return out

    def _place(self, item: Any) -> Any:
        """Where an item stands among the others: the key itself, or what sorts as several do."""
        if len(self._keys) == 1:
            value = self._keys[0].of(item)
            return () if value is LACKING else value
        found: list[Any] = []
        for key in self._keys:
            value = key.of(item)
            if value is not LACKING:
                found += (key.name, *rank(value))
        return tuple(found)
