"""Priority level configurations: how much of the server a class of requests may use, and what happens to the rest."""

from __future__ import annotations

import math
from typing import Final

from pilothouse.builtin.flowcontrol.conditions import unique_conditions
from pilothouse.builtin.shared.fields import inside, when_null, when_zero
from pilothouse.builtin.shared.internals import internal
from pilothouse.machinery.rules import Field, at, between, defaults, one_of, required, rules
from pilothouse.registry.behaviour import Behaviour, Object, Part

_PACKAGE: Final = "k8s.io/api/flowcontrol/v1"
_TYPES: Final = ("Exempt", "Limited")
_RESPONSES: Final = ("Queue", "Reject")
_MOST_QUEUES: Final = 10_000_000
_MOST_ENTROPY: Final = 60  # bits
_OLD_ANNOTATION: Final = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
_CATCH_ALL: Final = {
    "type": "Limited",
    "limited": {"nominalConcurrencyShares": 5, "limitResponse": {"type": "Reject"}, "lendablePercent": 0},
}

_fill = defaults(
    {
        "spec.limited": when_null({"nominalConcurrencyShares": 30, "lendablePercent": 0}),
        "spec.limited.limitResponse.queuing": when_zero({"handSize": 8, "queues": 64, "queueLengthLimit": 50}),
        "spec.exempt": when_null({"nominalConcurrencyShares": 0, "lendablePercent": 0}),
    }
)


def _no_old_annotation(value: Object, field: Field) -> None:
    if _OLD_ANNOTATION in (value["metadata"].get("annotations") or {}):
        field.forbidden("metadata.annotations", f"annotation '{_OLD_ANNOTATION}' is forbidden")


def _exempt_by_name(value: Object, field: Field) -> None:
    kind = value["spec"].get("type", "")
    if (kind == "Exempt") != (value["metadata"].get("name") == "exempt"):
        if kind in _TYPES:
            field.invalid("spec.type", kind, "must be 'Exempt' if and only if `name` is 'exempt'")


def _known_type(value: str, field: Field) -> None:
    if value and value not in _TYPES:
        field.not_supported("", value, _TYPES)


def _mandatory(value: Object, field: Field) -> None:
    name, spec = value["metadata"].get("name", ""), value["spec"]
    if name == "exempt" and {**spec, "exempt": None} != {"type": "Exempt", "exempt": None}:
        why = f"spec of '{name}' except the 'spec.exempt' field must equal the fixed value"
    elif name == "catch-all" and spec != _CATCH_ALL:
        why = f"spec of '{name}' must equal the fixed value"
    else:
        return
    field.invalid("spec", internal("PriorityLevelConfigurationSpec", spec, _PACKAGE), why)


def _shares(value: int, field: Field) -> None:
    if value < 0:
        field.invalid("", value, "must be a non-negative integer")


def _borrowing(value: int, field: Field) -> None:
    if value < 0:
        field.invalid("", value, "if specified, must be a non-negative integer")


def _hand(queues: int, hand: int) -> str:
    """What is wrong with so many cards of a deck of so many."""
    if hand <= 0:
        return "must be positive"
    if hand > queues:
        return f"should not be greater than queues ({queues})"
    if math.ceil(math.log2(queues) * hand) > _MOST_ENTROPY:
        return (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater than {_MOST_ENTROPY}"
        )
    return ""


def _queuing(value: Object, field: Field) -> None:
    length, queues, hand = (value.get(name, 0) for name in ("queueLengthLimit", "queues", "handSize"))
    if length <= 0:
        field.invalid("queueLengthLimit", length, "must be positive")
    if queues <= 0:
        field.invalid("queues", queues, "must be positive")
    elif queues > _MOST_QUEUES:
        field.invalid("queues", queues, f"must not be greater than {_MOST_QUEUES}")
    why = _hand(queues, hand)
    if why:
        field.invalid("handSize", hand, why)


_exempt_rules: Final = inside(
    at("nominalConcurrencyShares", _shares),
    at("lendablePercent", between(0, 100)),
)
_limited_rules: Final = inside(
    at("nominalConcurrencyShares", _shares),
    at("lendablePercent", between(0, 100)),
    at("borrowingLimitPercent", _borrowing),
)


def _by_type(value: Object, field: Field) -> None:
    """The part that belongs to the type is judged, other parts are refused."""
    kind, exempt, limited = value.get("type", ""), value.get("exempt"), value.get("limited")
    if kind == "Exempt" and exempt is not None:
        field.within("exempt", _exempt_rules, exempt)
    elif kind == "Limited" and limited is not None:
        field.within("limited", _limited_rules, limited)
        response = limited.get("limitResponse") or {}
        if response.get("type") == "Queue" and response.get("queuing") is not None:
            field.within("limited.limitResponse.queuing", _queuing, response["queuing"])


def _parts(value: Object, field: Field) -> None:
    kind, limited = value.get("type", ""), value.get("limited")
    if kind != "Exempt" and value.get("exempt") is not None:
        field.forbidden("exempt")
    if kind != "Limited" and limited is not None:
        field.forbidden("limited")
    if kind == "Limited" and limited is None:
        field.required("limited")


def _response(value: Object, field: Field) -> None:
    kind, queuing = value.get("type", ""), value.get("queuing")
    if kind == "Queue" and queuing is None:
        field.required("queuing")
    elif kind != "Queue" and queuing is not None:
        field.forbidden("queuing")


def _response_type(value: Object, field: Field) -> None:
    if field.root["spec"].get("type") == "Limited":
        at("type", required, one_of(*_RESPONSES))(value, field)


behaviour: Final = Behaviour(
    defaults=_fill,
    validate=rules(
        _no_old_annotation,
        _exempt_by_name,
        _mandatory,
        at("spec.type", _known_type),
        at("spec", _by_type),
        at("spec", _parts),
        at("spec.type", required),
        at("spec.limited.limitResponse", _response_type),
        at("spec.limited.limitResponse", _response),
    ),
    parts={"status": Part(validate=rules(at("status.conditions", unique_conditions)))},
)
