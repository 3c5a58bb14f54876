"""Discovery of the built-in kinds is what a real server tells, document by document."""

from __future__ import annotations

import base64
import json
import pathlib
from typing import Any

import pytest

from pilothouse.builtin import facts
from pilothouse.builtin.published import discovery_groups, discovery_package, served_by_default
from pilothouse.builtin.types import builtin_types
from pilothouse.discovery import documents
from pilothouse.discovery.model import STALE, Group, Resource, Subresource, Version
from pilothouse.discovery.version import version_info
from pilothouse.machinery import protobuf

RECORDED = pathlib.Path(__file__).resolve().parents[3] / "shared/facts"
GROUPS = discovery_groups(facts.groups(), facts.load(), served_by_default)
ALL = discovery_groups(facts.groups(), facts.load(), lambda resource: True)


def recorded(name: str) -> Any:
    path = RECORDED / name
    if not path.exists():
        pytest.skip("no recorded answers beside the checkout")
    return json.loads(path.read_text())


def same(ours: Any, theirs: Any) -> None:
    """Equal with the order of members."""
    assert json.dumps(ours, indent=1) == json.dumps(theirs, indent=1)


def test_the_core_group_says_where_to_connect() -> None:
    same(documents.api_versions(GROUPS[0], "127.0.0.1:7743"), recorded("discovery/api.json"))


def test_groups_come_in_the_order_of_their_priority() -> None:
    same(documents.group_list(GROUPS[1:]), recorded("discovery/apis.json"))


@pytest.mark.parametrize("group", GROUPS[1:], ids=lambda group: group.name)
def test_each_group_has_a_document(group: Group) -> None:
    same(documents.group_document(group), recorded(f"discovery/apis.{group.name}.json"))


@pytest.mark.parametrize(
    ("group", "version"),
    [(group.name, version) for group in GROUPS for version in group.versions],
    ids=lambda part: part if isinstance(part, str) else part.name,
)
def test_each_version_lists_its_resources(group: str, version: Version) -> None:
    name = f"apis.{group}.{version.name}" if group else f"api.{version.name}"
    same(documents.resource_list(group, version), recorded(f"discovery/{name}.json"))


def test_versions_that_are_off_by_default_are_described_too() -> None:
    told = recorded("discovery-all.json")["resources"]
    ours = {
        f"{group.name}/{version.name}": documents.resource_list(group.name, version)["resources"]
        for group in ALL
        for version in group.versions
        if version not in next((default.versions for default in GROUPS if default.name == group.name), ())
    }
    assert ours.keys() == told.keys()
    for name, resources in told.items():
        same(ours[name], resources)


def test_all_groups_and_versions_are_ordered_as_the_original_orders_them() -> None:
    same(documents.group_list(ALL[1:])["groups"], recorded("discovery-all.json")["groups"])


def test_the_aggregated_documents_nest_subresources_in_their_resource() -> None:
    same(documents.aggregated(GROUPS[:1]), recorded("discovery/aggregated.api.v2.json"))
    same(documents.aggregated(GROUPS[1:]), recorded("discovery/aggregated.apis.v2.json"))


def test_the_aggregated_etag_is_that_of_the_original() -> None:
    recorded("discovery/api.json")
    assert documents.etag(documents.aggregated(GROUPS[:1])).startswith(
        '"4D7E1BED90B364BC86049DD9E636494980AEF65B7F8CFAA2'
    )
    assert documents.etag(documents.aggregated(GROUPS[1:])).startswith('"C1F1010597FE58AB064')


def test_a_custom_resource_keeps_the_order_of_its_verbs_and_parts() -> None:
    scale = Subresource("scale", "Scale", ("get", "patch", "update"), "autoscaling", "v1")
    status = Subresource("status", "Boat", ("get", "patch", "update"), "example.com", "v1")
    boats = Resource(
        name="boats",
        singular="boat",
        kind="Boat",
        namespaced=True,
        verbs=("delete", "get", "create"),
        short_names=("bo",),
        categories=("all",),
        subresources=(status, scale),
        kind_group="example.com",
        kind_version="v1",
    )
    listed = documents.resource_list("example.com", Version("v1", (boats,)))
    assert [entry["name"] for entry in listed["resources"]] == ["boats", "boats/status", "boats/scale"]
    assert listed["resources"][0]["verbs"] == ["delete", "get", "create"]
    assert "group" not in listed["resources"][0] and "group" not in listed["resources"][1]
    assert (listed["resources"][2]["group"], listed["resources"][2]["version"]) == ("autoscaling", "v1")
    (item,) = documents.aggregated([Group("example.com", (Version("v1", (boats,)),))])["items"]
    shown = item["versions"][0]["resources"][0]
    assert shown["responseKind"] == {"group": "example.com", "version": "v1", "kind": "Boat"}


def test_an_extension_that_does_not_answer_stays_listed_as_stale() -> None:
    (item,) = documents.aggregated([Group("far.example.com", (Version("v1", (), STALE),))])["items"]
    assert item == {
        "metadata": {"name": "far.example.com"},
        "versions": [{"version": "v1", "freshness": "Stale"}],
    }


def test_version_has_the_members_of_the_original_and_its_api_version() -> None:
    ours = version_info(release="pilothouse-0.1.0", compiler="cpython-3.11", platform="linux/amd64").render()
    told = recorded("discovery/version.json")
    shown = json.loads(ours)
    assert list(shown) == list(told)
    for name in ("major", "minor", "emulationMajor", "emulationMinor", "minCompatibilityMajor", "gitVersion"):
        assert shown[name] == told[name]
    assert ours.startswith(b'{\n  "major": "1",\n')
    assert not ours.endswith(b"\n")


def test_the_documents_in_protobuf_are_the_recorded_bytes() -> None:
    cases = {case["name"]: case["response"] for case in recorded("wire/protobuf-requests.json")["cases"]}
    by_name = {group.name: group for group in GROUPS}
    leases = by_name["coordination.k8s.io"]
    made = {
        "discovery-versions": documents.api_versions(GROUPS[0], "127.0.0.1:6443"),
        "discovery-groups": documents.group_document(by_name["batch"]),
        "discovery-core": documents.resource_list(leases.name, leases.versions[0]),
        "discovery-aggregated": documents.aggregated(GROUPS[:1]),
    }
    for name, document in made.items():
        kind, version = document.pop("kind"), document.pop("apiVersion", "")
        message = protobuf.encode_message(builtin_types().get(discovery_package(kind), kind), document)
        assert protobuf.wrap(version, kind, message) == base64.b64decode(cases[name]["body_b64"]), name
