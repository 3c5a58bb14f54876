"""Members of JSON come in the order of the types, in every version."""

from __future__ import annotations

from endpoints.served import Served

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
