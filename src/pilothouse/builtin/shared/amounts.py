"""Quantities, as defaults and validation need them: exact integers to compare, rounding, and a check of many kinds."""

from __future__ import annotations

from typing import Final

from pilothouse.kit.memo import remembered
from pilothouse.kit.runs import RUN, doubtful
from pilothouse.machinery import quantity
from pilothouse.machinery.quantitylists import are_coarse
from pilothouse.machinery.rules import NOT_NEGATIVE, Field

NANO: Final = 1_000_000_000
_MILLI: Final = 1_000_000  # in billionths


def nanos(text: str) -> int:
    """The amount in billionths. The decoder has read it before, so it can be read."""
    return quantity.parse(text).nanos


def units(text: str) -> int:
    """Whole units, rounded away from zero."""
    return quantity.parse(text).value()


def is_whole(text: str) -> bool:
    return quantity.parse(text).nanos % NANO == 0


def equal(one: str | None, other: str | None) -> bool:
    """Whether two amounts are the same, however they are written."""
    if one is None or other is None:
        return one is other
    return one == other or nanos(one) == nanos(other)


@remembered(4096)
def rounded(text: str) -> str:
    """An amount as resource lists keep it: in thousandths at the finest, rounded up; other texts stay."""
    amount = quantity.parse(text)
    return str(amount.rounded_up(-3)) if amount.nanos % _MILLI else text


def round_amounts(amounts: dict[str, str]) -> None:
    """In place, for a resource list."""
    if len(amounts) > RUN:
        names = list(amounts)
        for index, amount in doubtful(list(amounts.values()), are_coarse):
            amounts[names[index]] = rounded(amount)
        return
    for name, amount in amounts.items():
        kept = rounded(amount)
        if kept is not amount:
            amounts[name] = kept


def not_negative_amount(value: str, field: Field) -> None:
    if nanos(value) < 0:
        field.invalid("", value, NOT_NEGATIVE)
