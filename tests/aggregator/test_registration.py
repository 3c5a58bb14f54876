"""API services of the groups that this server serves itself: made at start, kept, taken over, removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pilothouse.aggregator.autoregister import wanted_custom
from pilothouse.discovery.model import Group, Resource, Version

from .support import APISERVICES, conditions, front, run

MERGE = "application/merge-patch+json"
SHARED = Path(__file__).parents[3] / "shared" / "facts" / "apiservices.json"
MAPS = Resource("maps", "map", "Map", True, ("get", "list"))


def custom(group: str, *versions: str) -> list[Group]:
    return [Group(group, tuple(Version(version, (MAPS,)) for version in versions))]


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="the recorded facts are not here")
def test_a_new_server_has_the_api_services_of_the_original(tmp_path: Path) -> None:
    async def scenario() -> None:
        recorded = {one["name"]: one for one in json.loads(SHARED.read_bytes())}
        async with front(tmp_path) as here:
            found = {one["metadata"]["name"]: one for one in (await here.get(APISERVICES))["items"]}
            assert found.keys() == recorded.keys()
            for name, one in found.items():
                wanted, spec = recorded[name], one["spec"]
                assert one["metadata"]["labels"] == wanted["labels"]
                for field in ("group", "version", "groupPriorityMinimum", "versionPriority"):
                    assert spec.get(field) == wanted[field], name
                shown = [{**condition, "lastTransitionTime": None} for condition in conditions(one)]
                assert shown == [{**condition, "lastTransitionTime": None} for condition in wanted["conditions"]]

    run(scenario)


def test_those_made_at_start_are_left_alone_afterwards(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here:
            patch = {"spec": {"versionPriority": 99}}
            await here.call("PATCH", f"{APISERVICES}/v1.apps", patch, Content_Type=MERGE)
            await here.call("DELETE", f"{APISERVICES}/v1.batch")
            await here.until("/apis", lambda status, body: "batch" not in [group["name"] for group in body["groups"]])
            assert (await here.get(f"{APISERVICES}/v1.apps"))["spec"]["versionPriority"] == 99
            assert not await here.exists(f"{APISERVICES}/v1.batch")
            assert await here.exists("/apis/batch/v1/jobs")  # it is only not listed

    run(scenario)


def test_those_of_definitions_are_kept_as_they_should_be(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here:
            aggregator = here.application.front.aggregator
            group = "c.example.com"
            path = f"{APISERVICES}/v1.{group}"
            aggregator.serve_local("custom", custom(group, "v1", "v2"), wanted_custom([(group, "v1"), (group, "v2")]))
            made = await here.until(path, lambda status, body: status == 200)
            assert made["metadata"]["labels"] == {"kube-aggregator.kubernetes.io/automanaged": "true"}
            assert made["spec"] == {
                "group": group,
                "version": "v1",
                "groupPriorityMinimum": 1000,
                "versionPriority": 100,
            }
            await here.call("PATCH", path, {"spec": {"groupPriorityMinimum": 5}}, Content_Type=MERGE)
            await here.until(path, lambda status, body: body["spec"]["groupPriorityMinimum"] == 1000)
            await here.call("DELETE", path)
            again = await here.until(path, lambda status, body: status == 200)
            assert again["metadata"]["uid"] != made["metadata"]["uid"]
            aggregator.serve_local("custom", custom(group, "v2"), wanted_custom([(group, "v2")]))
            await here.until(path, lambda status, body: status == 404)
            assert await here.exists(f"{APISERVICES}/v2.{group}")

    run(scenario)


def test_one_that_was_taken_over_is_nobody_elses(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here:
            aggregator = here.application.front.aggregator
            path = f"{APISERVICES}/v1.c.example.com"
            wanted = wanted_custom([("c.example.com", "v1")])
            aggregator.serve_local("custom", custom("c.example.com", "v1"), wanted)
            await here.until(path, lambda status, body: status == 200)
            mine = {"metadata": {"labels": None}, "spec": {"groupPriorityMinimum": 7}}
            await here.call("PATCH", path, mine, Content_Type=MERGE)
            for other in ("d.example.com", "e.example.com"):  # when the second is there, the first was looked at
                aggregator.serve_local("custom", custom(other, "v1"), wanted_custom([(other, "v1")]))
                await here.until(f"{APISERVICES}/v1.{other}", lambda status, body: status == 200)
            assert (await here.get(path))["spec"]["groupPriorityMinimum"] == 7

    run(scenario)


def test_a_local_one_is_available_though_nothing_is_behind_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here:
            spec = {"group": "l.example.com", "version": "v1", "groupPriorityMinimum": 900, "versionPriority": 10}
            name = "v1.l.example.com"
            obj = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": name}}
            await here.make(APISERVICES, {**obj, "spec": spec})
            await here.condition(name, "Local")
            listed = await here.until("/apis/l.example.com", lambda status, body: status == 200)
            assert [version["version"] for version in listed["versions"]] == ["v1"]
            assert (await here.call("GET", "/apis/l.example.com/v1"))[::2] == (404, b"404 page not found\n")

    run(scenario)
