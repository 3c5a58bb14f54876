"""A Scale is checked as its parent is: its name, its uid, and how new it must be."""

from __future__ import annotations

from typing import Any

import pytest

from endpoints.served import Served

MERGE = "application/merge-patch+json"
META = "g=meta.k8s.io;v=v1"
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "d"},
    "spec": {"replicas": 3, "selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE},
}


@pytest.fixture
def parent(served: Served, place: str) -> str:
    """The path of a deployment."""
    where = place.replace("/api/v1", "/apis/apps/v1") + "/deployments"
    served.make(where, DEPLOYMENT)
    return f"{where}/d"


def test_a_patch_renames_nothing(served: Served, parent: str) -> None:
    refused = served.ask(f"PATCH {parent}/scale", {"metadata": {"name": "other"}}, MERGE)
    assert (refused.status, refused.message) == (
        400, "the name of the object (other) does not match the name on the URL (d)",
    )  # fmt: skip
    moved = served.ask(f"PATCH {parent}/scale", {"metadata": {"namespace": "other"}}, MERGE)
    assert (moved.status, "namespace of the provided object" in moved.message) == (400, True)


def test_another_uid_is_a_conflict(served: Served, parent: str) -> None:
    uid = served.ask(f"GET {parent}").json()["metadata"]["uid"]
    why = f"Precondition failed: UID in precondition: x, UID in object meta: {uid}"
    patched = served.ask(f"PATCH {parent}/scale", {"metadata": {"uid": "x"}}, MERGE)
    assert (patched.status, patched.message) == (
        409, f'Operation cannot be fulfilled on deployments/scale.apps "d": {why}',
    )  # fmt: skip
    put = served.ask(f"PUT {parent}/scale", {"metadata": {"name": "d", "uid": "x"}, "spec": {"replicas": 1}})
    assert put.status == 409
    assert put.message.startswith('Operation cannot be fulfilled on deployments.apps "d": StorageError')
    assert (
        served.ask(f"PUT {parent}/scale", {"metadata": {"name": "d", "uid": uid}, "spec": {"replicas": 1}}).status
        == 200
    )


def test_it_is_read_at_a_version(served: Served, parent: str) -> None:
    assert served.ask(f"GET {parent}/scale?resourceVersion=0").json()["spec"] == {"replicas": 3}
    wrong = served.ask(f"GET {parent}/scale?resourceVersion=x")
    assert (wrong.status, "invalid syntax" in wrong.message) == (500, True)


@pytest.mark.parametrize("kind", ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"])
def test_its_metadata_can_be_had_alone(served: Served, parent: str, kind: str) -> None:
    found = served.ask(f"GET {parent}/scale", headers={"Accept": f"{kind};as=PartialObjectMetadata;{META}"})
    assert (found.status, b"PartialObjectMetadata" in found.body, b"replicas" in found.body) == (200, True, False)
