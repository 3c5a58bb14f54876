"""The order of lists that a strategic merge patch has merged."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from operator import itemgetter
from typing import Any, Final

from pilothouse.kit.runs import RUN
from pilothouse.machinery.errors import APIError, bare_internal
from pilothouse.machinery.typed.text import plain, plain_each, type_name

_CONTAINERS: Final[frozenset[type]] = frozenset((dict, list))


def key_of(item: Any, merge_key: str) -> Any:
    """What an item is known by: itself, or in a keyed list the value of its key. Raises APIError 500 where it has
    none.
    """
    if not merge_key:
        return item
    if not isinstance(item, dict):
        raise not_a_map(item)
    if merge_key not in item:
        raise bare_internal(f"map: {plain(item)} does not contain declared merge key: {merge_key}")
    return item[merge_key]


def not_a_map(item: Any) -> APIError:
    return bare_internal(f"expected a map[string]interface {{}}, but received a {type_name(item)}")


def merged_in_order(merged: list[Any], patch: list[Any], original: list[Any], merge_key: str) -> list[Any]:
    """The merged items: those of the patch in its order, the others where they stood relative to them."""
    return ordered_by(merged, patch, original, merge_key)


def ordered_by(merged: list[Any], order: list[Any], original: list[Any], merge_key: str) -> list[Any]:
    """`merged` with the items named in `order` in that order. An item that is not named comes before a named one only
    if it stood before it in `original`; next to named items that are new, it comes after.
    """
    if merge_key and merged:
        wrong = next((place for place, item in enumerate(order) if not isinstance(item, dict)), None)
        if wrong is not None:
            raise bare_internal(f"value for key {wrong} is not a map.")
    wanted, before = keys_of(order, merge_key), keys_of(original, merge_key)
    return arranged(merged, keys_of(merged, merge_key), wanted, before)


def arranged(merged: list[Any], keys: list[Any], order: list[Any], original: list[Any]) -> list[Any]:
    """As `ordered_by`, where all is known by its keys; `keys` are those of `merged`."""
    wanted, before = _places(order), _places(original)
    places: list[Any] = list(map(wanted.get, keys))
    named = [at for at, place in enumerate(places) if place is not None]
    named.sort(key=places.__getitem__)
    if len(named) == len(merged):
        return list(map(merged.__getitem__, named))
    stood = list(map(before.get, keys, repeat(-1)))
    others = [at for at, place in enumerate(places) if place is None]
    others.sort(key=stood.__getitem__)
    out = []
    next_other = 0
    for at in named:
        while next_other < len(others) and 0 <= stood[others[next_other]] < stood[at]:
            out.append(merged[others[next_other]])
            next_other += 1
        out.append(merged[at])
    out.extend(merged[at] for at in others[next_other:])
    return out


def all_new(original: list[dict[str, Any]], patch: list[dict[str, Any]], merge_key: str) -> bool:
    """Whether many items of a patch have keys of their own, and none of them is that of an original one. Then they come
    first. False only means: look closer.
    """
    if len(patch) <= RUN:
        return False
    read = itemgetter(merge_key)
    try:
        new, known = list(map(read, patch)), list(map(read, original))
    except KeyError:
        return False
    if new[0] in known:
        return False
    if _CONTAINERS.issuperset(map(type, new)) and _CONTAINERS.isdisjoint(map(type, known)):
        return len(set(plain_each(new))) == len(new)
    keys = set(_all_hashable(new))
    return len(keys) == len(new) and keys.isdisjoint(_all_hashable(known)) and hashable(None) not in keys


def placed(original: list[Any], patch: list[Any], merge_key: str) -> list[Any]:
    """The original items as the order of a merged list sees them: as many new ones have a place behind the rest as were
    deleted.
    """
    if not merge_key:
        return original
    for item in patch:
        if not isinstance(item, dict):
            raise not_a_map(item)
    deleted = set(keys_of([item for item in patch if item.get("$patch") == "delete"], merge_key))
    if not deleted:
        return original
    keys = keys_of(original, merge_key)
    there = set(keys)
    kept = [item for item, key in zip(original, keys, strict=True) if key not in deleted]
    new = [item for item in patch if item.get("$patch") != "delete" and hashable(key_of(item, merge_key)) not in there]
    return (kept + new)[: len(original)]


def one_of(values: list[Any]) -> Callable[[Any], bool]:
    """`f(value)`: whether it equals one of these."""
    containers = [value for value in values if isinstance(value, dict | list)]
    scalars = frozenset(value for value in values if not isinstance(value, dict | list))
    return lambda value: value in (containers if isinstance(value, dict | list) else scalars)


def _places(keys: list[Any]) -> dict[Any, int]:
    """Where each key stands first."""
    return dict(zip(reversed(keys), range(len(keys) - 1, -1, -1), strict=True))


def keys_of(items: list[Any], merge_key: str) -> list[Any]:
    """What each item is known by, as `hashable` has it. Raises APIError 500."""
    return _all_hashable([key_of(item, merge_key) for item in items] if merge_key else items)


def _all_hashable(keys: list[Any]) -> list[Any]:
    if len(keys) > RUN and all(isinstance(key, dict | list) for key in keys):
        return [("json", text) for text in plain_each(keys)]
    return [hashable(key) for key in keys]


def hashable(value: Any) -> Any:
    """Keys are compared as the original does: 1 is not true, and maps or lists are only like themselves in text."""
    if isinstance(value, dict | list):
        return ("json", plain(value))
    return (True, value) if type(value) is bool else value
