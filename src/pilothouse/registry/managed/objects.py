"""metadata.managedFields in an object: how the field is read, replaced and compared."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from pilothouse.registry.managed import entries as e

Object = dict[str, Any]


def managed_fields(obj: Object) -> Any:
    metadata = obj.get("metadata")
    return metadata.get("managedFields") if type(metadata) is dict else None


def with_entries(obj: Object, entries: list[dict[str, Any]]) -> Object:
    """The object with these entries, and without the field when there are none."""
    metadata = obj.get("metadata")
    known = metadata if type(metadata) is dict else {}
    if entries:
        if known.get("managedFields") is entries:
            return obj
        return {**obj, "metadata": {**known, "managedFields": entries}}
    if "managedFields" not in known:
        return obj
    return {**obj, "metadata": {key: value for key, value in known.items() if key != "managedFields"}}


def settled(live: Object, new: Object, same: Callable[[Any, Any], bool] = operator.eq) -> Object:
    """`new`, or with the times of `live` where nothing but times of entries differs, so that such a write is none.

    To be asked last, once the object is defaulted and admitted. `same`: equality of objects of the type.
    """
    return with_times_of(live, new, same) if differs_in_times(live, new) else new


def differs_in_times(live: Object, new: Object) -> bool:
    """Whether the entries of owners differ in nothing but their times; if not, there is no more to compare."""
    stored, made = managed_fields(live), managed_fields(new)
    if stored is made or not stored or not made or len(stored) != len(made):
        return False
    return all(_timeless(a) == _timeless(b) for a, b in zip(stored, made, strict=True))


def with_times_of(live: Object, new: Object, same: Callable[[Any, Any], bool]) -> Object:
    """`settled` of two whose owners differ in nothing but times."""
    with_old_times = with_entries(new, managed_fields(live))
    return with_old_times if same(with_old_times, live) else new


def resets(document: Any) -> bool:
    """Whether a sent document says with `[]` or `[{}]` that its owners shall be forgotten."""
    return isinstance(document, dict) and e.is_reset(managed_fields(document))


def _timeless(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != "time"}
