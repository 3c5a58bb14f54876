"""Small rules and defaults for structs and fields that may be absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pilothouse.machinery.rules import IMMUTABLE, Defaults, Field, Rule, sees_absent, together


def inside(*parts: Rule) -> Rule:
    """Rules for the fields of a struct, run only where the struct is there (nested `at`s alone would run always)."""
    rule = together(*parts)

    def run(value: Any, field: Field) -> bool | None:
        return rule(value, field)

    return run


def sent_empty(field: Field, path: str) -> bool:
    """Whether the list at a path, one of the kind's `heeds_empty`, was sent as `[]`."""
    return field.context is not None and path in field.context.empty


@sees_absent
def given(value: Any, field: Field) -> bool:
    """The field must be there, be it empty; later rules of the place are passed over otherwise."""
    if value is None:
        field.required()
    return value is None


def one_member(*members: str) -> Rule:
    """A union in the words of the declarative rules: exactly one of the members is set."""
    listed = ", ".join(f"`{name}`" for name in members)

    def run(value: Any, field: Field) -> None:
        found = [name for name in members if value.get(name) is not None]
        if not found:
            field.invalid("", "", f"must specify one of: {listed}")
        elif len(found) > 1:
            field.invalid("", "{" + ", ".join(found) + "}", f"must specify exactly one of: {listed}")

    return run


def when_null(values: Mapping[str, Any]) -> Defaults:
    """Defaults of fields that the type always shows: null is no value. Values are plain scalars."""
    pairs = tuple(values.items())

    def fill(value: dict[str, Any]) -> None:
        for name, default in pairs:
            if value.get(name) is None:
                value[name] = default

    return fill


def when_zero(values: Mapping[str, Any]) -> Defaults:
    """As `when_null`, for fields that are no pointers: zero and the empty text are no values either."""
    pairs = tuple(values.items())

    def fill(value: dict[str, Any]) -> None:
        for name, default in pairs:
            if not value.get(name):
                value[name] = default

    return fill


def fixed(zero: Any = "", why: str = IMMUTABLE) -> Rule:
    """What was given on create stays. A refused change to nothing is shown as the type's zero."""

    def run(value: Any, field: Field) -> None:
        if field.updating and value != field.old:
            field.invalid("", zero if value is None else value, why)

    return sees_absent(run)
