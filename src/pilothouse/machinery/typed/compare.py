"""What an update gained and lost: two sets, made in one walk that passes over what is equal. Made once a type.

Who only asks what others lose by a change says what they own, and the walk passes over all else: few of the hundred
thousand members that a configuration may bring are owned by others.

Compiled (docs/designs/compiled.md).
"""

from __future__ import annotations

from typing import Any, Final, TypeGuard

from mypy_extensions import i64

from pilothouse.machinery.schema import Schema, free_form
from pilothouse.machinery.typed.fieldset import LEAF, SELF, Node, ordered
from pilothouse.machinery.typed.own import Own, added, leaves_of
from pilothouse.machinery.typed.same import same
from pilothouse.machinery.typed.shape import ATOM, FREE, MAP, SET, STRUCT, Duplicated, Shape, index, shape_of
from pilothouse.machinery.typed.turns import DEEPEST, TURNS

# The sets of those who may lose something, as far as they are below where the walk is; None: all matters. What is in
# none of them may be passed over; so may what is below a member that none of them has anything below of.
_Within = tuple[Node, ...] | None


class _Absent:
    """Stands for what is not there."""


_ABSENT: Final = _Absent()


def compare(schema: Schema, old: dict[str, Any], new: dict[str, Any], within: _Within = None) -> tuple[Node, Node]:
    """(gained, lost): the fields that are in `new` and changed or were not in `old`, and those that are no longer
    there.

    `within`: fields that are in none of these sets may be left out. Raises RecursionError.
    """
    found = _Found({}, {})
    if old is not new:
        walk = _compared(schema)
        if not isinstance(walk, _Maps):
            walk = _Struct(walk.own, walk.loose, shape_of(schema))
        walk.walk(old, new, found, within, 0)
    return found.gained, found.lost


class _Found:
    """What was gained and lost in one container."""

    def __init__(self, gained: Node, lost: Node) -> None:
        self.gained = gained
        self.lost = lost


def _below(within: _Within, element: str) -> _Within:
    """The sets below an element."""
    return None if within is None else tuple([node[element] for node in within if element in node])


def _is_in(within: _Within, element: str) -> bool:
    """Whether a set has an element, or all matters."""
    if within is None:
        return True
    for node in within:  # noqa: SIM110
        if element in node:
            return True
    return False


def _elements(within: tuple[Node, ...]) -> list[str]:
    """The elements in the sets, each once."""
    found: dict[str, None] = {}
    for node in within:
        for element in node:
            found[element] = None
    return list(found)


def _few(within: _Within, among: int) -> TypeGuard[tuple[Node, ...]]:
    """Whether the sets name so little that it is quicker to look for that."""
    return within is not None and 2 * sum([len(node) for node in within]) < among


def _chosen(of: dict[str, Any], names: list[str]) -> dict[str, Any]:
    return {name: of[name] for name in names if name in of}


class _Compare:
    """How two values of a type are compared, which are owned whole here. `loose`: a value may be of any type, so that
    such as Python holds for equal may not be. `own`: tells the set of one that came or went. `plain`: it is always
    owned whole.
    """

    def __init__(self, own: Own, loose: bool) -> None:
        self.own = own
        self.plain: bool = own.plain
        self.loose: bool = loose

    def run(self, element: str, old: Any, new: Any, found: _Found, within: _Within, depth: i64) -> None:
        """Both are there (null too) and not equal; puts what it finds under `element`."""
        found.gained[element] = LEAF

    def all_of(self, value: Any, within: _Within, depth: i64) -> Node:
        """The set of a value that came or went."""
        return self.own.node(value, depth) if within is None or any(within) else LEAF


def _compared(schema: Schema) -> _Compare:
    found: _Compare | None = schema.compiled.get("typed.compare")
    if found is None:
        found = schema.compiled["typed.compare"] = _made(shape_of(schema), schema)
    return found


def _made(shape: Shape, schema: Schema) -> _Compare:
    own, loose = added(schema), free_form(schema)
    if shape.kind == ATOM:
        return _Compare(own, loose)
    if shape.kind == FREE:
        return _Free(own, True)
    if shape.kind == STRUCT:
        return _Struct(own, loose, shape)
    if shape.item is None:
        raise TypeError(f"{schema!r} has no items")
    if shape.kind == MAP:
        return _Map(own, loose, shape.item)
    return _List(own, loose, shape, _LEAF if shape.kind == SET else _compared(shape.item))


_LEAF: Final = _Compare(Own(True, True), True)


def _attach(element: str, to: _Found, found: _Found) -> None:
    if found.gained:
        to.gained[element] = ordered(found.gained)
    if found.lost:
        to.lost[element] = ordered(found.lost)


class _Maps(_Compare):
    """Objects, member by member."""

    def child(self, name: str) -> _Compare:
        return self

    def run(self, element: str, old: Any, new: Any, found: _Found, within: _Within, depth: i64) -> None:
        if not old and not new:
            found.gained[element] = LEAF  # null and empty are told apart
            return
        inner = _Found({}, {})
        before: dict[str, Any] = old if isinstance(old, dict) else {}
        now: dict[str, Any] = new if isinstance(new, dict) else {}
        self.walk(before, now, inner, within, depth)
        _attach(element, found, inner)

    def walk(self, old: dict[str, Any], new: dict[str, Any], found: _Found, within: _Within, depth: i64) -> None:
        if depth > DEEPEST:
            raise RecursionError
        if _few(within, len(old) + len(new)):
            names = [element[2:] for element in _elements(within) if element.startswith("f:")]
            old, new = _chosen(old, names), _chosen(new, names)
        for name, now in new.items():
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
            before = old.get(name, _ABSENT)
            if before is now:
                continue
            if before is not _ABSENT and before == now:
                if not self.loose or not self.child(name).loose or same(before, now):
                    continue
            element = f"f:{name}"
            if not _is_in(within, element):
                continue
            child = self.child(name)
            if child.plain:
                found.gained[element] = LEAF
            elif before is _ABSENT:
                found.gained[element] = child.all_of(now, _below(within, element), depth + 1)
            else:
                child.run(element, before, now, found, _below(within, element), depth + 1)
        for name, before in old.items():
            if name not in new:
                TURNS.left -= 1
                if TURNS.left <= 0:
                    TURNS.over()
                element = f"f:{name}"
                if _is_in(within, element):
                    found.lost[element] = self.child(name).all_of(before, _below(within, element), depth + 1)


class _Struct(_Maps):
    def __init__(self, own: Own, loose: bool, shape: Shape) -> None:
        super().__init__(own, loose)
        self._shape = shape
        self._fields: dict[str, _Compare] = {}

    def child(self, name: str) -> _Compare:
        found = self._fields.get(name)
        if found is None:
            field = self._shape.fields.get(name)
            if field is None:
                return _FREE if self._shape.open else _LEAF
            found = self._fields[name] = _compared(field.schema)
        return found


class _Map(_Maps):
    def __init__(self, own: Own, loose: bool, item: Schema) -> None:
        super().__init__(own, loose)
        self._item: _Compare = _compared(item)

    def walk(self, old: dict[str, Any], new: dict[str, Any], found: _Found, within: _Within, depth: i64) -> None:
        if not self._item.plain or self._item.loose or _few(within, len(old) + len(new)):
            super().walk(old, new, found, within, depth)
            return
        # Values that are owned whole: there may be a hundred thousand of them, whatever others own.
        came: list[str] = []
        for name, now in new.items():
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
            before = old.get(name, _ABSENT)
            if before is not now and before != now:
                came.append(name)
        found.gained = leaves_of(came)
        found.lost = leaves_of([name for name in old if name not in new])

    def child(self, name: str) -> _Compare:
        return self._item


class _Free(_Maps):
    """Values without a schema: maps key by key, all else whole."""

    def run(self, element: str, old: Any, new: Any, found: _Found, within: _Within, depth: i64) -> None:
        if isinstance(old, dict) and isinstance(new, dict) and (old or new):
            inner = _Found({}, {})
            self.walk(old, new, inner, within, depth)
            _attach(element, found, inner)
            return
        found.gained[element] = LEAF
        if isinstance(old, dict) and old:
            found.lost[element] = _without_self(self.own.node(old, depth))
        if isinstance(new, dict) and new:
            found.gained[element] = self.own.node(new, depth)


_FREE: Final = _Free(added(Schema("json")), True)


class _List(_Compare):
    """Lists by key and sets. `same`: compares two items with the same element."""

    def __init__(self, own: Own, loose: bool, shape: Shape, same: _Compare) -> None:
        super().__init__(own, loose)
        self._shape = shape
        self._same = same

    def run(self, element: str, old: Any, new: Any, found: _Found, within: _Within, depth: i64) -> None:
        if not old and not new:
            found.gained[element] = LEAF
            return
        if within is not None and not any(within):
            return
        if depth > DEEPEST:
            raise RecursionError
        inner = _Found({}, {})
        before: list[Any] = old if isinstance(old, list) else []
        now: list[Any] = new if isinstance(new, list) else []
        self._items(before, now, inner, within, depth + 1)
        _attach(element, found, inner)

    def _items(self, before: list[Any], now: list[Any], found: _Found, within: _Within, depth: i64) -> None:
        old, new = index(self._shape, before), index(self._shape, now)
        doubled = _Doubled(self._shape, before, now)
        if _few(within, len(old) + len(new)):
            elements = _elements(within)
            old, new = _chosen(old, elements), _chosen(new, elements)
        for key, item in new.items():
            TURNS.left -= 1
            if TURNS.left <= 0:
                TURNS.over()
            was = old.get(key, _ABSENT)
            if was is not Duplicated and item is not Duplicated and was is not _ABSENT:
                if was is item or (was == item and (not self.loose or same(was, item))):
                    continue
            if _is_in(within, key):
                self._item(key, was, item, found, _below(within, key), doubled, depth)
        for key, was in old.items():
            if key not in new and _is_in(within, key):
                left = LEAF if was is Duplicated else self._same.all_of(was, _below(within, key), depth)
                found.lost[key] = left

    def _item(
        self, key: str, was: Any, item: Any, found: _Found, below: _Within, doubled: _Doubled, depth: i64
    ) -> None:
        if item is Duplicated:
            if was is not Duplicated:
                # Newly doubled: what the single item held is gone, a mark for the doubled key comes.
                found.gained[key] = LEAF
                if was is not _ABSENT:
                    found.lost[key] = _without_self(self._same.own.node(was, depth))
            elif doubled.differ(key):
                found.gained[key] = LEAF
        elif was is _ABSENT or was is Duplicated:
            # No longer doubled: the mark was a member, and the item is one again; what it holds is new.
            found.gained[key] = self._same.all_of(item, below, depth)
        else:
            self._same.run(key, was, item, found, below, depth)


class _Doubled:
    """The items of two lists by element, made when somebody asks."""

    def __init__(self, shape: Shape, before: list[Any], now: list[Any]) -> None:
        self._shape = shape
        self._before = before
        self._now = now
        self._by_element: tuple[dict[str, list[Any]], dict[str, list[Any]]] | None = None

    def differ(self, element: str) -> bool:
        if self._by_element is None:
            self._by_element = (_by_element(self._shape, self._before), _by_element(self._shape, self._now))
        return self._by_element[0][element] != self._by_element[1][element]


def _without_self(node: Node) -> Node:
    return {element: child for element, child in node.items() if element != SELF}


def _by_element(shape: Shape, items: list[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for at, element in enumerate(shape.elements(items)):
        found.setdefault(element, []).append(items[at])
    return found
