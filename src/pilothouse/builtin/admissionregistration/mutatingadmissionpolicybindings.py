"""Mutating admission policy bindings: where a policy changes what is written, and with what parameters."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.admissionregistration import matching, policies
from pilothouse.machinery.rules import at, rules
from pilothouse.registry.behaviour import Behaviour

behaviour: Final = Behaviour(
    defaults=policies.fill_binding,
    validate=rules(*policies.binding_rules, at("spec.matchResources", matching.no_deletes)),
)
