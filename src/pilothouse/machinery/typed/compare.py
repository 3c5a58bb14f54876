"""What an update gained and lost: two sets, made in one walk that passes over what is equal. Compiled to closures,
once a type.

Who only asks what others lose by a change says what they own, and the walk passes over all else: few of the hundred
thousand members that a configuration may bring are owned by others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import chain
from typing import Any, Final, TypeGuard

from pilothouse.machinery.jsoncodec import identical
from pilothouse.machinery.schema import Schema, free_form
from pilothouse.machinery.typed.fieldset import LEAF, SELF, Node, ordered
from pilothouse.machinery.typed.own import Own, added, leaves_of
from pilothouse.machinery.typed.shape import ATOM, FREE, MAP, SET, STRUCT, Duplicated, Shape, index, shape_of

# The sets of those who may lose something, as far as they are below where the walk is; None: all matters. What is in
# none of them may be passed over; so may what is below a member that none of them has anything below of.
_Within = tuple[Node, ...] | None
# compare(element, old, new, gained, lost, within): both are there (null too) and not equal; puts what it finds under
# `element`.
_Compare = Callable[[str, Any, Any, Node, Node, _Within], None]
_ABSENT: Final = object()
# loose(name): whether what stands there is of any type, so that values that Python holds for equal may not be.
_Loose = Callable[[str], bool]
_MapWalk = Callable[[dict[str, Any], dict[str, Any], Node, Node, _Within], None]


def compare(schema: Schema, old: dict[str, Any], new: dict[str, Any], within: _Within = None) -> tuple[Node, Node]:
    """(gained, lost): the fields that are in `new` and changed or were not in `old`, and those that are no longer
    there.

    `within`: fields that are in none of these sets may be left out.
    """
    gained: Node = {}
    lost: Node = {}
    if old is not new:
        _walk(schema)(old, new, gained, lost, within)
    return gained, lost


def _below(within: _Within, element: str) -> _Within:
    """The sets below an element; () where none has it."""
    return None if within is None else tuple(node[element] for node in within if element in node)


def _named(within: tuple[Node, ...]) -> list[str]:
    """The names of fields that are in the sets, each once."""
    return [element[2:] for element in dict.fromkeys(chain.from_iterable(within)) if element.startswith("f:")]


def _few(within: _Within, among: int) -> TypeGuard[tuple[Node, ...]]:
    """Whether the sets name so little that it is quicker to look for that."""
    return within is not None and 2 * sum(map(len, within)) < among


def _walk(schema: Schema) -> _MapWalk:
    """The walk over the fields of a struct."""
    found = schema.compiled.get("typed.compare.fields")
    if found is None:
        shape = shape_of(schema)
        children: dict[str, tuple[_Compare, Own]] = {}

        def child(name: str) -> tuple[_Compare, Own]:
            pair = children.get(name)
            if pair is None:
                field = shape.fields.get(name)
                if field is not None:
                    pair = children[name] = (_compared(field.schema), added(field.schema))
                else:
                    pair = (_free, _added_free) if shape.open else (_leaf, _added_leaf)
            return pair

        loose = _loose_fields(shape) if free_form(schema) else None
        schema.compiled["typed.compare.fields"] = found = _walk_names(child, loose)
    return found


def _loose_fields(shape: Shape) -> _Loose:
    known = {name: free_form(field.schema) for name, field in shape.fields.items()}
    return lambda name: known.get(name, True)


def _walk_names(child: Callable[[str], tuple[_Compare, Own]], loose: _Loose | None) -> _MapWalk:
    def walk(old: dict[str, Any], new: dict[str, Any], gained: Node, lost: Node, within: _Within) -> None:
        if _few(within, len(old) + len(new)):
            names = _named(within)
            old, new = ({name: each[name] for name in names if name in each} for each in (old, new))
        for name, now in new.items():
            before = old.get(name, _ABSENT)
            if before is now or (before == now and (loose is None or not loose(name) or identical(before, now))):
                continue
            element = f"f:{name}"
            below = _below(within, element)
            if below == ():
                continue
            if before is _ABSENT:
                gained[element] = _whole(child(name)[1], now, below)
            else:
                child(name)[0](element, before, now, gained, lost, below)
        for name in old:
            if name not in new:
                element = f"f:{name}"
                below = _below(within, element)
                if below != ():
                    lost[element] = _whole(child(name)[1], old[name], below)

    return walk


def _whole(own: Own, value: Any, within: _Within) -> Node:
    """The set of a value that came or went."""
    return own(value) if within is None or any(within) else LEAF


def _compared(schema: Schema) -> _Compare:
    found = schema.compiled.get("typed.compare")
    if found is None:
        schema.compiled["typed.compare"] = found = _compile(shape_of(schema), schema)
    return found


def _compile(shape: Shape, schema: Schema) -> _Compare:
    if shape.kind == ATOM:
        return _leaf
    if shape.kind == FREE:
        return _free
    if shape.kind == STRUCT:
        return _maps(_walk(schema))
    if shape.item is None:
        raise TypeError(f"{schema!r} has no items")
    if shape.kind == MAP:
        if shape_of(shape.item).kind == ATOM and not free_form(shape.item):
            return _leaf_maps
        pair = (_compared(shape.item), added(shape.item))
        loose = free_form(shape.item)
        return _maps(_walk_names(lambda name: pair, (lambda name: True) if loose else None))
    return (
        _lists(shape, _leaf, _added_leaf)
        if shape.kind == SET
        else _lists(shape, _compared(shape.item), added(shape.item))
    )


def _leaf(element: str, old: Any, new: Any, gained: Node, lost: Node, within: _Within) -> None:
    gained[element] = LEAF


def _added_leaf(value: Any) -> Node:
    return LEAF


def _attach(element: str, gained: Node, lost: Node, inner_gained: Node, inner_lost: Node) -> None:
    if inner_gained:
        gained[element] = ordered(inner_gained)
    if inner_lost:
        lost[element] = ordered(inner_lost)


def _maps(walk: _MapWalk) -> _Compare:
    def maps(element: str, old: Any, new: Any, gained: Node, lost: Node, within: _Within) -> None:
        if not old and not new:
            gained[element] = LEAF  # null and empty are told apart
            return
        inner_gained: Node = {}
        inner_lost: Node = {}
        walk(old if type(old) is dict else {}, new if type(new) is dict else {}, inner_gained, inner_lost, within)
        _attach(element, gained, lost, inner_gained, inner_lost)

    return maps


def _leaf_maps(element: str, old: Any, new: Any, gained: Node, lost: Node, within: _Within) -> None:
    """Maps of values that are owned whole: there may be a hundred thousand of them."""
    if not old and not new:
        gained[element] = LEAF
        return
    before = old if type(old) is dict else {}
    now = new if type(new) is dict else {}
    came, gone = (
        _changed_among(_named(within), before, now) if _few(within, len(before) + len(now)) else _changed(before, now)
    )
    if came:
        gained[element] = leaves_of(came)
    if gone:
        lost[element] = leaves_of(gone)


_Names = tuple[Collection[str], Collection[str]]  # of what came or got another value, and of what is gone


def _changed_among(names: list[str], before: dict[str, Any], now: dict[str, Any]) -> _Names:
    came = [name for name in names if name in now and before.get(name, _ABSENT) != now[name]]
    return came, [name for name in names if name in before and name not in now]


def _changed(before: dict[str, Any], now: dict[str, Any]) -> _Names:
    if len(before) >= len(now):
        came: Collection[str] = [name for name, value in now.items() if before.get(name, _ABSENT) != value]
    else:
        kept = {name for name, value in before.items() if now.get(name, _ABSENT) == value}
        came = [name for name in now if name not in kept] if kept else now
    return came, [name for name in before if name not in now]


def _lists(shape: Shape, same: _Compare, own: Own) -> _Compare:
    def lists(element: str, old: Any, new: Any, gained: Node, lost: Node, within: _Within) -> None:
        if not old and not new:
            gained[element] = LEAF
            return
        if within is not None and not any(within):
            return
        before = old if type(old) is list else []
        now = new if type(new) is list else []
        inner_gained: Node = {}
        inner_lost: Node = {}
        _compare_items(shape, (before, now), same, own, inner_gained, inner_lost, within)
        _attach(element, gained, lost, inner_gained, inner_lost)

    return lists


def _compare_items(
    shape: Shape,
    items: tuple[list[Any], list[Any]],
    same: _Compare,
    own: Own,
    gained: Node,
    lost: Node,
    within: _Within,
) -> None:
    old, new = (index(shape, each) for each in items)
    if _few(within, len(old) + len(new)):
        elements = list(dict.fromkeys(chain.from_iterable(within)))
        old, new = ({element: each[element] for element in elements if element in each} for each in (old, new))
    loose = shape.item is not None and free_form(shape.item)
    doubled: tuple[dict[str, list[Any]], dict[str, list[Any]]] | None = None
    for key, item in new.items() if loose else _differing(old, new):
        was = old.get(key, _ABSENT)
        below = _below(within, key)
        if below == ():
            continue
        if item is Duplicated:
            if was is not Duplicated:
                # Newly doubled: what the single item held is gone, a mark for the doubled key comes.
                gained[key] = LEAF
                if was is not _ABSENT:
                    lost[key] = _without_self(own(was))
            else:
                if doubled is None:
                    doubled = (_by_element(shape, items[0]), _by_element(shape, items[1]))
                if doubled[0][key] != doubled[1][key]:
                    gained[key] = LEAF
        elif was is _ABSENT or was is Duplicated:
            # No longer doubled: the mark was a member, and the item is one again; what it holds is new.
            gained[key] = _whole(own, item, below)
        elif was is not item and (was != item or (loose and not identical(was, item))):
            same(key, was, item, gained, lost, below)
    for key, was in old.items():
        if key not in new:
            below = _below(within, key)
            if below != ():
                lost[key] = LEAF if was is Duplicated else _whole(own, was, below)


def _differing(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, Any]]:
    """What has come or may have changed: what comes more than once is one of a kind, and so equal to itself."""
    return [
        (key, item)
        for key, item in new.items()
        if ((was := old.get(key, _ABSENT)) is not item and was != item) or item is Duplicated
    ]


def _without_self(node: Node) -> Node:
    return {element: child for element, child in node.items() if element != SELF}


def _by_element(shape: Shape, items: list[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for element, item in zip(shape.elements(items), items, strict=True):
        found.setdefault(element, []).append(item)
    return found


def _free(element: str, old: Any, new: Any, gained: Node, lost: Node, within: _Within) -> None:
    """Values without a schema: maps key by key, all else whole."""
    old_map, new_map = type(old) is dict, type(new) is dict
    if old_map and new_map and (old or new):
        inner_gained: Node = {}
        inner_lost: Node = {}
        _walk_free(old, new, inner_gained, inner_lost, within)
        _attach(element, gained, lost, inner_gained, inner_lost)
        return
    gained[element] = LEAF
    if old_map and old:
        lost[element] = _without_self(_added_free(old))
    if new_map and new:
        gained[element] = _added_free(new)


_added_free: Final[Own] = added(Schema("json"))
_walk_free: Final[_MapWalk] = _walk_names(lambda name: (_free, _added_free), lambda name: True)
