"""How a capacity that is shared may be asked for: one of some values, or steps within a range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.builtin.shared.amounts import nanos, units
from pilothouse.machinery.rules import Field, repeated
from pilothouse.registry.behaviour import Object

_BOTH: Final = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'


def request_policy(value: Object, field: Field, capacity: str) -> None:
    """`capacity`: the whole amount that is shared."""
    values, within = value.get("validValues"), value.get("validRange")
    if values and within is not None:
        field.forbidden("", _BOTH)
    elif values:
        _values(value.get("default"), values, capacity, field)
    elif within is not None:
        _range(value.get("default"), within, capacity, field)


def _values(default: str | None, values: Sequence[str], capacity: str, field: Field) -> None:
    if default is None:
        field.required("default", "required when validValues is defined")
        return
    amounts = [nanos(one) for one in values]
    for index, one in field.numbered(values):
        path = f"validValues[{index}]"
        if index and amounts[index] < amounts[index - 1]:
            field.invalid(path, one, "values must be sorted in ascending order")
        if amounts[index] > nanos(capacity):
            field.invalid(path, one, f"option is larger than capacity value: {capacity}")
    for index, _ in field.until_full(repeated(amounts, lambda amount: amount)):
        field.duplicate(f"validValues[{index}]", values[index])
    if nanos(default) not in amounts:
        field.invalid("validValues", default, "default value is not valid according to the requestPolicy")


def _range(default: str | None, value: Object, capacity: str, field: Field) -> None:
    least, most, step = value.get("min"), value.get("max"), value.get("step")
    if default is None:
        field.required("default", "required when validRange is defined")
    if least is None:
        field.required("validRange.min", "required when validRange is defined")
    if default is None or least is None:
        return
    if nanos(least) > nanos(capacity):
        field.invalid("validRange.min", least, f"min is larger than capacity value: {capacity}")
    if nanos(default) < nanos(least) and most is None:
        field.invalid("validRange.default", default, f"default is less than min: {least}")
    if most is not None:
        _most(default, least, most, capacity, field)
    if step is not None:
        _steps((default, most), least, step, capacity, field)


def _most(default: str, least: str, most: str, capacity: str, field: Field) -> None:
    if nanos(least) > nanos(most):
        field.invalid("validRange.max", least, f"min is larger than max: {most}")
    if nanos(most) > nanos(capacity):
        field.invalid("validRange.max", most, f"max is larger than capacity value: {capacity}")
    if nanos(default) < nanos(least):
        field.invalid("validRange.default", default, f"default is less than min: {least}")
    if nanos(default) > nanos(most):
        field.invalid("validRange.default", default, f"default is more than max: {most}")


def _steps(reached: Sequence[Any], least: str, step: str, capacity: str, field: Field) -> None:
    """What must be reached by whole steps from the least. The original counts in whole units here."""
    width, start = units(step), units(least)
    if width <= 0:
        field.invalid("validRange.step", step, "must be greater than zero")
        return
    if start + width > units(capacity):
        why = f"one step {start + width} is larger than capacity value: {capacity}"
        field.invalid("validRange.step", step, why)
    for one in reached:
        if one is not None and (units(one) - start) % width:
            why = f"value is not a multiple of a given step ({step}) from ({least})"
            field.invalid("validRange.step", one, why)
