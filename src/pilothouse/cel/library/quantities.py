"""Amounts of resources: `500m`, `1Gi`."""

from __future__ import annotations

import re
from typing import Any, Final

from pilothouse.cel import work
from pilothouse.cel.declarations import overload
from pilothouse.cel.values import Fault
from pilothouse.machinery import quantity
from pilothouse.machinery.quantity import Quantity, QuantityError

_DIGITS: Final = 18
_FORM: Final = re.compile(r"[+-]?([0-9]*+)(?:\.([0-9]*+))?([a-zA-Z]*+)(?:[+-]?[0-9]*+)")  # digits are not given back
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


class Amount:
    """A quantity as a value of expressions.

    `exact`: it is kept as a number of 64 bits without a fraction; only such ones count as integers.
    """

    __slots__ = ("exact", "held")

    type_name: Final = "kubernetes.Quantity"

    def __init__(self, held: Quantity, exact: bool) -> None:
        self.held = held
        self.exact = exact

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Amount) and self.held == other.held

    def __hash__(self) -> int:
        return hash(self.held)


def amount_of(text: str) -> Amount:
    """Raises Fault."""
    try:
        return Amount(quantity.parse(text), _exact(text))
    except QuantityError as error:
        raise Fault(str(error)) from None


def _exact(text: str) -> bool:
    found = _FORM.fullmatch(text)
    if found is None:
        return False
    fraction = len((found[2] or "").rstrip("0"))
    digits = len(found[1].lstrip("0")) + fraction
    power = _BINARY.get(found[3])
    if power is not None:
        return not fraction and 14 - digits - int(power * 0.3) >= 0
    scale = _DECIMAL.get(found[3], 0) - fraction
    return digits <= _DIGITS and scale >= 0


def _is_amount(text: str) -> bool:
    try:
        quantity.parse(text)
    except QuantityError:
        return False
    return True


def _is_integer(one: Amount) -> bool:
    return one.exact and one.held.whole and -(2**63) <= one.held.value() < 2**63


def _integer(one: Amount) -> int:
    if not _is_integer(one):
        raise Fault("cannot convert value to integer")
    return one.held.value()


def _held(other: Any) -> Quantity:
    return other.held if isinstance(other, Amount) else quantity.of(other)


def _is_exact(other: Any) -> bool:
    return other.exact if isinstance(other, Amount) else True


def _compare(one: Amount, other: Amount) -> int:
    return (one.held.nanos > other.held.nanos) - (one.held.nanos < other.held.nanos)


def _add(one: Amount, other: Any) -> Amount:
    return Amount(one.held + _held(other), one.exact and _is_exact(other))


def _subtract(one: Amount, other: Any) -> Amount:
    return Amount(one.held - _held(other), one.exact and _is_exact(other))


QUANTITIES: Final = (
    overload("quantity", "(string) -> quantity", amount_of, work=work.traverse(0), guess=work.fixed(1)),
    overload("isQuantity", "(string) -> bool", _is_amount, work=work.traverse(0), guess=work.fixed(1)),
    overload("isInteger", "quantity.() -> bool", _is_integer),
    overload("asInteger", "quantity.() -> int", _integer),
    overload("asApproximateFloat", "quantity.() -> double", lambda one: one.held.nanos / 10**9),
    overload("sign", "(quantity) -> int", lambda one: one.held.sign),
    overload("sign", "quantity.() -> int", lambda one: one.held.sign),
    overload("isGreaterThan", "quantity.(quantity) -> bool", lambda one, other: _compare(one, other) > 0),
    overload("isLessThan", "quantity.(quantity) -> bool", lambda one, other: _compare(one, other) < 0),
    overload("compareTo", "quantity.(quantity) -> int", _compare),
    overload("add", "quantity.(quantity) -> quantity", _add),
    overload("add", "quantity.(int) -> quantity", _add),
    overload("sub", "quantity.(quantity) -> quantity", _subtract),
    overload("sub", "quantity.(int) -> quantity", _subtract),
)
