"""HorizontalPodAutoscalers, as autoscaling/v2 has them: what is filled in, what is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.autoscaling.metrics import metric, scale_target
from pilothouse.builtin.shared.amounts import nanos
from pilothouse.builtin.shared.counts import not_negative_counts
from pilothouse.builtin.shared.fields import sent_empty
from pilothouse.builtin.shared.prepared import fresh_status
from pilothouse.machinery.rules import NOT_NEGATIVE, Field, Rule, at, defaults, each, rules
from pilothouse.registry.behaviour import Behaviour, Part

_SELECT: Final = ("Disabled", "Max", "Min")
_DIRECTIONS: Final = ("scaleUp", "scaleDown")
_POLICIES: Final = ("Percent", "Pods")
_MAX_WINDOW: Final = 3600
_MAX_PERIOD: Final = 1800
_UP: Final = (
    {"type": "Pods", "value": 4, "periodSeconds": 15},
    {"type": "Percent", "value": 100, "periodSeconds": 15},
)
_DOWN: Final = ({"type": "Percent", "value": 100, "periodSeconds": 15},)

Object = Mapping[str, Any]


def _behavior(value: dict[str, Any]) -> None:
    """A behaviour that says something about one direction gets the usual rules of the other."""
    up = value.setdefault("scaleUp", {})
    up.setdefault("stabilizationWindowSeconds", 0)
    down = value.setdefault("scaleDown", {})
    for rules_, usual in ((up, _UP), (down, _DOWN)):
        rules_.setdefault("selectPolicy", "Max")
        if rules_.get("policies") is None:
            rules_["policies"] = [dict(one) for one in usual]


def _metrics(spec: dict[str, Any]) -> None:
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]


_fill: Final = defaults({"spec.minReplicas": 1, "spec": _metrics, "spec.behavior": _behavior})


def _bounds(spec: Object, field: Field) -> None:
    least, most = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    if least is not None and least < 0:
        field.invalid("minReplicas", least, NOT_NEGATIVE)
    if least is not None and most < least:
        field.invalid("maxReplicas", most, "must be greater than or equal to `minReplicas`")


def _is_old_controller(value: Object) -> bool:
    return value.get("kind") == "ReplicationController" and value.get("apiVersion", "") in ("", "v1")


def _group(value: Object, field: Field) -> None:
    """What is scaled needs an API group, but for replication controllers."""
    version = value.get("apiVersion", "")
    group, slash, rest = version.partition("/")
    if "/" in rest:
        field.invalid("apiVersion", version, f"unexpected GroupVersion string: {version}")
    elif (slash and not group) or (not slash and not _is_old_controller(value)):
        field.invalid("apiVersion", version, "apiVersion must specify API group")


def _scale_to_zero(spec: Object, field: Field) -> None:
    kinds = {one.get("type") for one in spec.get("metrics") or ()}
    if spec.get("minReplicas") == 0 and not kinds & {"Object", "External"}:
        why = "must specify at least one Object or External metric to support scaling to zero replicas"
        field.forbidden("metrics", why)


def _policy(value: Object, field: Field) -> None:
    kind, amount, period = value.get("type", ""), value.get("value", 0), value.get("periodSeconds", 0)
    if kind not in _POLICIES:
        field.not_supported("type", kind, _POLICIES)
    if amount <= 0:
        field.invalid("value", amount, "must be greater than zero")
    if period <= 0:
        field.invalid("periodSeconds", period, "must be greater than zero")
    elif period > _MAX_PERIOD:
        field.invalid("periodSeconds", period, f"must be less than or equal to {_MAX_PERIOD}")


def _direction(name: str) -> Rule:
    """Rules for one direction. Policies that were sent as an empty list are not the usual ones."""

    def run(value: Object, field: Field) -> None:
        _scaling(value, field, [] if sent_empty(field, _policies(name)) else value.get("policies"))

    return run


def _policies(direction: str) -> str:
    return f"spec.behavior.{direction}.policies"


def _scaling(value: Object, field: Field, policies: Sequence[Object] | None) -> None:
    window, select = value.get("stabilizationWindowSeconds"), value.get("selectPolicy")
    if window is not None:
        if window < 0:
            field.invalid("stabilizationWindowSeconds", window, "must be greater than or equal to zero")
        elif window > _MAX_WINDOW:
            why = f"must be less than or equal to {_MAX_WINDOW}"
            field.invalid("stabilizationWindowSeconds", window, why)
    if select is not None and select not in _SELECT:
        field.not_supported("selectPolicy", select, _SELECT)
    if not policies:
        field.required("policies", "must specify at least one Policy")
    field.each("policies", _policy, policies)
    tolerance = value.get("tolerance")
    if tolerance is not None and nanos(tolerance) < 0:
        field.invalid("tolerance", tolerance, NOT_NEGATIVE)


def _declared(spec: Object, field: Field) -> None:
    if not spec.get("maxReplicas"):
        field.required("maxReplicas")


_validate: Final = rules(
    at(
        "spec",
        _bounds,
        at("scaleTargetRef", scale_target, _group),
        at("metrics", each(metric)),
        _scale_to_zero,
        at("behavior", *(at(name, _direction(name)) for name in _DIRECTIONS)),
        _declared,
    )
)
_status: Final = rules(at("status", not_negative_counts("currentReplicas", "desiredReplicas")))

behaviour = Behaviour(
    defaults=_fill,
    heeds_empty=tuple(_policies(name) for name in _DIRECTIONS),
    prepare=fresh_status({"desiredReplicas": 0, "currentMetrics": None}),
    validate=_validate,
    parts={"status": Part(validate=_status)},
)
