"""JSON Merge Patch (RFC 7386): objects merge, null removes, all else replaces.

As the original does it, nulls are also taken out of objects inside lists that replace something.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any, Final

import orjson

from pilothouse.kit.runs import RUN
from pilothouse.machinery import jsondeep
from pilothouse.machinery.errors import APIError, bad_request
from pilothouse.machinery.typed.text import type_name

_CONTAINERS: Final[frozenset[type]] = frozenset((dict, list))
_SIMPLE: Final[frozenset[type]] = frozenset((str, int, bool))  # those that equal each other are alike
_DEEP: Final = 2_000  # levels; deeper ones are looked into, which is refused
ABSENT: Final = object()  # what stands where nothing does
New = Callable[[Any], Any]
_GO_NAMES = {"[]interface {}": "array", "int64": "number", "float64": "number"}


def check(patch: Any, *, strict: bool = True) -> dict[str, Any] | list[Any]:
    """A decoded patch document as a map; with fieldValidation=Ignore (not `strict`) it may be a list too.

    Raises APIError 400 when it is none.
    """
    if patch is None:
        raise bad_request("Invalid JSON Patch")
    if not isinstance(patch, dict):
        if strict:
            raise bad_request(f"error decoding patch: {not_a_map(patch)}")
        if not isinstance(patch, list):
            raise bad_request("Invalid JSON Patch")
    found: dict[str, Any] | list[Any] = patch
    return found


def not_a_map(value: Any) -> str:
    name = type_name(value)
    return f"json: cannot unmarshal {_GO_NAMES.get(name, name)} into Go value of type map[string]interface {{}}"


def apply(patch: Any, obj: dict[str, Any], *, strict: bool = True, nulls: bool = True) -> Any:
    """`obj` with the patch merged in: `obj` itself when nothing changes; a list takes its place. `strict` as for
    `check`. `nulls`: whether there may be nulls in the patch.

    Raises APIError 400.
    """
    found = check(patch, strict=strict)
    new = without_nulls if nulls else as_it_is
    try:
        return new(found) if isinstance(found, list) else _merge(obj, found, new)
    except RecursionError:
        raise APIError(400, "BadRequest", "the patch is nested too deeply") from None


def as_it_is(value: Any) -> Any:
    return value


def _merge(obj: dict[str, Any], patch: dict[str, Any], new: New) -> dict[str, Any]:
    """`new`: makes what comes where nothing was."""
    if len(patch) > RUN:
        whole = with_many(obj, patch, lambda before, _, value: _merged(before, value, new), new)
        if whole is not None:
            return whole
    out: dict[str, Any] | None = None
    for name, value in patch.items():
        before = obj.get(name, ABSENT)
        kept = _merged(before, value, new)
        if kept is before:
            continue
        if out is None:
            out = dict(obj)
        if kept is ABSENT:
            del out[name]
        else:
            out[name] = kept
    return obj if out is None else out


def _merged(before: Any, value: Any, new: New) -> Any:
    """What stands afterwards where `before` stood: `before` itself where nothing changes; ABSENT is nothing."""
    if value is None:
        return ABSENT
    kind = value.__class__
    if kind not in _CONTAINERS:
        return before if before.__class__ is kind and before == value else value
    if before.__class__ is dict:
        return _merge(before, value, new) if kind is dict else value
    return new(value)


def with_many(
    obj: dict[str, Any],
    patch: dict[str, Any],
    merged: Callable[[Any, str, Any], Any],
    new: Callable[[dict[str, Any]], dict[str, Any]],
) -> dict[str, Any] | None:
    """`obj` with many members put in or replaced at once. None where that may change nothing.

    `new(members)`: containers as they are put where nothing was; `merged(before, name, value)` is asked for all else
    that is no simple scalar.
    """
    others: list[str] = []  # that are neither simple nor fresh
    fresh: dict[str, Any] = {}
    kinds = set(map(type, patch.values()))
    if kinds <= _CONTAINERS and patch.keys().isdisjoint(obj):
        fresh = patch
    elif not kinds <= _SIMPLE:
        others = [name for name, value in patch.items() if value.__class__ not in _SIMPLE]
        fresh = {name: patch[name] for name in others if patch[name].__class__ in _CONTAINERS and name not in obj}
        if len(others) == len(patch) and not fresh:
            return None
        others = [name for name in others if name not in fresh]
    if len(obj) < len(patch) and patch.keys().isdisjoint(obj):
        out = dict(patch)  # which is ten times as fast as to put one after the other
        out.update(obj)
    else:
        out = obj | patch
    put = new(fresh)
    if put is not fresh:
        for name in fresh.keys() - put.keys():
            del out[name]
        out |= put
    for name in others:
        kept = merged(obj.get(name, ABSENT), name, patch[name])
        if kept is ABSENT:
            del out[name]
        else:
            out[name] = kept
    return out if len(out) > len(obj) else None


def without_nulls(value: Any) -> Any:
    """The value without null fields in it; null items of lists stay. The value itself when there are none."""
    return _without_nulls(value) if value.__class__ in _CONTAINERS and _may_hold_nulls(value) else value


def _may_hold_nulls(value: Any) -> bool:
    try:
        return may_have_nulls(orjson.dumps(value))
    except TypeError:  # mostly for its depth
        levels = enumerate(jsondeep.levels(value))
        return any(type(None) in kinds or level == _DEEP for level, (kinds, _) in levels)


def may_have_nulls(text: bytes) -> bool:
    """False where no object in compact JSON has a member that is null."""
    return b":null" in text


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        out: dict[str, Any] | None = None
        for name, inner in value.items():
            kept: Any = _without_nulls(inner) if inner and inner.__class__ in _CONTAINERS else inner
            if kept is inner and inner is not None:
                continue
            if out is None:
                out = dict(value)
            if inner is None:
                del out[name]
            else:
                out[name] = kept
        return value if out is None else out
    items = [_without_nulls(item) if item and item.__class__ in _CONTAINERS else item for item in value]
    return value if all(map(is_, items, value)) else items
