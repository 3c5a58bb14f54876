"""The storage.k8s.io group."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.columns.cells import (
    NONE,
    UNSET,
    Object,
    Template,
    age,
    count,
    created,
    flag,
    joined,
    name,
    name_or_default,
    part,
    row,
    text,
)


def _token_requests(obj: Object) -> str:
    requests = part(obj, "spec").get("tokenRequests")
    return UNSET if requests is None else ",".join([one.get("audience") or "" for one in requests])


ROWS: Final[dict[str, Template]] = {
    "csidrivers": row(
        name,
        flag("spec.attachRequired", True),
        flag("spec.podInfoOnMount"),
        flag("spec.storageCapacity"),
        _token_requests,
        flag("spec.requiresRepublish"),
        joined("spec.volumeLifecycleModes", NONE),
        age,
    ),
    "csinodes": row(name, count("spec.drivers"), age),
    "csistoragecapacities": row(name, created),
    "storageclasses": row(
        name_or_default(
            "storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"
        ),
        text("provisioner"),
        text("reclaimPolicy", "Delete"),
        text("volumeBindingMode", "Immediate"),
        flag("allowVolumeExpansion"),
        age,
    ),
    "volumeattachments": row(
        name,
        text("spec.attacher"),
        text("spec.source.persistentVolumeName"),
        text("spec.nodeName"),
        flag("status.attached"),
        age,
    ),
    "volumeattributesclasses": row(
        name_or_default("volumeattributesclass.alpha.kubernetes.io/is-default-class"), text("driverName"), age
    ),
}
