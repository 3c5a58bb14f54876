"""Metrics of horizontal pod autoscalers: what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.builtin.shared.amounts import nanos
from pilothouse.builtin.shared.selectors import label_selector
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import POSITIVE, Field, Rule

TYPES: Final = ("ContainerResource", "External", "Object", "Pods", "Resource")
_EITHER: Final = "must set either a target raw value or a target utilization"
_NOT_BOTH: Final = "may not set both a target raw value and a target utilization"
_TARGETS: Final = ("Utilization", "Value", "AverageValue")

Object = Mapping[str, Any]


def _target(value: Object, field: Field) -> None:
    kind = value.get("type", "")
    if not kind:
        field.required("type", "must specify a metric target type")
    elif kind not in _TARGETS:
        field.invalid("type", kind, "must be either Utilization, Value, or AverageValue")
    amount = value.get("value")
    if amount is not None and nanos(amount) <= 0:
        field.invalid("value", amount, "must be positive")
    amount = value.get("averageValue")
    if amount is not None and nanos(amount) <= 0:
        field.invalid("averageValue", amount, "must be positive")
    share = value.get("averageUtilization")
    if share is not None and share < 1:
        field.invalid("averageUtilization", share, POSITIVE)


def _metric(value: Object, field: Field) -> None:
    name = value.get("name", "")
    if not name:
        field.required("name", "must specify a metric name")
    else:
        field.all_invalid("name", name, words.path_segment(name))
    if value.get("selector") is not None:
        field.within("selector", label_selector, value["selector"])


def _resource(value: Object, field: Field) -> None:
    target = value.get("target") or {}
    if not value.get("name"):
        field.required("name", "must specify a resource name")
    field.within("target", _target, target)
    if target.get("averageUtilization") is None and target.get("averageValue") is None:
        field.required("target.averageUtilization", _EITHER)
    if target.get("averageUtilization") is not None and target.get("averageValue") is not None:
        field.forbidden("target.averageValue", _NOT_BOTH)


def _container_resource(value: Object, field: Field) -> None:
    if not value.get("container"):
        field.required("container", "must specify a container")
    _resource(value, field)


def _pods(value: Object, field: Field) -> None:
    target = value.get("target") or {}
    field.within("metric", _metric, value.get("metric") or {})
    field.within("target", _target, target)
    if target.get("averageValue") is None:
        field.required("target.averageValue", "must specify a positive target averageValue")


def _object(value: Object, field: Field) -> None:
    target = value.get("target") or {}
    field.within("describedObject", scale_target, value.get("describedObject") or {})
    field.within("metric", _metric, value.get("metric") or {})
    field.within("target", _target, target)
    if target.get("value") is None and target.get("averageValue") is None:
        field.required("target.averageValue", "must set either a target value or averageValue")


def _external(value: Object, field: Field) -> None:
    target = value.get("target") or {}
    field.within("metric", _metric, value.get("metric") or {})
    field.within("target", _target, target)
    if target.get("value") is None and target.get("averageValue") is None:
        field.required("target.averageValue", "must set either a target value for metric or a per-pod target")
    if target.get("value") is not None and target.get("averageValue") is not None:
        field.forbidden("target.value", "may not set both a target value for metric and a per-pod target")


def scale_target(value: Object, field: Field) -> None:
    """A reference to another object by kind and name."""
    for name in ("kind", "name"):
        text = value.get(name, "")
        if not text:
            field.required(name)
        else:
            field.all_invalid(name, text, words.path_segment(text))


# In the order in which the original looks at them.
_SOURCES: Final[dict[str, tuple[str, Rule]]] = {
    "Object": ("object", _object),
    "External": ("external", _external),
    "Pods": ("pods", _pods),
    "Resource": ("resource", _resource),
    "ContainerResource": ("containerResource", _container_resource),
}


def metric(value: Object, field: Field) -> None:
    """One metric: of a known type, with the source of that type and no other."""
    kind = value.get("type", "")
    if not kind:
        field.required("type", "must specify a metric source type")
    if kind not in _SOURCES:
        field.not_supported("type", kind, TYPES)
    present = [name for name, _ in _SOURCES.values() if value.get(name) is not None]
    if present:  # the first alone is judged, whatever the type says
        rule = next(rule for name, rule in _SOURCES.values() if name == present[0])
        field.within(present[0], rule, value[present[0]])
    own = _SOURCES[kind][0] if kind in _SOURCES else ""
    if own and own not in present:
        field.required(own, "must populate information for the given metric source")
    if len(present) > 1:
        for other in sorted(present):
            if other != own:
                field.forbidden(other, "must populate the given metric source only")
