"""Conditions in the status of flow schemas and priority levels: each type once."""

from __future__ import annotations

from collections.abc import Sequence

from pilothouse.machinery.rules import Field
from pilothouse.registry.behaviour import Object


def unique_conditions(value: Sequence[Object], field: Field) -> None:
    seen: set[str] = set()

    def condition(one: Object, inner: Field) -> None:
        kind = one.get("type", "")
        if not kind:
            inner.required("type")
        if kind in seen:
            inner.duplicate("type", kind)
        seen.add(kind)

    field.each("", condition, value)
