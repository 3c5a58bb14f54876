"""Maps that are left as they came until their object is good: to put a long one in order is as dear as to read it."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.kit import sorting
from pilothouse.kit.runs import RUN

_CONTAINERS: Final = {dict, list}
Unordered = list[dict[str, Any]]  # maps that are not by key so far


def put_in_order(unordered: Unordered) -> None:
    """Makes each of these maps one by key, and forgets them."""
    for made in unordered:
        keys = sorting.in_order(made)
        values = [*map(made.__getitem__, keys)]
        made.clear()
        made.update(zip(keys, values, strict=True))
    unordered.clear()


def put_all_in_order(value: Any) -> None:
    """As `put_in_order`, of all long maps of an object: some may be copies of those that were read."""
    if value.__class__ is dict:
        if len(value) > RUN:
            put_in_order([value])
        if not set(map(type, value.values())).isdisjoint(_CONTAINERS):
            for item in value.values():
                put_all_in_order(item)
    elif value.__class__ is list and not set(map(type, value)).isdisjoint(_CONTAINERS):
        for item in value:
            put_all_in_order(item)
