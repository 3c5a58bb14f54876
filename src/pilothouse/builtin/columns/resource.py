"""The resource.k8s.io group."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.builtin.columns.cells import (
    NONE,
    Object,
    Template,
    age,
    ago,
    condition,
    items,
    name,
    part,
    row,
    since,
    text,
)

_COUNTS: Final = ("totalDevices", "availableDevices", "allocatedDevices", "unavailableDevices")
_ENDINGS: Final = ("Complete", "Failed")


def _claim_state(obj: Object) -> str:
    status = part(obj, "status")
    going = bool(part(obj, "metadata").get("deletionTimestamp"))
    shown = ["deleted"] if going else []
    if status.get("allocation") is not None:
        shown.append("allocated")
        if items(status, "reservedFor"):
            shown.append("reserved")
    elif not going:
        shown.append("pending")
    return ",".join(shown)


def _pool_status(obj: Object) -> list[Any]:
    """Sums over the pools that were reported; nothing but `Pending` before that."""
    head = [name(obj), part(obj, "spec").get("driver") or ""]
    status = obj.get("status")
    if status is None:
        return [*head, NONE, NONE, NONE, NONE, NONE, 0, "Pending", NONE]
    pools = items(status, "pools")
    sums = [str(sum(pool.get(member) or 0 for pool in pools)) for member in _COUNTS]
    errors = str(sum(1 for pool in pools if pool.get("validationError")))
    found = items(status, "conditions")
    ending = next((one for kind in _ENDINGS if (one := condition(found, kind)) and one.get("status") == "True"), {})
    return [
        *head,
        *sums,
        errors,
        status.get("poolCount") or 0,
        ending.get("type") or "Pending",
        ago(ending.get("lastTransitionTime"), NONE),
    ]


ROWS: Final[dict[str, Template]] = {
    "deviceclasses": row(name, age),
    "devicetaintrules": row(
        name,
        text("spec.taint.key"),
        text("spec.taint.value"),
        text("spec.taint.effect"),
        since("spec.taint.timeAdded"),
        age,
    ),
    "resourceclaims": row(name, _claim_state, age),
    "resourceclaimtemplates": row(name, age),
    "resourcepoolstatusrequests": _pool_status,
    "resourceslices": row(name, text("spec.nodeName"), text("spec.driver"), text("spec.pool.name"), age),
}
