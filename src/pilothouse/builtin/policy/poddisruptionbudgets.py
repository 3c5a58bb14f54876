"""PodDisruptionBudgets: at most one bound, and a selector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.builtin.shared.conditions import conditions
from pilothouse.builtin.shared.counts import not_negative_counts
from pilothouse.builtin.shared.internals import internal
from pilothouse.builtin.shared.portions import at_most_all, portion
from pilothouse.builtin.shared.prepared import fresh_status
from pilothouse.builtin.shared.selectors import label_selector
from pilothouse.machinery.rules import Field, at, one_of, rules
from pilothouse.registry.behaviour import Behaviour, Part

PACKAGE: Final = "k8s.io/api/policy/v1"


def _one_bound(spec: Mapping[str, Any], field: Field) -> None:
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        shown = internal("PodDisruptionBudgetSpec", spec, PACKAGE)
        field.invalid("", shown, "minAvailable and maxUnavailable cannot be both set")


_validate: Final = rules(
    at(
        "spec",
        _one_bound,
        at("minAvailable", portion, at_most_all),
        at("maxUnavailable", portion, at_most_all),
        at("selector", label_selector),
        at("unhealthyPodEvictionPolicy", one_of("AlwaysAllow", "IfHealthyBudget")),
    )
)

_status: Final = rules(
    at(
        "status",
        at("conditions", conditions),
        not_negative_counts("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"),
    )
)

behaviour = Behaviour(
    prepare=fresh_status({"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}),
    validate=_validate,
    parts={"status": Part(validate=_status)},
)
