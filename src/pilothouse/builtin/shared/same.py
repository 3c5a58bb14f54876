"""Whether two values mean the same to the original: quantities by amount, nothing and empty alike."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.builtin.shared.amounts import equal

# Fields that hold resource lists: their values are quantities.
_LISTS: Final = frozenset({"limits", "requests", "capacity", "allocatable", "overhead", "hard", "used"})
_AMOUNTS: Final = frozenset({"sizeLimit", "divisor"})  # fields that are one quantity


def same(one: Any, other: Any, amounts: bool = False) -> bool:
    """`amounts`: strings at this level are quantities."""
    if one == other:
        return True
    if not one and not other:
        return _nothing(one) and _nothing(other)
    if isinstance(one, dict) and isinstance(other, dict):
        return all(
            equal(one.get(key), other.get(key))
            if amounts or key in _AMOUNTS
            else same(one.get(key), other.get(key), key in _LISTS)
            for key in one.keys() | other.keys()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return False


def same_amounts(one: Any, other: Any, amounts: bool = False) -> bool:
    """As `same` of what has been decoded: what is there but empty is something."""
    if one == other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            equal(value, other[key]) if amounts or key in _AMOUNTS else same_amounts(value, other[key], key in _LISTS)
            for key, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_amounts, one, other))
    return False


def _nothing(value: Any) -> bool:
    return value is None or value == {} or value == []
