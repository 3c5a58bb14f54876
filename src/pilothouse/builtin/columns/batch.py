"""The batch group."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.columns.cells import (
    NONE,
    Object,
    Template,
    age,
    containers,
    count,
    flag_text,
    images,
    is_true,
    items,
    moment,
    name,
    part,
    row,
    selector,
    since,
    text,
)
from pilothouse.endpoints.table import Age
from pilothouse.machinery.times import human_duration

_POD: Final = "spec.template.spec"
_JOB: Final = "spec.jobTemplate.spec"
_STATES: Final = ("Suspended", "FailureTarget", "SuccessCriteriaMet")


def _status(obj: Object) -> str:
    found = items(part(obj, "status"), "conditions")
    for ending in ("Complete", "Failed"):
        if is_true(found, ending):
            return ending
    if part(obj, "metadata").get("deletionTimestamp"):
        return "Terminating"
    return next((state for state in _STATES if is_true(found, state)), "Running")


def _completions(obj: Object) -> str:
    spec = part(obj, "spec")
    succeeded = part(obj, "status").get("succeeded") or 0
    wanted = spec.get("completions")
    if wanted is not None:
        return f"{succeeded}/{wanted}"
    parallelism = spec.get("parallelism") or 0
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _duration(obj: Object) -> Age | str:
    status = part(obj, "status")
    start, end = moment(status.get("startTime")), moment(status.get("completionTime"))
    if start is None:
        return ""
    return Age(start) if end is None else human_duration(end - start)


ROWS: Final[dict[str, Template]] = {
    "cronjobs": row(
        name,
        text("spec.schedule"),
        text("spec.timeZone", NONE),
        flag_text("spec.suspend"),
        count("status.active"),
        since("status.lastScheduleTime", NONE),
        age,
        containers(f"{_JOB}.template.spec"),
        images(f"{_JOB}.template.spec"),
        selector(f"{_JOB}.selector"),
    ),
    "jobs": row(name, _status, _completions, _duration, age, containers(_POD), images(_POD), selector("spec.selector")),
}
