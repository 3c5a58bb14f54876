"""Cluster roles: what may be done in all namespaces, and outside of them."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.rbac.rolerules import policy_rules, rules_have_verbs
from pilothouse.builtin.shared.selectors import is_valid, label_selector
from pilothouse.machinery.rules import Field, at, rules
from pilothouse.registry.behaviour import Behaviour, Object


def _selector(value: Object, field: Field) -> None:
    label_selector(value, field)
    if not is_valid(value):
        field.invalid("", None, "invalid label selector.")


def _aggregation(value: Object, field: Field) -> None:
    selectors = value.get("clusterRoleSelectors")
    if not selectors:
        why = "at least one clusterRoleSelector required if aggregationRule is non-nil"
        field.required("clusterRoleSelectors", why)
    field.each("clusterRoleSelectors", _selector, selectors)


behaviour: Final = Behaviour(
    validate=rules(
        at("rules", policy_rules(namespaced=False)),
        at("aggregationRule", _aggregation),
        at("rules", rules_have_verbs),
    )
)
