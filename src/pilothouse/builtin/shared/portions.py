"""Numbers that may also be percentages: how many pods may be missing or surplus."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.builtin.shared import words
from pilothouse.machinery.rules import NOT_NEGATIVE, Field

_TOO_MUCH: Final = "must not be greater than 100%"


def portion(value: Any, field: Field) -> None:
    """A number of at least 0, or a percentage."""
    if isinstance(value, str):
        if words.percent(value) is None:
            field.invalid("", value, words.PERCENT_TEXT)
    elif value < 0:
        field.invalid("", value, NOT_NEGATIVE)


def at_most_all(value: Any, field: Field) -> None:
    """A percentage of at most 100."""
    if isinstance(value, str) and (words.percent(value) or 0) > 100:
        field.invalid("", value, _TOO_MUCH)


def amount(value: Any) -> int:
    """The number or the percent; 0 for what is neither."""
    if value is None:
        return 0
    return (words.percent(value) or 0) if isinstance(value, str) else int(value)
