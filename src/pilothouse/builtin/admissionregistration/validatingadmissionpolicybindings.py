"""Validating admission policy bindings: where a policy holds, with what parameters, and what a failure does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pilothouse.builtin.admissionregistration import policies
from pilothouse.machinery.rules import Field, at, repeated, required, rules
from pilothouse.registry.behaviour import Behaviour

_ACTIONS: Final = ("Audit", "Deny", "Warn")
_BOTH: Final = (
    "must not contain both Deny and Warn (repeating the same validation failure information in the API response and "
    "headers serves no purpose)"
)


def _actions(value: Sequence[str], field: Field) -> None:
    again = {index for index, _ in repeated(value, str)}
    for index, action in field.numbered(value):
        if action not in _ACTIONS:
            field.not_supported(f"[{index}]", action, _ACTIONS)
        if index in again:
            field.duplicate(f"[{index}]", action)
    if "Deny" in value and "Warn" in value:
        field.invalid("", value, _BOTH)


behaviour: Final = Behaviour(
    defaults=policies.fill_binding,
    validate=rules(*policies.binding_rules, at("spec.validationActions", required, _actions)),
)
