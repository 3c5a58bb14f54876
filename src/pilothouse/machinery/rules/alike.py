"""Objects of a long list that are alike: a verdict on one goes for all that differ from it where it does not matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Free = Mapping[str, Callable[[Sequence[Any]], bool]]
"""By the name of a member: whether some values of it are fine, so that each is as good as the others."""


def are_alike(objects: Sequence[dict[str, Any]], free: Free) -> bool:
    """Whether decoded objects differ in nothing but the values of free members, which are fine."""
    form = tuple(objects[0])
    if set(map(tuple, objects)) != {form}:
        return False
    for name, values in zip(form, zip(*map(dict.values, objects), strict=True), strict=True):
        fine = free.get(name)
        if not (values.count(values[0]) == len(values) if fine is None else fine(values)):
            return False
    return True
