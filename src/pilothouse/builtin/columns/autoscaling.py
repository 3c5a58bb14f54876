"""The autoscaling group, and Scale, which has rows of its own when a scale subresource is asked for as a Table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pilothouse.builtin.columns.cells import (
    NONE,
    UNKNOWN,
    Object,
    Template,
    age,
    items,
    name,
    number,
    number_text,
    part,
    row,
)

_SHOWN: Final = 2  # metrics, before "+ n more..."


def _reference(obj: Object) -> str:
    target = part(part(obj, "spec"), "scaleTargetRef")
    return f"{target.get('kind') or ''}/{target.get('name') or ''}"


def _pair(spec: Object, current: Object | None, by_average: bool, note: str = "") -> str:
    """`current/target`, as averages or as values."""
    member = "averageValue" if by_average else "value"
    wanted = part(spec, "target").get(member) or "0"
    if current is None:
        return f"{UNKNOWN}/{wanted}{note}"
    found = current.get(member)
    return f"{UNKNOWN if found is None else found}/{wanted}{note}"


def _custom(spec: Object, current: Object | None) -> str:
    by_average = part(spec, "target").get("averageValue") is not None
    return _pair(spec, current, by_average, " (avg)" if by_average else "")


def _of_pods(spec: Object, current: Object | None) -> str:
    return _pair(spec, current, True)


def _of_resource(spec: Object, current: Object | None) -> str:
    target = part(spec, "target")
    shown = f"{spec.get('name') or ''}: "
    if target.get("averageValue") is not None:
        return shown + _pair(spec, current, True)
    found = (current or {}).get("averageUtilization")
    wanted = target.get("averageUtilization")
    left = UNKNOWN if found is None else f"{found}%"
    return f"{shown}{left}/{'<auto>' if wanted is None else f'{wanted}%'}"


# Metric type -> the member that holds it, and how it is shown.
_METRICS: Final[dict[str, tuple[str, Callable[[Object, Object | None], str]]]] = {
    "External": ("external", _custom),
    "Pods": ("pods", _of_pods),
    "Object": ("object", _custom),
    "Resource": ("resource", _of_resource),
    "ContainerResource": ("containerResource", _of_resource),
}


def _targets(obj: Object) -> str:
    specs = items(part(obj, "spec"), "metrics")
    if not specs:
        return NONE
    statuses = items(part(obj, "status"), "currentMetrics")
    shown = [
        _metric(spec, statuses[index] if index < len(statuses) else {}) for index, spec in enumerate(specs[:_SHOWN])
    ]
    text = ", ".join(shown)
    return f"{text} + {len(specs) - _SHOWN} more..." if len(specs) > _SHOWN else text


def _metric(spec: Object, status: Object) -> str:
    known = _METRICS.get(spec.get("type") or "")
    if known is None:
        return "<unknown type>"
    member, shown = known
    found: Any = status.get(member)
    return shown(part(spec, member), part(found, "current") if found else None)


ROWS: Final[dict[str, Template]] = {
    "horizontalpodautoscalers": row(
        name,
        _reference,
        _targets,
        number_text("spec.minReplicas"),
        number("spec.maxReplicas"),
        number("status.currentReplicas"),
        age,
    ),
    "scales": row(name, number("spec.replicas"), number("status.replicas"), age),
}
