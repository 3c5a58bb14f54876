"""The certificates.k8s.io group."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.columns.cells import NONE, Object, Template, age, items, labels, name, part, row, text
from pilothouse.machinery.times import human_duration

_ENDINGS: Final = frozenset({"Issued", "Denied", "Failed"})


def _requested_duration(obj: Object) -> str:
    seconds = part(obj, "spec").get("expirationSeconds")
    return NONE if seconds is None else human_duration(seconds)


def _condition(obj: Object) -> str:
    status = part(obj, "status")
    kinds = {one.get("type") for one in items(status, "conditions")}
    shown = "Denied" if "Denied" in kinds else "Approved" if "Approved" in kinds else "Pending"
    if "Failed" in kinds:
        shown += ",Failed"
    return f"{shown},Issued" if status.get("certificate") else shown


def _state(obj: Object) -> str:
    shown = "Pending"
    for one in items(part(obj, "status"), "conditions"):
        if (kind := one.get("type")) in _ENDINGS:
            shown = kind
    return shown


ROWS: Final[dict[str, Template]] = {
    "certificatesigningrequests": row(
        name, age, text("spec.signerName", NONE), text("spec.username"), _requested_duration, _condition
    ),
    "clustertrustbundles": row(name, text("spec.signerName", NONE)),
    "podcertificaterequests": row(
        name,
        text("spec.podName"),
        text("spec.serviceAccountName"),
        text("spec.nodeName"),
        text("spec.signerName"),
        _state,
        labels("spec.unverifiedUserAnnotations"),
    ),
}
