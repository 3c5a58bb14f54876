"""Metrics of autoscaling/v1, which are kept as JSON in an annotation, and of v2: the same facts in other words."""

from __future__ import annotations

from typing import Any, Final

Object = dict[str, Any]
ZERO: Final = "0"

# Name of a source in a metric -> (member of the v1 source, path in the v2 source), in the order of the v1 type.
# What ends in "!" is always shown in v1, with its zero value.
_SPEC: Final = {
    "object": (
        ("target!", "describedObject"), ("metricName!", "metric.name"), ("targetValue!", "target.value"),
        ("selector", "metric.selector"), ("averageValue", "target.averageValue"),
    ),
    "pods": (
        ("metricName!", "metric.name"), ("targetAverageValue!", "target.averageValue"), ("selector", "metric.selector"),
    ),
    "resource": (
        ("name!", "name"), ("targetAverageUtilization", "target.averageUtilization"),
        ("targetAverageValue", "target.averageValue"),
    ),
    "containerResource": (
        ("name!", "name"), ("targetAverageUtilization", "target.averageUtilization"),
        ("targetAverageValue", "target.averageValue"), ("container!", "container"),
    ),
    "external": (
        ("metricName!", "metric.name"), ("metricSelector", "metric.selector"), ("targetValue", "target.value"),
        ("targetAverageValue", "target.averageValue"),
    ),
}  # fmt: skip
_STATUS: Final = {
    "object": (
        ("target!", "describedObject"), ("metricName!", "metric.name"), ("currentValue!", "current.value"),
        ("selector", "metric.selector"), ("averageValue", "current.averageValue"),
    ),
    "pods": (
        ("metricName!", "metric.name"), ("currentAverageValue!", "current.averageValue"),
        ("selector", "metric.selector"),
    ),
    "resource": (
        ("name!", "name"), ("currentAverageUtilization", "current.averageUtilization"),
        ("currentAverageValue!", "current.averageValue"),
    ),
    "containerResource": (
        ("name!", "name"), ("currentAverageUtilization", "current.averageUtilization"),
        ("currentAverageValue!", "current.averageValue"), ("container!", "container"),
    ),
    "external": (
        ("metricName!", "metric.name"), ("metricSelector", "metric.selector"), ("currentValue!", "current.value"),
        ("currentAverageValue", "current.averageValue"),
    ),
}  # fmt: skip
_ZEROS: Final[dict[str, Any]] = {"metricName": "", "name": "", "container": ""}
_REFERENCE: Final = ("kind", "name", "apiVersion")
# Which of its amounts says what type a target is of, first found first.
_TARGET_TYPES: Final = (("averageUtilization", "Utilization"), ("averageValue", "AverageValue"), ("value", "Value"))
Forms = dict[str, tuple[tuple[str, str], ...]]


def spec_to_v1(metrics: list[Object]) -> list[Object]:
    return [_old(metric, _SPEC) for metric in metrics]


def status_to_v1(metrics: list[Object]) -> list[Object]:
    return [_old(metric, _STATUS) for metric in metrics]


def spec_to_v2(metrics: list[Object]) -> list[Object]:
    """`metrics` are of their v1 type already."""
    made = [_new(metric, _SPEC) for metric in metrics]
    for metric in made:
        for source in metric.values():
            if isinstance(source, dict):
                _finish_target(source)
    return made


def status_to_v2(metrics: list[Object]) -> list[Object]:
    return [_new(metric, _STATUS) for metric in metrics]


def _old(metric: Object, forms: Forms) -> Object:
    made: Object = {"type": metric.get("type", "")}
    for source, rows in forms.items():
        if metric.get(source) is not None:
            made[source] = _old_source(metric[source], rows)
    return made


def _old_source(source: Object, rows: tuple[tuple[str, str], ...]) -> Object:
    made: Object = {}
    for shown, path in rows:
        name = shown.rstrip("!")
        found: Any = source
        for part in path.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        if name == "target":
            found = {key: found[key] for key in _REFERENCE if key in found} if found else {"kind": "", "name": ""}
        if found is None and shown.endswith("!"):
            found = _ZEROS.get(name, ZERO)
        if found is not None:
            made[name] = found
    return made


def _new(metric: Object, forms: Forms) -> Object:
    made: Object = {"type": metric.get("type", "")}
    for source, rows in forms.items():
        if metric.get(source) is not None:
            made[source] = _new_source(metric[source], rows)
    return made


def _new_source(source: Object, rows: tuple[tuple[str, str], ...]) -> Object:
    made: Object = {}
    for shown, path in rows:
        found = source.get(shown.rstrip("!"))
        if found is None or _stands_in(found, shown, source):
            continue
        head, _, rest = path.partition(".")
        if rest:
            made.setdefault(head, {})[rest] = found
        else:
            made[head] = found
    return made


def _stands_in(found: Any, shown: str, source: Object) -> bool:
    """Whether an amount is only the zero that v1 shows beside the amount that counts."""
    if not shown.endswith("Value!") or found != ZERO:
        return False
    return any(
        source.get(other) is not None for other in ("averageValue", "currentAverageValue") if other != shown.rstrip("!")
    )


def _finish_target(source: Object) -> None:
    """A v2 target says of which type it is."""
    amounts = source.get("target") or {}
    kind = next((kind for name, kind in _TARGET_TYPES if name in amounts), "AverageValue")
    source["target"] = {"type": kind, **amounts}
