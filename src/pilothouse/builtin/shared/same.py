"""Whether two values mean the same to the original: quantities by amount, nothing and empty alike."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.builtin.shared.amounts import equal

# Fields that hold resource lists: their values are quantities.
_LISTS: Final = frozenset({"limits", "requests", "capacity", "allocatable", "overhead", "hard", "used"})


def same(one: Any, other: Any, amounts: bool = False) -> bool:
    """`amounts`: strings at this level are quantities."""
    if one == other:
        return True
    if not one and not other:
        return _nothing(one) and _nothing(other)
    if isinstance(one, dict) and isinstance(other, dict):
        return all(
            same(one.get(key), other.get(key), key in _LISTS) if not amounts else equal(one.get(key), other.get(key))
            for key in one.keys() | other.keys()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return False


def _nothing(value: Any) -> bool:
    return value is None or value == {} or value == []
