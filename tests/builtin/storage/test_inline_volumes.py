"""Volumes that are attached without a PersistentVolume: what their spec may not say."""

from __future__ import annotations

from typing import Any

import pytest
from writes import Kind

CSI = {"driver": "d.example", "volumeHandle": "h"}


def causes(**spec: Any) -> list[tuple[str, str]]:
    inline = {"csi": CSI, "accessModes": ["ReadWriteOnce"], **spec}
    sent = {"attacher": "d.example", "nodeName": "n", "source": {"inlineVolumeSpec": inline}}
    found = Kind("storage.k8s.io", "volumeattachments").causes({"spec": sent})
    return [(path.removeprefix("spec.source.inlineVolumeSpec."), message) for path, message in found]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("capacity", {"storage": "1Gi"}, "may not be specified in the context of inline volumes"),
        ("persistentVolumeReclaimPolicy", "Delete", "may only be Retain in the context of inline volumes"),
        ("nodeAffinity", {}, "may not be specified in the context of inline volumes"),
        ("storageClassName", "fast", "may not be specified in the context of inline volumes"),
        ("volumeMode", "Block", "may not specify volumeMode other than Filesystem in the context of inline volumes"),
    ],
)
def test_what_belongs_to_persistent_volumes_is_forbidden(name: str, value: Any, message: str) -> None:
    assert causes(**{name: value}) == [(name, f"Forbidden: {message}")]


def test_modes_and_sources_are_judged() -> None:
    assert [path for path, _ in causes(accessModes=["Odd"], nfs={"server": "s", "path": "/p"})] == [
        "accessModes",
        "csi",
    ]


def test_what_is_told_of_attaching_is_bounded() -> None:
    attachments = Kind("storage.k8s.io", "volumeattachments")
    spec = {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}
    made, _ = attachments.create({"spec": spec})
    long = {"message": "x" * 1025, "errorCode": -1}
    status = {"attached": False, "attachmentMetadata": {"a": "x" * 262144}, "attachError": long, "detachError": long}
    assert [path for path, _ in attachments.causes({**made, "status": status}, made, "status")] == [
        "status.attachmentMetadata",
        "status.attachError.message",
        "status.attachError.errorCode",
        "status.detachError.message",
        "status.detachError.errorCode",
    ]
    assert attachments.causes({**made, "status": {"attachError": {"message": "x" * 1025}}}, made, "status") == [
        ("status.attachError.message", "Too long: may not be more than 1024 bytes")
    ]
