"""How documents of several servers become one, and what of a foreign document is taken."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.aggregator import documents, openapi
from pilothouse.aggregator.apiservice import APIService, ServiceReference, by_group, version_rank
from pilothouse.aggregator.identity import escaped
from pilothouse.aggregator.merge import merge
from pilothouse.discovery.model import STALE, Group, Resource, Version
from pilothouse.openapi.catalog import merge as merge_swagger

FAR = ServiceReference("default", "far", 443)
PODS = Resource("pods", "pod", "Pod", True, ("get",))


def service(group: str, version: str, priority: int, among: int = 10, *, far: bool = True) -> APIService:
    return APIService(f"{version}.{group}", group, version, priority, among, FAR if far else None)


def test_groups_and_versions_go_by_priority() -> None:
    services = [
        service("b", "v1", 19000),
        service("a", "v1beta1", 10, 20),
        service("a", "v2", 19000, 20),
        service("a", "v10", 5, 20),
        service("a", "v1alpha1", 5, 30),
        service("", "v1", 18000, far=False),
    ]
    local = [Group("", (Version("v1", (PODS,)),)), Group("apiregistration.k8s.io", (Version("v1", ()),))]
    merged = merge(services, local, {})
    assert [group.name for group in merged.groups] == ["", "apiregistration.k8s.io", "b", "a"]
    assert merged.aggregated_order == ("apiregistration.k8s.io", "a", "b")  # a tie is broken differently there
    assert [version.name for version in merged.groups[3].versions] == ["v1alpha1", "v10", "v2", "v1beta1"]
    assert all(version.freshness == STALE and not version.resources for version in merged.groups[3].versions)


def test_versions_sort_as_people_expect() -> None:
    versions = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "bar", "foo1", "foo10"]
    assert sorted(versions, key=version_rank, reverse=True)[:8] == versions[:8]
    assert sorted(["foo1", "bar"], key=version_rank, reverse=True) == ["bar", "foo1"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["v1", "v2"]), st.integers(1, 3)), max_size=8))
def test_the_order_does_not_depend_on_who_came_first(rows: list[tuple[str, str, int]]) -> None:
    unique = {f"{version}.{group}": service(group, version, priority) for group, version, priority in rows}
    forwards = by_group(unique.values())
    assert forwards == by_group(reversed(list(unique.values())))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "kind",
                    "items",
                    "metadata",
                    "name",
                    "versions",
                    "version",
                    "resources",
                    "verbs",
                    "responseKind",
                    "paths",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=200)
@given(JSON)
def test_no_document_does_harm(value: Any) -> None:
    body = json.dumps(value).encode()
    for read in (
        lambda: documents.from_aggregated(body, "g", "v1"),
        lambda: documents.from_plain(body, "v1"),
        lambda: openapi.link_of(body, "g", "v1"),
        lambda: openapi.swagger_part(body, "g", "v1"),
        lambda: openapi.check_v3(body),
    ):
        with contextlib.suppress(documents.Unreadable, openapi.Unreadable):
            read()


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[]", b"null", b'{"paths": []}'])
def test_what_is_no_document_is_unreadable(body: bytes) -> None:
    with pytest.raises(openapi.Unreadable):
        openapi.link_of(body, "g", "v1")
    with pytest.raises(openapi.Unreadable):
        openapi.swagger_part(body, "g", "v1")
    with pytest.raises(documents.Unreadable):
        documents.from_plain(body, "v1")


def test_links_lead_to_the_same_server_only() -> None:
    index = {"paths": {"apis/g/v1": {"serverRelativeURL": "https://elsewhere/"}, "apis/g/v2": {"serverRelativeURL": 5}}}
    body = json.dumps(index).encode()
    assert openapi.link_of(body, "g", "v1") == openapi.link_of(body, "g", "v2") == ""


def test_only_the_versions_own_paths_are_taken_and_what_they_need() -> None:
    reference = {"$ref": "#/definitions/used"}
    document = {
        "swagger": "2.0",
        "paths": {
            "/apis/g/v1/things": {"get": {"schema": reference}},
            "/apis/g/": {"get": {}},
            "/apis/g/v10/things": {},
            "/apis/other/v1/things": {"get": {"schema": {"$ref": "#/definitions/unused"}}},
            "/api/v1/secrets": {},
        },
        "definitions": {"used": {"items": {"$ref": "#/definitions/deep"}}, "deep": {}, "unused": {}},
    }
    part = openapi.unpack(openapi.swagger_part(json.dumps(document).encode(), "g", "v1"))
    assert list(part["paths"]) == ["/apis/g/v1/things", "/apis/g/"]
    assert list(part["definitions"]) == ["used", "deep"]


def test_definitions_of_one_name_that_differ_are_both_kept() -> None:
    first = {"paths": {"/a": {}}, "definitions": {"x": {"type": "string"}, "same": {}}}
    second = {
        "paths": {"/b": {"$ref": "#/definitions/x"}, "/a": {"stolen": True}},
        "definitions": {"x": {"type": "integer"}, "same": {}, "y": {"$ref": "#/definitions/x"}},
    }
    merged = merge_swagger([first, second])
    assert merged["paths"] == {"/a": {}, "/b": {"$ref": "#/definitions/x_v2"}}
    assert merged["definitions"] == {
        "x": {"type": "string"},
        "x_v2": {"type": "integer"},
        "same": {},
        "y": {"$ref": "#/definitions/x_v2"},
    }
    assert second["definitions"]["y"] == {"$ref": "#/definitions/x"}  # nobody's document is changed


def test_keys_become_ends_of_header_names() -> None:
    assert escaped("dept/sub") == b"dept%2fsub" or escaped("dept/sub") == b"dept%2Fsub"
    assert escaped("Scopes") == b"scopes"
    assert escaped("a%b: c\r\n\u00e9") == b"a%25b%3A%20c%0D%0A%C3%A9"
