"""The scheduling.k8s.io group."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.columns.cells import (
    NONE,
    Object,
    Template,
    age,
    flag,
    is_true,
    items,
    name,
    number,
    part,
    row,
    text,
)


def _policy(obj: Object) -> str:
    policy = part(part(obj, "spec"), "schedulingPolicy")
    return "Gang" if policy.get("gang") is not None else "Basic" if policy.get("basic") is not None else NONE


def _group_status(obj: Object) -> str:
    return "Scheduled" if is_true(items(part(obj, "status"), "conditions"), "PodGroupScheduled") else "Pending"


_WORKLOAD: Final = text("spec.workloadRef.workloadName", NONE)

ROWS: Final[dict[str, Template]] = {
    "compositepodgroups": row(name, _policy, _WORKLOAD, age),
    "podgroups": row(name, _policy, _WORKLOAD, _group_status, age),
    "priorityclasses": row(
        name, number("value"), flag("globalDefault"), age, text("preemptionPolicy", "PreemptLowerPriority")
    ),
    "workloads": row(name, age),
}
