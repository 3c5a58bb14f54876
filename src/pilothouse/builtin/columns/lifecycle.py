"""The lifecycle.k8s.io group (off by default)."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.builtin.columns.cells import (
    NONE,
    Object,
    Template,
    age,
    ago,
    is_true,
    items,
    name,
    part,
    row,
    text,
)

_ENDINGS: Final = ("TargetEvicted", "Failed")


def _target(obj: Object) -> str:
    return part(part(part(obj, "spec"), "target"), "pod").get("name") or NONE


def _target_type(obj: Object) -> str:
    return "Pod" if part(part(obj, "spec"), "target").get("pod") is not None else NONE


def _status(obj: Object) -> str:
    found = items(part(obj, "status"), "conditions")
    return next((ending for ending in _ENDINGS if is_true(found, ending)), "Pending")


def _eviction(obj: Object) -> list[Any]:
    status = part(obj, "status")
    active = _named(items(status, "targetResponders"), lambda one: bool(one.get("state") == "Active"))
    responder = active.get("name")
    report = _named(items(status, "responders"), lambda one: bool(responder and one.get("name") == responder))
    return [
        name(obj),
        _target(obj),
        _target_type(obj),
        _status(obj),
        responder or NONE,
        _report(report),
        ago(report.get("expectedCompletionTime"), NONE),
        ",".join([one.get("name") or "" for one in items(status, "requesters")]) or NONE,
        age(obj),
        ago(report.get("heartbeatTime"), NONE),
        report.get("message") or NONE,
    ]


def _named(found: list[Object], wanted: Any) -> Object:
    return next((one for one in found if wanted(one)), {})


def _report(report: Object) -> str:
    if report.get("completionTime"):
        return "Completed"
    return "Started" if report.get("startTime") else NONE


ROWS: Final[dict[str, Template]] = {
    "evictionrequests": row(name, _target, _target_type, _status, text("spec.requester"), text("spec.intent"), age),
    "evictions": _eviction,
}
