"""Deployments: what is filled in, what is refused, what may change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pilothouse.builtin.shared.counts import never_less, not_negative_counts, ready_within_total
from pilothouse.builtin.shared.internals import internal
from pilothouse.builtin.shared.poddefaults import template_defaults
from pilothouse.builtin.shared.podtemplate import selected_template
from pilothouse.builtin.shared.portions import amount, at_most_all, portion
from pilothouse.builtin.shared.selectors import is_empty, label_selector
from pilothouse.builtin.shared.templates import another_spec, prepare_template, template_warnings
from pilothouse.machinery.rules import Field, Rule, at, defaults, given, immutable, not_negative, rules
from pilothouse.registry.behaviour import Behaviour, Part

PACKAGE: Final = "k8s.io/api/apps/v1"


def rolling_update(filled: Mapping[str, Any]) -> Callable[[dict[str, Any]], None]:
    """Defaults inside a strategy of the type RollingUpdate; other types get none."""

    def fill(strategy: dict[str, Any]) -> None:
        if strategy.get("type") == "RollingUpdate":
            strategy["rollingUpdate"] = {**filled, **(strategy.get("rollingUpdate") or {})}

    return fill


_fill: Final = defaults(
    {
        "spec.replicas": 1,
        "spec.template": template_defaults,
        "spec.strategy.type": "RollingUpdate",
        "spec.strategy": rolling_update({"maxUnavailable": "25%", "maxSurge": "25%"}),
        "spec.revisionHistoryLimit": 10,
        "spec.progressDeadlineSeconds": 600,
    }
)


def not_empty_selector(noun: str) -> Rule:
    """An empty selector would select every pod."""

    def run(value: Mapping[str, Any], field: Field) -> None:
        if is_empty(value):
            field.invalid("", value, f"empty selector is invalid for {noun}")

    return run


def _rolling(value: Mapping[str, Any], field: Field) -> None:
    missing, surplus = value.get("maxUnavailable"), value.get("maxSurge")
    field.within("maxUnavailable", portion, missing if missing is not None else 0)
    told = len(field.found)
    field.within("maxSurge", portion, surplus if surplus is not None else 0)
    if len(field.found) == told and amount(missing) == 0 and amount(surplus) == 0:
        field.invalid("maxUnavailable", missing, "may not be 0 when `maxSurge` is 0")
    field.within("maxUnavailable", at_most_all, missing)


def _strategy(value: Mapping[str, Any], field: Field) -> None:
    kind, rolling = value.get("type", ""), value.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            field.forbidden("rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
    elif kind == "RollingUpdate":
        if rolling is None:
            field.required("rollingUpdate", "this should be defaulted and never be nil")
        else:
            field.within("rollingUpdate", _rolling, rolling)
    else:
        shown = internal("DeploymentStrategy", value, PACKAGE)
        field.not_supported("", shown, ("Recreate", "RollingUpdate"))


def _deadline(spec: Mapping[str, Any], field: Field) -> None:
    """The deadline for progress comes after a pod counts as ready."""
    seconds = spec.get("progressDeadlineSeconds")
    if seconds is not None:
        if seconds < 0:
            field.invalid("progressDeadlineSeconds", seconds, "must be greater than or equal to 0")
        if seconds <= spec.get("minReadySeconds", 0):
            field.invalid("progressDeadlineSeconds", seconds, "must be greater than minReadySeconds")


_validate: Final = rules(
    at(
        "spec",
        at("replicas", not_negative),
        at("selector", given, label_selector, not_empty_selector("deployment")),
        selected_template("ReplicaSet"),
        at("strategy", _strategy),
        at("minReadySeconds", not_negative),
        at("revisionHistoryLimit", not_negative),
        _deadline,
        at("selector", immutable),
    )
)

_status: Final = rules(
    at(
        "status",
        not_negative_counts(
            "observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
            "unavailableReplicas", "terminatingReplicas", "collisionCount",
        ),
        ready_within_total("updatedReplicas"),
        never_less("collisionCount", "cannot be decremented"),
    )
)  # fmt: skip

_warn: Final = template_warnings()

behaviour = Behaviour(
    defaults=_fill,
    prepare=prepare_template(),
    validate=_validate,
    warn=_warn,
    generation=another_spec,
    parts={"status": Part(validate=_status), "scale": Part(warn=_warn)},
)
