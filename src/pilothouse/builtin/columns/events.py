"""Events: core ones and those of events.k8s.io are the same objects under other names."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.builtin.columns.cells import UNKNOWN, Object, Template, ago, name, part


def cells(obj: Object) -> list[Any]:
    """Last seen, type, reason, object, subobject, source, message, first seen, count, name."""
    about = obj.get("involvedObject") or part(obj, "regarding")
    series = obj.get("series")
    first = ago(obj.get("firstTimestamp") or obj.get("deprecatedFirstTimestamp") or obj.get("eventTime"))
    last = ago(obj.get("lastTimestamp") or obj.get("deprecatedLastTimestamp"))
    times = obj.get("count") or obj.get("deprecatedCount") or 1
    if last == UNKNOWN:
        last = first
    if series is not None:
        last = ago(series.get("lastObservedTime"))
        times = series.get("count") or 0
    return [
        last,
        obj.get("type") or "",
        obj.get("reason") or "",
        _target(about),
        about.get("fieldPath") or "",
        _source(obj),
        (obj.get("message") or obj.get("note") or "").strip(),
        first,
        times,
        name(obj),
    ]


def _target(about: Object) -> str:
    kind = (about.get("kind") or "").lower()
    found = about.get("name")
    return f"{kind}/{found}" if found else kind


def _source(obj: Object) -> str:
    source = obj.get("source") or part(obj, "deprecatedSource")
    component = source.get("component") or obj.get("reportingComponent") or obj.get("reportingController") or ""
    instance = source.get("host") or obj.get("reportingInstance")
    return f"{component}, {instance}" if instance else component


ROWS: Final[dict[str, Template]] = {"events": cells}
