"""The status of a job is checked hard: a job finishes once, and in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.builtin.batch.indexes import BadIndexes, count_indexes
from pilothouse.builtin.shared.counts import not_negative_counts
from pilothouse.builtin.shared.same import same
from pilothouse.machinery.rules import IMMUTABLE, Field

_counts: Final = not_negative_counts("active", "succeeded", "failed", "ready", "terminating")

Object = Mapping[str, Any]


def _is(status: Object, kind: str) -> bool:
    return any(one.get("type") == kind and one.get("status") == "True" for one in status.get("conditions") or ())


def _finished(status: Object) -> bool:
    return _is(status, "Complete") or _is(status, "Failed")


def _uncounted(status: Object, field: Field) -> None:
    value = status.get("uncountedTerminatedPods") or {}
    seen: set[str] = set()
    for kind in ("succeeded", "failed"):
        for index, uid in enumerate(value.get(kind) or ()):
            path = f"uncountedTerminatedPods.{kind}[{index}]"
            if not uid:
                field.invalid(path, uid, "must not be empty")
            elif uid in seen:
                field.duplicate(path, uid)
            seen.add(uid)


def _completion(new: Object, field: Field) -> None:
    done, time = _is(new, "Complete"), new.get("completionTime")
    if done and _is(new, "Failed"):
        field.wrong("conditions", "cannot set Complete=True and Failed=true conditions")
    if done and time is None:
        field.required("completionTime", "completionTime is required for Complete jobs")
    if done and _is(new, "FailureTarget"):
        field.wrong("conditions", "cannot set Complete=True and FailureTarget=true conditions")
    if time is not None and not done:
        why = "cannot set completionTime when there is no Complete=True condition"
        field.invalid("completionTime", time, why)


def _indexes(new: Object, field: Field, spec: Object) -> None:
    done, failed = new.get("completedIndexes", ""), new.get("failedIndexes")
    indexed, limit = spec.get("completionMode") == "Indexed", spec.get("completions") or 0
    if done and not indexed:
        field.invalid(
            "completedIndexes", done, "cannot set non-empty completedIndexes when non-indexed completion mode"
        )
    if failed is not None and spec.get("backoffLimitPerIndex") is None:
        field.invalid("failedIndexes", failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
    if not indexed:
        return
    for name, text in (("completedIndexes", done), ("failedIndexes", failed)):
        try:
            count_indexes(text or "", limit)
        except BadIndexes as error:
            field.invalid(name, text, f"error parsing {name}: {error}")


def _criteria(new: Object, field: Field) -> None:
    if _is(new, "Failed") and not _is(new, "FailureTarget"):
        field.wrong("conditions", "cannot set Failed=True condition without the FailureTarget=true condition")
    if _is(new, "Complete") and not _is(new, "SuccessCriteriaMet"):
        field.wrong("conditions", "cannot set Complete=True condition without the SuccessCriteriaMet=true condition")


def _at_rest(new: Object, field: Field) -> None:
    """A finished job has started once and has no pods left."""
    if _finished(new):
        if new.get("active", 0) > 0:
            field.invalid("active", new["active"], "active>0 is invalid for finished job")
        if (new.get("terminating") or 0) > 0:
            field.invalid("terminating", new["terminating"], "terminating>0 is invalid for finished job")
        if new.get("startTime") is None:
            field.required("startTime", "startTime is required for finished job")
        uncounted = new.get("uncountedTerminatedPods") or {}
        if uncounted.get("succeeded") or uncounted.get("failed"):
            why = "uncountedTerminatedPods needs to be empty for finished job"
            field.invalid("uncountedTerminatedPods", dict(uncounted), why)
    if (new.get("ready") or 0) > new.get("active", 0):
        field.invalid("ready", new.get("ready"), "cannot set more ready pods than active")


def _change(new: Object, old: Object, field: Field, spec: Object) -> None:
    for kind in ("Complete", "Failed"):
        if _is(old, kind) and not _is(new, kind):
            field.wrong("conditions", f"cannot disable the terminal {kind}=True condition")
    if _is(old, "FailureTarget") and not _is(new, "FailureTarget"):
        field.wrong("conditions", "cannot disable the FailureTarget=True condition")
    for name in ("failed", "succeeded"):
        indexed = spec.get("completionMode") == "Indexed" and name == "succeeded"
        if not indexed and new.get(name, 0) < old.get(name, 0):
            field.invalid(name, new.get(name, 0), f"cannot decrease the {name} counter")
    if old.get("completionTime") is not None and new.get("completionTime") != old["completionTime"]:
        field.invalid("completionTime", new.get("completionTime"), IMMUTABLE)
    if old.get("startTime") is not None and not spec.get("suspend"):
        if new.get("startTime") is None:
            field.required("startTime", "startTime cannot be removed for unsuspended job")
        elif new["startTime"] != old["startTime"]:
            field.required("startTime", "startTime cannot be updated for unsuspended job")
    if _is(old, "SuccessCriteriaMet") and not _is(new, "SuccessCriteriaMet"):
        field.wrong("conditions", "cannot disable the SuccessCriteriaMet=True condition")


def job_status(new: Object, field: Field) -> None:
    """For the status; a status that is as it was is not judged."""
    old: Object = field.old or {}
    spec = field.root.get("spec") or {}
    _counts(new, field)
    _uncounted(new, field)
    if same(new, old):
        return
    rested = _finished(new) != _finished(old) or any(
        new.get(name) != old.get(name) for name in ("active", "ready", "terminating", "startTime")
    )
    _completion(new, field)
    _indexes(new, field, spec)
    if not same(new.get("conditions"), old.get("conditions")):
        _criteria(new, field)
    if rested:
        _at_rest(new, field)
    _change(new, old, field, spec)
