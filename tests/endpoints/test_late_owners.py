"""Owners of big objects are found out when all is known to be good; nobody sees a difference."""

from __future__ import annotations

from typing import Any

import pytest

from endpoints.served import Served, config_map

MERGE = "application/merge-patch+json"
LONG = "x" * 40_000  # enough to be big


def owned(found: dict[str, Any]) -> dict[str, Any]:
    """What each manager owns."""
    return {entry["manager"]: entry["fieldsV1"] for entry in found["metadata"]["managedFields"]}


def test_a_big_patch_has_the_owners_that_small_ones_have(served: Served, place: str) -> None:
    for name, filling in (("small", "x"), ("big", LONG)):
        served.make(f"{place}/configmaps?fieldManager=maker", {**config_map(name), "data": {"a": "1", "b": "1"}})
        patch = {"metadata": {"labels": {"l": "v"}}, "data": {"b": "2", "c": filling}}
        served.ask(f"PATCH {place}/configmaps/{name}?fieldManager=changer", patch, MERGE)
        served.ask(f"PATCH {place}/configmaps/{name}?fieldManager=changer", patch, MERGE)
    small, big = (served.ask(f"GET {place}/configmaps/{name}").json() for name in ("small", "big"))
    assert owned(big) == owned(small) != {}
    assert owned(big)["changer"]["f:data"] == {"f:b": {}, "f:c": {}}
    assert big["data"]["c"] == LONG
    assert "f:b" not in owned(big)["maker"]["f:data"]


@pytest.mark.parametrize("sent", ["none", "the same", "others", "reset"])
@pytest.mark.parametrize("part", ["", "/status"])
def test_a_big_update_has_the_owners_that_small_ones_have(served: Served, place: str, sent: str, part: str) -> None:
    for name, filling in (("small", "x"), ("big", LONG)):
        pod = {"metadata": {"name": name, "labels": {"a": "1"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        served.make(f"{place}/pods?fieldManager=maker", pod)
        found = served.ask(f"GET {place}/pods/{name}").json()
        found["metadata"]["annotations"] = {"b": filling}
        found["metadata"]["labels"] = {"a": "2"}
        found["spec"]["containers"][0]["image"] = "j"
        found["status"]["message"] = "m"
        entries = found["metadata"].pop("managedFields")
        if sent != "none":
            others = [{**entries[0], "manager": "other"}]
            found["metadata"]["managedFields"] = {"the same": entries, "others": others, "reset": [{}]}[sent]
        assert served.ask(f"PUT {place}/pods/{name}{part}?fieldManager=changer", found).status == 200
    small, big = (served.ask(f"GET {place}/pods/{name}").json() for name in ("small", "big"))
    assert ("managedFields" in small["metadata"]) == (sent != "reset" or bool(part))
    if sent != "reset" or part:
        assert owned(big) == owned(small) != {}
        assert ("f:status" in owned(big)["changer"]) == bool(part)
        assert ("f:spec" in owned(big)["changer"]) == (not part)
    else:
        assert "managedFields" not in big["metadata"]


@pytest.mark.parametrize("sent", ["none", "others", "reset"])
def test_a_big_object_that_a_put_makes_has_the_owners_that_small_ones_have(
    served: Served, place: str, sent: str
) -> None:
    others = [{"manager": "other", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}}]
    entries = {"none": {}, "others": {"managedFields": others}, "reset": {"managedFields": []}}[sent]
    roles = place.replace("/api/v1/", "/apis/rbac.authorization.k8s.io/v1/") + "/roles"
    for name, filling in (("small", "x"), ("big", LONG)):
        role = {"metadata": {"name": name, "annotations": {"b": filling}, **entries}, "rules": []}
        assert served.ask(f"PUT {roles}/{name}?fieldManager=maker", role).status == 201
    small, big = (served.ask(f"GET {roles}/{name}").json() for name in ("small", "big"))
    assert owned(big) == owned(small) != {}


def test_so_has_a_big_configuration_in_another_version_than_that_which_is_stored(served: Served, place: str) -> None:
    scalers = place.replace("/api/v1/", "/apis/autoscaling/v1/") + "/horizontalpodautoscalers"
    for name, filling in (("small", "x"), ("big", LONG)):
        for replicas in (2, 3):
            target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
            config = {
                "apiVersion": "autoscaling/v1",
                "kind": "HorizontalPodAutoscaler",
                "metadata": {"name": name, "annotations": {"b": filling}},
                "spec": {"scaleTargetRef": target, "maxReplicas": replicas, "targetCPUUtilizationPercentage": 50},
            }
            answer = served.ask(f"PATCH {scalers}/{name}?fieldManager=m", config, "application/apply-patch+yaml")
            assert answer.status == {2: 201, 3: 200}[replicas]
    small, big = (served.ask(f"GET {scalers}/{name}").json() for name in ("small", "big"))
    assert owned(big) == owned(small) != {}
    assert "f:targetCPUUtilizationPercentage" in owned(big)["m"]["f:spec"]


def test_what_an_endpoint_resets_has_no_owner(served: Served, place: str) -> None:
    for name, filling in (("small", "x"), ("big", LONG)):
        pod = {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        served.make(f"{place}/pods?fieldManager=maker", pod)
        patch = {"metadata": {"annotations": {"a": filling}}, "status": {"message": "m"}}
        assert served.ask(f"PATCH {place}/pods/{name}?fieldManager=changer", patch, MERGE).status == 200
    small, big = (served.ask(f"GET {place}/pods/{name}").json() for name in ("small", "big"))
    assert owned(big) == owned(small)
    assert "f:status" not in owned(big)["changer"]
    assert "message" not in big["status"]


def test_owners_that_were_sent_count(served: Served, place: str) -> None:
    served.make(f"{place}/configmaps?fieldManager=maker", config_map("c"))
    patch = {"metadata": {"managedFields": [{}]}, "data": {"c": LONG}}
    assert served.ask(f"PATCH {place}/configmaps/c?fieldManager=changer", patch, MERGE).status == 200
    assert "managedFields" not in served.ask(f"GET {place}/configmaps/c").json()["metadata"]


def test_a_big_configuration_has_the_owners_that_small_ones_have(served: Served, place: str) -> None:
    for name, filling in (("small", "x"), ("big", LONG)):
        served.make(f"{place}/configmaps?fieldManager=maker", {**config_map(name), "data": {"a": "1", "b": "1"}})
        first = applied(config_map(name, b="1", c=filling), f"{place}/configmaps/{name}", "applier", served)
        assert owned(first)["maker"]["f:data"] == {".": {}, "f:a": {}, "f:b": {}}
        applied(config_map(name, c=filling, d="x"), f"{place}/configmaps/{name}", "applier", served)
    small, big = (served.ask(f"GET {place}/configmaps/{name}").json() for name in ("small", "big"))
    assert owned(big) == owned(small)
    assert owned(big)["applier"] == {"f:data": {"f:c": {}, "f:d": {}}}
    assert big["data"] == {"a": "1", "b": "1", "c": LONG, "d": "x"}


def test_what_admission_puts_into_a_big_configuration_is_nobodys(served: Served, place: str) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}], "tolerations": [{"key": "k", "operator": "Exists"}]}
    for name, filling in (("small", "x"), ("big", LONG)):
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "annotations": {"a": filling}},
            "spec": spec,
        }
        applied(pod, f"{place}/pods/{name}", "applier", served)
    small, big = (served.ask(f"GET {place}/pods/{name}").json() for name in ("small", "big"))
    assert owned(big) == owned(small)
    assert len(big["spec"]["tolerations"]) == 3
    assert owned(big)["applier"]["f:spec"]["f:tolerations"] == {}


def test_a_configuration_that_is_as_it_was_changes_nothing(served: Served, place: str) -> None:
    path = f"{place}/configmaps/c"
    first = applied(config_map("c", a=LONG), path, "applier", served)
    assert applied(config_map("c", a=LONG), path, "applier", served) == first


def applied(config: dict[str, Any], path: str, manager: str, served: Served) -> dict[str, Any]:
    found = served.ask(f"PATCH {path}?fieldManager={manager}", config, "application/apply-patch+yaml")
    assert found.status in (200, 201), found.body
    made: dict[str, Any] = found.json()
    return made
