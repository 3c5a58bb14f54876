"""The rules of roles: on which resources, or on which paths, what may be done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pilothouse.machinery.rules import Field, Rule, at, each, required
from pilothouse.registry.behaviour import Object

_BOTH = "rules cannot apply to both regular resources and non-resource URLs"


def policy_rules(namespaced: bool) -> Rule:
    """Rules of a role; roles in a namespace have nothing to say about paths."""

    def one_rule(value: Object, field: Field) -> None:
        paths = value.get("nonResourceURLs")
        if paths:
            if namespaced:
                field.invalid("nonResourceURLs", paths, "namespaced rules cannot apply to non-resource URLs")
            if value.get("apiGroups") or value.get("resources") or value.get("resourceNames"):
                field.invalid("nonResourceURLs", paths, _BOTH)
            return
        if not value.get("apiGroups"):
            field.required("apiGroups", "resource rules must supply at least one api group")
        if not value.get("resources"):
            field.required("resources", "resource rules must supply at least one resource")

    def run(value: Sequence[Object], field: Field) -> None:
        field.each("", one_rule, value)

    return run


rules_have_verbs: Final = each(at("verbs", required))
