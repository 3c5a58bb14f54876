"""Small rules for structs and fields that may be absent."""

from __future__ import annotations

from typing import Any

from pilothouse.machinery.rules import IMMUTABLE, Field, Rule, sees_absent, together


def inside(*parts: Rule) -> Rule:
    """Rules for the fields of a struct, run only where the struct is there (nested `at`s alone would run always)."""
    rule = together(*parts)

    def run(value: Any, field: Field) -> bool | None:
        return rule(value, field)

    return run


@sees_absent
def given(value: Any, field: Field) -> bool:
    """The field must be there, be it empty; later rules of the place are passed over otherwise."""
    if value is None:
        field.required()
    return value is None


def fixed(zero: Any = "", why: str = IMMUTABLE) -> Rule:
    """What was given on create stays. A refused change to nothing is shown as the type's zero."""

    def run(value: Any, field: Field) -> None:
        if field.updating and value != field.old:
            field.invalid("", zero if value is None else value, why)

    return sees_absent(run)
