"""Numbers that may also be percentages: how many pods may be missing or surplus."""

from __future__ import annotations

import re
from typing import Any, Final

from pilothouse.machinery import names as words
from pilothouse.machinery.digits import whole
from pilothouse.machinery.rules import NOT_NEGATIVE, Field

_PERCENT: Final = re.compile(r"[0-9]+%", re.ASCII)
_TOO_MUCH: Final = "must not be greater than 100%"


def percent(text: str) -> int | None:
    """The number before the `%`; None where the text is no percentage."""
    return whole(text[:-1]) if _PERCENT.fullmatch(text) else None


def portion(value: Any, field: Field) -> None:
    """A number of at least 0, or a percentage."""
    if isinstance(value, str):
        if percent(value) is None:
            field.invalid("", value, words.PERCENT_TEXT)
    elif value < 0:
        field.invalid("", value, NOT_NEGATIVE)


def at_most_all(value: Any, field: Field) -> None:
    """A percentage of at most 100."""
    if isinstance(value, str) and (percent(value) or 0) > 100:
        field.invalid("", value, _TOO_MUCH)


def amount(value: Any) -> int:
    """The number or the percent; 0 for what is neither."""
    if value is None:
        return 0
    return (percent(value) or 0) if isinstance(value, str) else int(value)
