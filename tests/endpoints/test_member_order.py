"""Members of JSON come in the order of the types, in every version."""

from __future__ import annotations

import random

import pytest

from endpoints.served import PROTOBUF, Served
from hostile.nasty import enveloped, field

AUTOSCALER = {
    "metadata": {"name": "a", "labels": {"x": "y"}, "annotations": {"a": "b"}},
    "spec": {
        "maxReplicas": 2,
        "behavior": {},
        "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
    },
}


def test_metadata_of_converted_objects_is_in_order(served: Served, place: str) -> None:
    group = place.replace("/api/v1", "/apis/autoscaling/{}") + "/horizontalpodautoscalers"
    made = served.make(group.format("v2"), AUTOSCALER)
    read = {version: served.ask(f"GET {group.format(version)}/a").json() for version in ("v1", "v2")}
    listed = served.ask(f"GET {group.format('v1')}").json()["items"]
    for obj in (made, *read.values(), *listed):
        shown = [name for name in obj["metadata"] if name not in ("generation", "creationTimestamp")]
        assert shown == ["name", "namespace", "uid", "resourceVersion", "labels", "annotations", "managedFields"]


@pytest.mark.parametrize("count", [3, 200, 4000])
def test_maps_that_were_sent_in_disorder_are_kept_by_key(served: Served, place: str, count: int) -> None:
    keys = [f"k{number}" for number in range(count)]
    random.Random(count).shuffle(keys)
    entries = b"".join(field(2, field(1, key.encode()) + field(2, b"v")) for key in keys)
    labels = b"".join(field(11, field(1, key.encode()) + field(2, b"v")) for key in keys)
    body = enveloped("ConfigMap", field(1, field(1, b"m%d" % count) + labels) + entries)
    made = served.ask(f"POST {place}/configmaps", body, PROTOBUF).json()
    entry = made["metadata"]["managedFields"][0]["fieldsV1"]
    for shown in (made["data"], made["metadata"]["labels"]):
        assert list(shown) == sorted(keys)
    for owned in (entry["f:data"], entry["f:metadata"]["f:labels"]):
        assert list(owned) == [".", *sorted(f"f:{key}" for key in keys)]


def test_of_names_in_disorder_the_first_wrong_ones_are_told(served: Served, place: str) -> None:
    keys = [f"k{number}!" for number in range(5000)]
    random.Random(1).shuffle(keys)
    body = enveloped("ConfigMap", field(1, field(1, b"m")) + b"".join(field(2, field(1, key.encode())) for key in keys))
    causes = served.ask(f"POST {place}/configmaps", body, PROTOBUF).json()["details"]["causes"]
    assert [cause["field"] for cause in causes] == [f"data[{key}]" for key in sorted(keys)[: len(causes)]]
