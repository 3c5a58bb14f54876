"""Who owns the fields of a big new object is found out late, and is as if it had been at once."""

from __future__ import annotations

from typing import Any

from endpoints.served import Served, config_map

BIG = 40 << 10  # bytes; smaller objects are owned before they are admitted


def owned(made: dict[str, Any]) -> Any:
    (entry,) = made["metadata"]["managedFields"]
    return entry["fieldsV1"]


def test_a_big_object_is_owned_as_a_small_one(served: Served, place: str) -> None:
    small = served.make(f"{place}/configmaps", config_map("small", a="b", c=""))
    big = served.make(f"{place}/configmaps", config_map("big", a="b" * BIG, c=""))
    assert owned(big) == owned(small) == {"f:data": {".": {}, "f:a": {}, "f:c": {}}}
    assert list(big["metadata"]) == list(small["metadata"])


def test_what_admission_adds_belongs_to_nobody(served: Served, place: str) -> None:
    spec = {"containers": [{"name": "c", "image": "i", "args": ["a" * BIG]}], "nodeSelector": {"a": "b"}}
    made = served.make(f"{place}/pods", {"metadata": {"generateName": "big-"}, "spec": spec})
    assert {one["effect"] for one in made["spec"]["tolerations"]} == {"NoExecute"}  # of admission
    fields = owned(made)["f:spec"]
    assert "f:tolerations" not in fields and fields["f:nodeSelector"] == {}
    assert fields["f:containers"]['k:{"name":"c"}']["f:args"] == {}


def test_owners_that_were_sent_count_for_nothing(served: Served, place: str) -> None:
    sent = [
        {"manager": "me", "operation": "Update", "apiVersion": "v1", "fieldsV1": {f"f:{n}": {} for n in range(BIG)}}
    ]
    bare = served.make(f"{place}/configmaps", {"metadata": {"name": "bare", "managedFields": sent}})
    assert "managedFields" not in bare["metadata"]
    obj = config_map("full", a="b" * BIG)
    obj["metadata"]["managedFields"] = sent
    assert owned(served.make(f"{place}/configmaps", obj)) == {"f:data": {".": {}, "f:a": {}}}


def test_a_big_object_of_another_version_is_owned_in_its_own(served: Served, place: str) -> None:
    path = place.replace("/api/v1", "/apis/autoscaling/v1") + "/horizontalpodautoscalers"
    spec = {
        "maxReplicas": 2,
        "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
        "targetCPUUtilizationPercentage": 5,
    }
    made = served.make(path, {"metadata": {"name": "a", "annotations": {"a": "b" * BIG}}, "spec": spec})
    (entry,) = made["metadata"]["managedFields"]
    assert entry["apiVersion"] == "autoscaling/v1"
    assert entry["fieldsV1"]["f:spec"]["f:targetCPUUtilizationPercentage"] == {}
    assert made["metadata"]["annotations"] == {"a": "b" * BIG}
