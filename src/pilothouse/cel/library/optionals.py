"""Values that may not be there."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.cel.declarations import overload
from pilothouse.cel.operators import optional_index
from pilothouse.cel.values import NONE, Duration, Optional


def of_non_zero(value: Any) -> Optional:
    if isinstance(value, Duration):
        return Optional(value) if value.nanos else NONE
    return Optional(value) if value is not None and value not in (False, 0, "", b"", [], {}) else NONE


def _or(one: Optional, other: Optional) -> Optional:
    return one if one.there else other


def _or_value(one: Optional, other: Any) -> Any:
    return one.held if one.there else other


def _there(items: list[Optional]) -> list[Any]:
    return [item.held for item in items if item.there]


OPTIONALS: Final = (
    overload("optional.of", "(A) -> optional(A)", Optional, sure=True),
    overload("optional.none", "() -> optional(A)", lambda: NONE, sure=True),
    overload("optional.ofNonZeroValue", "(A) -> optional(A)", of_non_zero),
    overload("optional.unwrap", "(list(optional(A))) -> list(A)", _there),
    overload("unwrapOpt", "list(optional(A)).() -> list(A)", _there),
    overload("hasValue", "optional(A).() -> bool", lambda one: one.there, inline="{0}.there"),
    overload("value", "optional(A).() -> A", Optional.value),
    overload("or", "optional(A).(optional(A)) -> optional(A)", _or),
    overload("orValue", "optional(A).(A) -> A", _or_value),
    overload("_[_]", "(optional(list(A)), int) -> optional(A)", optional_index),
    overload("_[_]", "(optional(map(A, B)), A) -> optional(B)", optional_index),
    overload("_[?_]", "(list(A), int) -> optional(A)", optional_index),
    overload("_[?_]", "(optional(list(A)), int) -> optional(A)", optional_index),
    overload("_[?_]", "(map(A, B), A) -> optional(B)", optional_index),
    overload("_[?_]", "(optional(map(A, B)), A) -> optional(B)", optional_index),
)
