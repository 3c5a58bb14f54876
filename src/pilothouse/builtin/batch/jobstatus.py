"""The status of a job is checked hard: a job finishes once, and in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.builtin.batch.indexes import BadIndexes, count_indexes, first_common
from pilothouse.builtin.batch.jobpolicies import PACKAGE
from pilothouse.builtin.shared.counts import not_negative_counts
from pilothouse.builtin.shared.internals import internal
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
        for index, uid in field.numbered(value.get(kind) or ()):
            path = f"uncountedTerminatedPods.{kind}[{index}]"
            if not uid:
                field.invalid(path, uid, "must not be empty")
            elif uid in seen:
                field.duplicate(path, uid)
            else:
                seen.add(uid)


def _changed(name: str, new: Object, old: Object) -> bool:
    return not same(new.get(name), old.get(name))


def _turned(new: Object, old: Object, *kinds: str) -> bool:
    """Whether one of the conditions came or went."""
    return any(_is(new, kind) != _is(old, kind) for kind in kinds)


def _completion(new: Object, old: Object, field: Field) -> None:
    done, time, start = _is(new, "Complete"), new.get("completionTime"), new.get("startTime")
    if done and _is(new, "Failed") and _turned(new, old, "Complete", "Failed"):
        field.wrong("conditions", "cannot set Complete=True and Failed=true conditions")
    if done and _is(new, "FailureTarget") and _turned(new, old, "Complete", "FailureTarget"):
        field.wrong("conditions", "cannot set Complete=True and FailureTarget=true conditions")
    moved = _changed("completionTime", new, old)
    if moved or _turned(new, old, "Complete"):
        if time is not None and not done:
            why = "cannot set completionTime when there is no Complete=True condition"
            field.invalid("completionTime", time, why)
        if time is None and done:
            field.required("completionTime", "completionTime is required for Complete jobs")
    if time is not None and start is not None and (moved or _changed("startTime", new, old)) and time < start:
        field.invalid("completionTime", time, "completionTime cannot be set before startTime")


def _criteria(new: Object, old: Object, field: Field) -> None:
    if _is(new, "Failed") and not _is(new, "FailureTarget") and _turned(new, old, "Failed", "FailureTarget"):
        field.wrong("conditions", "cannot set Failed=True condition without the FailureTarget=true condition")
    lacking = _is(new, "Complete") and not _is(new, "SuccessCriteriaMet")
    if lacking and _turned(new, old, "Complete", "SuccessCriteriaMet"):
        field.wrong("conditions", "cannot set Complete=True condition without the SuccessCriteriaMet=true condition")


def _finish(new: Object, old: Object, field: Field, spec: Object) -> None:
    """A finished job has started once, and nothing of it is still to be counted."""
    if not _finished(new):
        return
    just = not _finished(old)
    if new.get("active", 0) > 0 and (just or _changed("active", new, old)):
        field.invalid("active", new["active"], "active>0 is invalid for finished job")
    never_run = spec.get("suspend") is True and spec.get("completions") == 0
    if new.get("startTime") is None and (just or _changed("startTime", new, old)) and not never_run:
        field.required("startTime", "startTime is required for finished job")
    uncounted = new.get("uncountedTerminatedPods") or {}
    if uncounted.get("succeeded") or uncounted.get("failed"):
        if just or _changed("uncountedTerminatedPods", new, old):
            shown = internal("UncountedTerminatedPods", uncounted, PACKAGE)
            why = "uncountedTerminatedPods needs to be empty for finished job"
            field.invalid("uncountedTerminatedPods", shown, why)


def _indexes(new: Object, old: Object, field: Field, spec: Object) -> None:
    done, failed, limit = new.get("completedIndexes", ""), new.get("failedIndexes"), spec.get("completions")
    done_moved, failed_moved = (_changed(name, new, old) for name in ("completedIndexes", "failedIndexes"))
    by_index = spec.get("backoffLimitPerIndex") is not None
    if limit is not None and done_moved:
        _readable("completedIndexes", done, limit, field)
    if limit is not None and failed_moved and by_index and failed is not None:
        _readable("failedIndexes", failed, limit, field)
    if done and done_moved and spec.get("completionMode") != "Indexed":
        why = "cannot set non-empty completedIndexes when non-indexed completion mode"
        field.invalid("completedIndexes", done, why)
    if failed is not None and failed_moved and not by_index:
        field.invalid("failedIndexes", failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
    if limit is not None and failed is not None and (done_moved or failed_moved):
        both = first_common(done, failed, limit)
        if both is not None:
            field.invalid("failedIndexes", failed, f"failedIndexes and completedIndexes overlap at index: {both}")


def _readable(name: str, text: str, limit: int, field: Field) -> None:
    try:
        count_indexes(text, limit)
    except BadIndexes as error:
        field.invalid(name, text, f"error parsing {name}: {error}")


def _pods(new: Object, old: Object, field: Field) -> None:
    terminating, ready = new.get("terminating") or 0, new.get("ready") or 0
    if terminating > 0 and _finished(new) and (not _finished(old) or _changed("terminating", new, old)):
        field.invalid("terminating", terminating, "terminating>0 is invalid for finished job")
    if ready > new.get("active", 0) and (_changed("ready", new, old) or _changed("active", new, old)):
        field.invalid("ready", ready, "cannot set more ready pods than active")


def _success(new: Object, field: Field, spec: Object) -> None:
    met = _is(new, "SuccessCriteriaMet")
    if met and _is(new, "Failed"):
        field.wrong("conditions", "cannot set SuccessCriteriaMet=True and Failed=true conditions")
    if met and _is(new, "FailureTarget"):
        field.wrong("conditions", "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
    if spec.get("successPolicy") is not None and not met and _is(new, "Complete"):
        why = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
        field.wrong("conditions", why)


def _change(new: Object, old: Object, field: Field, spec: Object) -> None:
    for kind in ("Failed", "Complete", "FailureTarget"):
        if _is(old, kind) and not _is(new, kind):
            field.wrong("conditions", f"cannot disable the terminal {kind}=True condition")
    if new.get("failed", 0) < old.get("failed", 0):
        field.invalid("failed", new.get("failed", 0), "cannot decrease the failed counter")
    # An indexed job that is as wide as it is long may be made smaller.
    elastic = spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism")
    if not elastic and new.get("succeeded", 0) < old.get("succeeded", 0):
        field.invalid("succeeded", new.get("succeeded", 0), "cannot decrease the succeeded counter")
    before, after = old.get("completionTime"), new.get("completionTime")
    if before is not None and after is not None and after != before:
        field.invalid("completionTime", after, IMMUTABLE)
    if old.get("startTime") is not None and not spec.get("suspend") and new.get("startTime") != old["startTime"]:
        field.invalid("startTime", new.get("startTime"), "field is immutable for unsuspended job once set")
    met, was_met = _is(new, "SuccessCriteriaMet"), _is(old, "SuccessCriteriaMet")
    if was_met and not met:
        field.wrong("conditions", "cannot disable the SuccessCriteriaMet=True condition")
    if _is(old, "Complete") and not was_met and met:
        why = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
        field.wrong("conditions", why)


def job_status(new: Object, field: Field) -> None:
    """For the status. What stays as it was is hardly judged."""
    old: Object = field.old or {}
    spec = field.root.get("spec") or {}
    _counts(new, field)
    _uncounted(new, field)
    _completion(new, old, field)
    _criteria(new, old, field)
    _finish(new, old, field, spec)
    _indexes(new, old, field, spec)
    _pods(new, old, field)
    _success(new, field, spec)
    _change(new, old, field, spec)
