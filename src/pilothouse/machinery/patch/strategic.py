"""Strategic Merge Patch: a merge patch that knows which lists merge by key, with directives for the rest.

Which lists merge, and by what, stands in the type's fields (`patch_strategy`, `patch_merge_key`). What the patch does
not touch is shared with the object; the patch itself is never changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress, repeat
from operator import contains, is_
from typing import Any, Final

from pilothouse.kit.runs import RUN
from pilothouse.machinery import jsoncodec
from pilothouse.machinery import schema as s
from pilothouse.machinery.errors import APIError, bad_request, bare_internal
from pilothouse.machinery.patch.elements import (
    all_new,
    arranged,
    hashable,
    key_of,
    keys_of,
    merged_in_order,
    not_a_map,
    one_of,
    ordered_by,
    placed,
)
from pilothouse.machinery.patch.errors import rejected
from pilothouse.machinery.patch.mergepatch import ABSENT, New, as_it_is, may_have_nulls, with_many, without_nulls
from pilothouse.machinery.patch.mergepatch import not_a_map as no_patch
from pilothouse.machinery.schema import Field, Schema
from pilothouse.machinery.typed.text import plain, type_name

DIRECTIVE: Final = "$patch"
RETAIN: Final = "$retainKeys"
_ORDER: Final = "$setElementOrder"  # these two stand before a slash and the name of a list
_DELETE: Final = "$deleteFromPrimitiveList"
_PREFIXES: Final = (_ORDER, _DELETE)
_STRATEGIES: Final = ("merge", "replace")
_LIKE_LISTS: Final = frozenset({s.LIST})
_SCALARS: Final = frozenset({str, int, float, bool})
_CONTAINERS: Final[frozenset[type]] = frozenset((dict, list))
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


def apply(patch: Any, obj: _Map, schema: Schema, *, plain: bool = False) -> _Map:
    """`obj` with the patch merged in: `obj` itself when nothing changes. `plain`: there are surely neither nulls nor
    directives in the patch. Raises APIError: 400, and 500 for most mistakes.
    """
    try:
        return _merge_map(obj, check(patch), schema, as_it_is if plain else _new)
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


def _merge_map(original: _Map, patch: _Map, schema: Schema | None, new: New) -> _Map:
    """`new`: makes what comes where nothing was."""
    if DIRECTIVE in patch:
        return _directive(patch)
    out = original  # until something changes
    directed = new is not as_it_is and "$" in "".join(patch) and any(map(str.startswith, patch, repeat("$")))
    if len(patch) > RUN and not directed:
        whole = with_many(
            original, patch, lambda before, name, value: _merged(before, value, schema, name, False, new), new
        )
        if whole is not None:
            return whole
    if directed:
        out = dict(original)
        patch = _retain_keys(out, patch)
        patch = _set_orders(out, patch, schema, new)
    for name, value in patch.items():
        deletes = directed and name.startswith(_DELETE)
        if deletes:
            name = _named(name, _DELETE, "primitive") or name
        before = out.get(name, ABSENT)
        kind = value.__class__
        if kind in _SCALARS and not deletes:  # most are
            kept = before if kind is before.__class__ and before == value else value
        else:
            kept = _merged(before, value, schema, name, deletes, new)
        if kept is before:
            continue
        if out is original:
            out = dict(original)
        if kept is ABSENT:
            del out[name]
        else:
            out[name] = kept
    return original if directed and _unchanged(original, out) else out


def _merged(before: Any, value: Any, schema: Schema | None, name: str, deletes: bool, new: New) -> Any:
    """What stands at `name` afterwards: `before` itself where nothing changes; ABSENT is nothing."""
    if value is None:
        return ABSENT
    kind = type(value)
    if kind is not type(before):
        return before if deletes else new(value)
    if kind is dict or kind is list:
        return _merge_value(before, value, schema, name, deletes, new)
    return before if before == value else value


def _new(value: Any) -> Any:
    """What comes where nothing was: without nulls, and without maps that have a directive. ABSENT is nothing."""
    if value.__class__ not in _CONTAINERS:
        return value
    text = jsoncodec.compact(value)
    if text is None:
        return without_directives(without_nulls(value))
    if may_have_nulls(text):
        value = without_nulls(value)
    return _without_directives(value) if _DIRECTED in text else value


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


def _merge_value(before: Any, value: Any, schema: Schema | None, name: str, deletes: bool, new: New) -> Any:
    if isinstance(value, dict):
        below = _below(schema, name)
        return value if _strategy(schema, name) == "replace" else _merge_map(before, value, below, new)
    if isinstance(value, list):
        below = _list_below(schema, name)
        if _strategy(schema, name) != "merge":
            return value
        merged = _merge_list(before, value, below, _merge_key(schema, name), deletes, new)
        same = len(merged) == len(before) and all(map(is_, merged, before))
        return before if same else merged
    return value


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
    """A value that comes new with the patch: maps with `$patch` are left out."""
    if not isinstance(value, dict | list) or not jsoncodec.may_hold(value, _DIRECTED):
        return value
    return _without_directives(value)


def _without_directives(value: Any) -> Any:
    if isinstance(value, dict):
        if DIRECTIVE in value:
            return ABSENT
        out: _Map | None = None
        for name, inner in value.items():
            kept = _without_directives(inner)
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
        items = [
            _without_directives(item) if item.__class__ in _CONTAINERS else item
            for item in value
            if item.__class__ is not dict or DIRECTIVE not in item
        ]
        same = len(items) == len(value) and all(map(is_, items, value))
        return value if same else items
    return value


# ---------------------------------------------------------------------- lists


def _merge_list(
    original: list[Any], patch: list[Any], schema: Schema, merge_key: str, deletes: bool, new: New
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
    merged, places, order = _merge_items(original, patch, merge_key, schema.items, new)
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
    if not any(map(contains, patch, repeat(DIRECTIVE))):
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
    original: list[_Map], patch: list[_Map], merge_key: str, schema: Schema, new: New
) -> tuple[list[_Map], dict[Any, int], list[Any] | None]:
    """The items of both, new ones last; where each key stands in them; and the keys of the patch, or None if the items
    are in order already, as they come in that of the original.
    """
    keyed = list(compress(range(len(original)), map(contains, original, repeat(merge_key))))
    known = list(keys_of([original[place] for place in keyed], merge_key))
    places: dict[Any, int] = dict(zip(known, keyed, strict=True))
    if len(places) < len(keyed):  # the first of each key counts
        places = dict(zip(reversed(known), reversed(keyed), strict=True))
    in_place = len(places) == len(original)
    out = list(original)
    settled: dict[int, str] = {}  # place -> what was merged there last and changed nothing
    reached = -1
    order = []
    for item, key in zip(patch, keys_of(patch, merge_key), strict=True):
        order.append(key)
        found = places.get(key)
        if found is None:
            places[key] = len(out)
            out.append(item)
            in_place = False
        else:
            if not settled.get(found) or settled[found] != _told(item):  # the same thing may come again and again
                before = out[found]
                out[found] = _merge_map(before, item, schema, new)
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


def _set_orders(out: _Map, patch: _Map, schema: Schema | None, new: New) -> _Map:
    """Carries out `$setElementOrder/NAME` together with the list NAME. Returns the patch without both."""
    orders = [name for name in patch if name.startswith(_ORDER)]
    if not orders:
        return patch
    patch = dict(patch)
    for directive in orders:
        order = _list(patch.pop(directive))
        name = _named(directive, _ORDER, "setElementOrder")
        _set_order(out, name, order, _list(patch.pop(name)) if name in patch else None, schema, new)
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
    out: _Map, name: str, order: list[Any], patch: list[Any] | None, schema: Schema | None, new: New
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
            merged = _merge_list(original, patch, below, merge_key, False, new)
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
    for wrong in (item for item in patch if not isinstance(item, dict)):
        raise not_a_map(wrong)
    return [item for item in patch if item.get(DIRECTIVE) != "delete"]


def _same_key(item: Any, other: Any, merge_key: str) -> bool:
    return bool(key_of(item, merge_key) == key_of(other, merge_key))
