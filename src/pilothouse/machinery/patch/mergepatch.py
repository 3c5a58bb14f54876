"""JSON Merge Patch (RFC 7386): objects merge, null removes, all else replaces.

As the original does it, nulls are also taken out of objects inside lists that replace something.
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from pilothouse.machinery.errors import APIError, bad_request
from pilothouse.machinery.patch.turns import TURNS, check_depth
from pilothouse.machinery.typed.text import type_name

_DEEPEST: Final = 1_500  # levels of maps that are merged
_DEEPEST_NEW: Final = 2_500  # levels of what is new
ABSENT: Final = object()  # what stands where nothing does
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
    try:
        if isinstance(found, list):
            return without_nulls(found) if nulls else found
        return _merge(obj, found, nulls, 0)
    except RecursionError:
        raise APIError(400, "BadRequest", "the patch is nested too deeply") from None


def _merge(obj: dict[str, Any], patch: dict[str, Any], nulls: bool, level: i64) -> dict[str, Any]:
    check_depth(level, _DEEPEST)
    out = {**obj, **patch}  # many at once are put in much faster than one by one
    changed = False
    for name, value in patch.items():
        TURNS.one_more()
        before = obj.get(name, ABSENT)
        kept = _merged(before, value, nulls, level)
        changed = changed or kept is not before
        if kept is ABSENT:
            del out[name]
        elif kept is not value:
            out[name] = kept
    return out if changed else obj


def _merged(before: Any, value: Any, nulls: bool, level: i64) -> Any:
    """What stands afterwards where `before` stood: `before` itself where nothing changes; ABSENT is nothing."""
    if value is None:
        return ABSENT
    if isinstance(value, dict):
        if isinstance(before, dict):
            return _merge(before, value, nulls, level + 1)
    elif not isinstance(value, list):
        return before if before.__class__ is value.__class__ and before == value else value
    elif isinstance(before, dict):
        return value
    return without_nulls(value) if nulls else value


def without_nulls(value: Any) -> Any:
    """The value without null fields in it; null items of lists stay. The value itself when there are none.

    Raises RecursionError.
    """
    return _without_nulls(value, 0)


def _without_nulls(value: Any, level: i64) -> Any:
    if isinstance(value, dict):
        check_depth(level, _DEEPEST_NEW)
        out: dict[str, Any] | None = None
        for name, inner in value.items():
            TURNS.one_more()
            if inner is None:
                if out is None:
                    out = dict(value)
                del out[name]
            elif isinstance(inner, dict | list):
                kept = _without_nulls(inner, level + 1)
                if kept is not inner:
                    if out is None:
                        out = dict(value)
                    out[name] = kept
        return value if out is None else out
    if isinstance(value, list):
        check_depth(level, _DEEPEST_NEW)
        items: list[Any] | None = None
        for at, item in enumerate(value):
            TURNS.one_more()
            if isinstance(item, dict | list):
                kept = _without_nulls(item, level + 1)
                if kept is not item:
                    if items is None:
                        items = list(value)
                    items[at] = kept
        return value if items is None else items
    return value


def may_have_nulls(text: bytes) -> bool:
    """False where no object in compact JSON has a member that is null."""
    return b":null" in text
