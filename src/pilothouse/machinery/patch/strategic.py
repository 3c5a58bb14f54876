"""Strategic Merge Patch: a merge patch that knows which lists merge by key, with directives for the rest.

Which lists merge, and by what, stands in the type's fields (`patch_strategy`, `patch_merge_key`). What the patch does
not touch is shared with the object; the patch itself is never changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mypy_extensions import i64

from pilothouse.machinery import jsoncodec
from pilothouse.machinery import schema as s
from pilothouse.machinery.errors import APIError, bad_request, bare_internal
from pilothouse.machinery.patch.elements import (
    all_new,
    arranged,
    hashable,
    key_of,
    merged_in_order,
    not_a_map,
    one_of,
    ordered_by,
    placed,
)
from pilothouse.machinery.patch.errors import rejected
from pilothouse.machinery.patch.mergepatch import ABSENT, without_nulls
from pilothouse.machinery.patch.mergepatch import not_a_map as no_patch
from pilothouse.machinery.patch.turns import TURNS, check_depth
from pilothouse.machinery.schema import Field, Schema
from pilothouse.machinery.typed.text import plain, type_name

DIRECTIVE: Final = "$patch"
RETAIN: Final = "$retainKeys"
_ORDER: Final = "$setElementOrder"  # these two stand before a slash and the name of a list
_DELETE: Final = "$deleteFromPrimitiveList"
_PREFIXES: Final = (_ORDER, _DELETE)
_STRATEGIES: Final = ("merge", "replace")
_LIKE_LISTS: Final = frozenset({s.LIST})
_DEEPEST: Final = 1_000  # levels of maps that are merged
_DEEPEST_NEW: Final = 2_500  # levels of what is new
_DIRECTED: Final = b'"$'  # stands in the JSON of what has a directive

_Map = dict[str, Any]


def check(patch: Any, *, strict: bool = True) -> _Map:
    """A decoded patch document as a map (null is an empty one), `strict` or not. Raises APIError 400 when it is
    none.
    """
    if patch is None:
        return {}
    if not isinstance(patch, dict):
        raise bad_request(no_patch(patch))
    return patch


def may_have_directives(text: bytes) -> bool:
    """False where nothing in compact JSON is a directive."""
    return _DIRECTED in text


def apply(patch: Any, obj: _Map, schema: Schema, *, simple: bool = False) -> _Map:
    """`obj` with the patch merged in: `obj` itself when nothing changes. `simple`: there are surely neither nulls nor
    directives in the patch. Raises APIError: 400, and 500 for most mistakes.
    """
    try:
        return _merge_map(obj, check(patch), schema, simple, 0)
    except RecursionError:
        raise APIError(400, "BadRequest", "the patch is nested too deeply") from None


# ---------------------------------------------------------------------- what the type says


def _field(schema: Schema | None, name: str) -> Field | None:
    return schema.properties.get(name) if schema is not None and schema.kind == s.STRUCT else None


def _below(schema: Schema | None, name: str) -> Schema:
    """The type of a struct's value at `name`. Raises APIError 500 where the type knows no such field."""
    if schema is not None and schema.kind == s.MAP:
        raise bare_internal("merging an object in json but data type is not struct, instead is: map")
    if schema is not None and schema.kind == s.STRUCT and name in schema.properties:
        return schema.properties[name].schema
    known = "RawExtension" if schema is None or schema.kind == s.RAW else schema.name
    raise bare_internal(f'unable to find api field in struct {known} for the json field "{name}"')


def _list_below(schema: Schema | None, name: str) -> Schema:
    """As `_below`, of a list."""
    below = _below(schema, name)
    if below.kind not in _LIKE_LISTS:
        raise bare_internal("expected slice or array type, but got: struct")
    return below


# ---------------------------------------------------------------------- maps


def _merge_map(original: _Map, patch: _Map, schema: Schema | None, simple: bool, level: i64) -> _Map:
    check_depth(level, _DEEPEST)
    if DIRECTIVE in patch:
        return _directive(patch)
    if not simple and any(name.startswith("$") for name in patch):
        out = dict(original)
        patch = _set_orders(out, _retain_keys(out, patch), schema, simple, level)
        return _merge_directed(original, out, patch, schema, level)
    out = {**original, **patch}  # many at once are put in much faster than one by one
    changed = False
    for name, value in patch.items():
        TURNS.one_more()
        before = original.get(name, ABSENT)
        kept = _merged(before, value, schema, name, False, simple, level)
        changed = changed or kept is not before
        if kept is ABSENT:
            del out[name]
        elif kept is not value:
            out[name] = kept
    return out if changed else original


def _merge_directed(original: _Map, out: _Map, patch: _Map, schema: Schema | None, level: i64) -> _Map:
    """As `_merge_map`, with directives among the names. `out`: a copy of the original, with some carried out."""
    for name, value in patch.items():
        TURNS.one_more()
        deletes = name.startswith(_DELETE)
        if deletes:
            name = _named(name, _DELETE, "primitive") or name
        kept = _merged(out.get(name, ABSENT), value, schema, name, deletes, False, level)
        if kept is not ABSENT:
            out[name] = kept
        elif name in out:
            del out[name]
    return original if _unchanged(original, out) else out


def _merged(before: Any, value: Any, schema: Schema | None, name: str, deletes: bool, simple: bool, level: i64) -> Any:
    """What stands at `name` afterwards: `before` itself where nothing changes; ABSENT is nothing."""
    if value is None:
        return ABSENT
    if value.__class__ is not before.__class__:
        return before if deletes else value if simple else _new(value)
    if isinstance(value, dict):
        below = _below(schema, name)
        return value if _strategy(schema, name) == "replace" else _merge_map(before, value, below, simple, level + 1)
    if isinstance(value, list):
        below = _list_below(schema, name)
        if _strategy(schema, name) != "merge":
            return value
        merged = _merge_list(before, value, below, _merge_key(schema, name), deletes, simple, level)
        return before if _are_same(before, merged) else merged
    return before if before == value else value


def _are_same(before: list[Any], after: list[Any]) -> bool:
    return len(before) == len(after) and all(item is after[at] for at, item in enumerate(before))


def _new(value: Any) -> Any:
    """What comes where nothing was: without nulls, and without maps that have a directive. ABSENT is nothing."""
    return without_directives(without_nulls(value)) if isinstance(value, dict | list) else value


def _named(directive: str, prefix: str, what: str) -> str:
    """The list that a directive is for. Raises APIError 400."""
    head, slash, name = directive.partition("/")
    if not slash or head != prefix:
        raise bad_request(f"invalid patch format of {what} list")
    return name


def _unchanged(before: _Map, after: _Map) -> bool:
    return len(before) == len(after) and all(
        name in before
        and (
            before[name] is value
            or (type(value) not in (dict, list) and type(before[name]) is type(value) and before[name] == value)
        )
        for name, value in after.items()
    )


def _strategy(schema: Schema | None, name: str) -> str:
    field = _field(schema, name)
    if field is None or not field.patch_strategy:
        return ""
    return next((strategy for strategy in _STRATEGIES if strategy in field.patch_strategy), "")


def _merge_key(schema: Schema | None, name: str) -> str:
    field = _field(schema, name)
    return "" if field is None else field.patch_merge_key


def _directive(patch: _Map) -> _Map:
    """A map with `$patch` replaces what is there, or empties it."""
    word = patch[DIRECTIVE]
    if word == "replace":
        return {name: value for name, value in patch.items() if name != DIRECTIVE}
    if word == "delete":
        return {}
    raise bare_internal(unknown_directive(patch))


def unknown_directive(patch: Mapping[str, Any]) -> str:
    word = patch[DIRECTIVE]
    shown = word if isinstance(word, str) else f"%!s({type_name(word)}={plain(word)})"
    return f"unknown patch type: {shown} in map: {plain(dict(patch))}"


def _retain_keys(out: _Map, patch: _Map) -> _Map:
    """Drops from `out` all that `$retainKeys` does not name. Returns the patch without the directive."""
    if RETAIN not in patch:
        return patch
    names = patch[RETAIN]
    patch = {name: value for name, value in patch.items() if name != RETAIN}
    known = {name for name in names if isinstance(name, str)} if isinstance(names, list) else None
    if known is None or any(
        value is not None and name not in known and not name.startswith(_PREFIXES) for name, value in patch.items()
    ):
        raise bad_request("invalid patch format of retainKeys")
    for name in [name for name in out if name not in known]:
        del out[name]
    return patch


def without_directives(value: Any) -> Any:
    """A value that comes new with the patch: maps with `$patch` are left out. Raises RecursionError."""
    return _without_directives(value, 0)


def _without_directives(value: Any, level: i64) -> Any:
    check_depth(level, _DEEPEST_NEW)
    if isinstance(value, dict):
        if DIRECTIVE in value:
            return ABSENT
        out: _Map | None = None
        for name, inner in value.items():
            TURNS.one_more()
            kept = _without_directives(inner, level + 1) if isinstance(inner, dict | list) else inner
            if kept is inner:
                continue
            if out is None:
                out = dict(value)
            if kept is ABSENT:
                del out[name]
            else:
                out[name] = kept
        return value if out is None else out
    if isinstance(value, list):
        items: list[Any] = []
        for item in value:
            TURNS.one_more()
            kept = _without_directives(item, level + 1) if isinstance(item, dict | list) else item
            if kept is not ABSENT:
                items.append(kept)
        return value if _are_same(value, items) else items
    return value


# ---------------------------------------------------------------------- lists


def _merge_list(
    original: list[Any], patch: list[Any], schema: Schema, merge_key: str, deletes: bool, simple: bool, level: i64
) -> list[Any]:
    if not original and not patch:
        return original
    if not _are_maps(original, patch):
        if deletes:
            is_gone = one_of(patch)
            return [item for item in original if not is_gone(item)]
        merged = list(dict.fromkeys([*original, *patch]))
        return merged_in_order(merged, patch, original, "")
    if not merge_key:
        raise bare_internal("cannot merge lists without merge key for struct")
    original, patch = _special_items(original, patch, merge_key)
    if all_new(original, patch, merge_key):
        return [*patch, *original]
    merged, places, order = _merge_items(original, patch, merge_key, schema.items, simple, level)
    if order is None:
        return merged
    if len(places) < len(merged) or hashable(None) in places:  # some have one key, or may have lost theirs
        return merged_in_order(merged, patch, original, merge_key)
    keys = list(places)
    return arranged(merged, keys, order, keys[: len(original)])


def _are_maps(original: list[Any], patch: list[Any]) -> bool:
    """Whether the items are maps; all must be of one type, and none a list."""
    kinds: set[type] = {*map(type, original), *map(type, patch)}
    if not kinds:
        raise bare_internal("no elements in any of the given slices")
    if list in kinds and isinstance((original or patch)[0], list):
        raise rejected()
    if len(kinds) > 1:
        raise bare_internal(f"list element types are not identical: {plain([original, patch])}")
    return kinds == {dict}


def _special_items(original: list[_Map], patch: list[_Map], merge_key: str) -> tuple[list[_Map], list[_Map]]:
    """Carries out the items with `$patch`. Returns what is left of the original, and the items without."""
    if not any(DIRECTIVE in item for item in patch):
        return original, patch
    ordinary: list[_Map] = []
    gone: list[Any] = []
    replace = False
    for item in patch:
        word = item.get(DIRECTIVE, ABSENT)
        if word is ABSENT:
            ordinary.append(item)
        elif word == "delete":
            gone.append(key_of(item, merge_key))
        elif word == "replace":
            replace = True
        elif word == "merge":
            raise bare_internal("merging lists cannot yet be specified in the patch")
        else:
            raise bare_internal(unknown_directive(item))
    if replace:
        return ordinary, []
    is_gone = one_of(gone)
    return [item for item in original if merge_key not in item or not is_gone(item[merge_key])], ordinary


def _merge_items(
    original: list[_Map], patch: list[_Map], merge_key: str, schema: Schema, simple: bool, level: i64
) -> tuple[list[_Map], dict[Any, int], list[Any] | None]:
    """The items of both, new ones last; where each key stands in them; and the keys of the patch, or None if the items
    are in order already, as they come in that of the original.
    """
    places: dict[Any, int] = {}
    for place, item in enumerate(original):
        if merge_key in item:
            places.setdefault(hashable(item[merge_key]), place)  # the first of each key counts
    in_place = len(places) == len(original)
    out = list(original)
    settled: dict[int, str] = {}  # place -> what was merged there last and changed nothing
    reached = -1
    order: list[Any] = []
    for item in patch:
        TURNS.one_more()
        key = hashable(key_of(item, merge_key))
        order.append(key)
        found = places.get(key)
        if found is None:
            places[key] = len(out)
            out.append(item)
            in_place = False
        else:
            if not settled.get(found) or settled[found] != _told(item):  # the same thing may come again and again
                before = out[found]
                out[found] = _merge_map(before, item, schema, simple, level + 1)
                settled[found] = _told(item) if out[found] is before else ""
            in_place = in_place and found > reached
            reached = found
    return out, places, None if in_place else order


def _told(item: _Map) -> str:
    """An item to the letter. "" where it is very deep."""
    try:
        return repr(item)
    except RecursionError:
        return ""


def _set_orders(out: _Map, patch: _Map, schema: Schema | None, simple: bool, level: i64) -> _Map:
    """Carries out `$setElementOrder/NAME` together with the list NAME. Returns the patch without both."""
    orders = [name for name in patch if name.startswith(_ORDER)]
    if not orders:
        return patch
    patch = dict(patch)
    for directive in orders:
        order = _list(patch.pop(directive))
        name = _named(directive, _ORDER, "setElementOrder")
        items = _list(patch.pop(name)) if name in patch else None
        _set_order(out, name, order, items, schema, simple, level)
    return patch


def without_ordered(patch: Any) -> Any:
    """The patch as it is shown once it was carried out: lists whose order it gave are used up."""
    return _without_ordered(patch) if jsoncodec.may_hold(patch, f'"{_ORDER}'.encode()) else patch


def _without_ordered(patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    used = {name for name in patch if name.startswith(_ORDER)}
    used |= {name.partition("/")[2] for name in used}
    return {name: _without_ordered(value) for name, value in patch.items() if name not in used}


def _set_order(
    out: _Map, name: str, order: list[Any], patch: list[Any] | None, schema: Schema | None, simple: bool, level: i64
) -> None:
    original = _list(out[name]) if name in out else []
    below = _list_below(schema, name)
    merge_key = _merge_key(schema, name)
    _check_order(patch or [], order, merge_key)
    if patch is None:
        if name not in out:
            return
        merged = original
    else:
        if name not in out:
            merged = without_directives(patch)
        elif _strategy(schema, name) == "merge":
            merged = _merge_list(original, patch, below, merge_key, False, simple, level)
        else:
            merged = patch
        _are_maps(original, patch)
        original = placed(original, patch, merge_key)
    out[name] = ordered_by(merged, order, original, merge_key)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise bare_internal(f"expected a []interface {{}}, but received a {type_name(value)}")
    return value


def _check_order(patch: list[Any], order: list[Any], merge_key: str) -> None:
    """The patch list must come in the order given: it may leave items out, but have none of its own."""
    if not patch or not order:
        return
    position = 0
    for item in _not_deleted(patch) if merge_key else patch:
        if isinstance(item, dict) and DIRECTIVE in item:
            continue
        while position < len(order) and not _same_key(item, order[position], merge_key):
            position += 1
        if position >= len(order):
            raise bare_internal(
                f"The order in patch list:\n{plain(patch)}\n doesn't match $setElementOrder list:\n{plain(order)}\n"
            )
        position += 1


def _not_deleted(patch: list[Any]) -> list[Any]:
    for item in patch:
        if not isinstance(item, dict):
            raise not_a_map(item)
    return [item for item in patch if item.get(DIRECTIVE) != "delete"]


def _same_key(item: Any, other: Any, merge_key: str) -> bool:
    return bool(key_of(item, merge_key) == key_of(other, merge_key))
