"""CronJobs: what is filled in, what is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.batch.jobspec import job_spec, job_warnings
from pilothouse.builtin.batch.schedules import BadSchedule, check_schedule, time_zones
from pilothouse.builtin.shared.poddefaults import template_defaults
from pilothouse.builtin.shared.podgates import drop_closed
from pilothouse.builtin.shared.podwarnings import name_warning
from pilothouse.builtin.shared.templates import another_spec, respecified
from pilothouse.machinery.rules import Field, at, defaults, not_negative, one_of, required, rules
from pilothouse.registry.behaviour import Behaviour, Context, Object

_ZONE_PART: Final = re.compile(r"[A-Za-z._0-9+][A-Za-z._0-9+-]{0,13}", re.ASCII)
_IN_SCHEDULE: Final = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
_ZONE_IN_SCHEDULE: Final = (
    "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)
_EXPLICIT: Final = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"

_fill: Final = defaults(
    {
        "spec.concurrencyPolicy": "Allow",
        "spec.suspend": False,
        "spec.successfulJobsHistoryLimit": 3,
        "spec.failedJobsHistoryLimit": 1,
        "spec.jobTemplate.spec.template": template_defaults,
    }
)


def _schedule(value: str, field: Field) -> None:
    if not value or (field.updating and value == field.old):
        return
    try:
        check_schedule(value)
    except BadSchedule as error:
        field.invalid("", value, str(error))
    if "TZ" in value:
        field.invalid("", value, _IN_SCHEDULE)


def _time_zone(value: str, field: Field) -> None:
    if field.updating and value == field.old:
        return
    if not value:
        field.invalid("", value, "timeZone must be nil or non-empty string")
        return
    if not all(_ZONE_PART.fullmatch(part) and part not in (".", "..") for part in value.split("/")):
        field.invalid("", value, f"unknown time zone {value}")
        return
    if value.lower() == "local":
        field.invalid("", value, _EXPLICIT)
    if value not in ("UTC", "Local") and value not in time_zones():
        field.invalid("", value, f"unknown time zone {value}")


def _template(value: Mapping[str, Any], field: Field) -> None:
    spec = value.get("spec") or {}
    field.within("spec", job_spec, spec)
    if spec.get("selector") is not None:
        field.invalid("spec.selector", spec["selector"], "`selector` will be auto-generated")
    if spec.get("manualSelector"):
        field.not_supported("spec.manualSelector", True, ("nil", "false"))


def _pods(thing: Object | None) -> Object:
    spec = ((thing or {}).get("spec") or {}).get("jobTemplate") or {}
    found: Object = (spec.get("spec") or {}).get("template") or {}
    return found


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    drop_closed(_pods(new), _pods(old))
    if old is None:
        new["status"] = {}


def _warn(new: Object, old: Object | None) -> Sequence[str]:
    found = list(name_warning(new, of_pods=True)) if old is None else []
    spec = new.get("spec") or {}
    if respecified(new, old):
        found += job_warnings("spec.jobTemplate.spec", (spec.get("jobTemplate") or {}).get("spec") or {})
    if "TZ" in spec.get("schedule", ""):
        found.append(_ZONE_IN_SCHEDULE)
    return found


_validate: Final = rules(
    at(
        "spec",
        at("schedule", _schedule),
        at("startingDeadlineSeconds", not_negative),
        at("timeZone", _time_zone),
        at("concurrencyPolicy", required, one_of("Allow", "Forbid", "Replace")),
        at("jobTemplate", _template),
        at("successfulJobsHistoryLimit", not_negative),
        at("failedJobsHistoryLimit", not_negative),
        at("schedule", required),
    )
)

behaviour = Behaviour(defaults=_fill, prepare=_prepare, validate=_validate, warn=_warn, generation=another_spec)
