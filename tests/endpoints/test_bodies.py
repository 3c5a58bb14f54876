"""Bodies: how large, in which form, and what becomes of them when nothing shall be written."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from endpoints.served import JSON, PROTOBUF, YAML, Served, config_map

LIMIT = 3 * 1024 * 1024
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "boats.endpoints.example.com"},
    "spec": {
        "group": "endpoints.example.com",
        "scope": "Namespaced",
        "names": {"plural": "boats", "singular": "boat", "kind": "Boat", "listKind": "BoatList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}},
            }
        ],
    },
}
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
BOATS = "/apis/endpoints.example.com/v1/namespaces/default/boats"
BOAT = {"apiVersion": "endpoints.example.com/v1", "kind": "Boat", "metadata": {"name": "b"}}


@pytest.fixture
def boats(served: Served) -> Iterator[str]:
    """The path of custom resources."""
    served.make(DEFINITIONS, DEFINITION)

    async def established() -> None:
        while (await served.send(f"GET {BOATS}")).status != 200:
            pass

    served.run(established())
    yield BOATS
    served.ask(f"DELETE {DEFINITIONS}/boats.endpoints.example.com")


def test_custom_resources_have_no_routes_and_no_type_of_their_own(served: Served, boats: str) -> None:
    assert served.ask(f"GET {boats}", headers={"Accept": "application/*"}).status == 200
    one = f"{JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    found = served.ask(f"GET {boats}", headers={"Accept": one})
    assert found.message.endswith("the requested object is a list (*unstructured.UnstructuredList)")


@pytest.mark.parametrize("kind", [JSON, YAML, PROTOBUF])
def test_a_body_over_the_limit_is_refused(served: Served, place: str, kind: str) -> None:
    found = served.ask(f"POST {place}/configmaps", b" " * (LIMIT + 1), kind)
    assert (found.status, found.message) == (413, f"Request entity too large: limit is {LIMIT}")
    assert found.json()["reason"] == "RequestEntityTooLarge"


@pytest.mark.parametrize(("method", "kind"), [("PUT", JSON), ("PATCH", MERGE), ("PATCH", APPLY), ("DELETE", JSON)])
def test_no_verb_takes_more(served: Served, place: str, method: str, kind: str) -> None:
    served.make(f"{place}/configmaps", config_map("a"))
    found = served.ask(f"{method} {place}/configmaps/a?fieldManager=m", b" " * (LIMIT + 1), kind)
    assert found.status == 413


def test_a_body_within_the_limit_is_read(served: Served, place: str) -> None:
    body = b'{"metadata":{"name":"a"}}'
    found = served.ask(f"POST {place}/configmaps", body + b" " * (LIMIT - len(body)))
    assert found.status == 201


def test_the_same_object_in_all_forms(served: Served, place: str) -> None:
    path = f"{place}/configmaps"
    served.make(path, config_map("json", k="v"))
    assert served.ask(f"POST {path}", b"metadata: {name: yaml}\ndata: {k: v}", YAML).status == 201
    binary = served.ask(f"GET {path}/json", headers={"Accept": PROTOBUF}).body
    version = served.ask(f"GET {path}/json").json()["metadata"]["resourceVersion"].encode()
    assert version in binary
    found = served.ask(f"PUT {path}/json", binary, PROTOBUF)
    assert (found.status, found.json()["data"]) == (200, {"k": "v"})
    assert served.ask(f"GET {path}/yaml").json()["data"] == {"k": "v"}


def test_custom_resources_have_no_binary_form(served: Served, boats: str) -> None:
    served.make(boats, BOAT)
    found = served.ask(f"GET {boats}/b", headers={"Accept": PROTOBUF})
    assert (found.status, found.kind, found.body[:4]) == (406, PROTOBUF, b"k8s\0")  # refusals have one
    found = served.ask(f"GET {boats}/b", headers={"Accept": f"{PROTOBUF},{JSON}"})
    assert (found.status, found.kind) == (200, JSON)  # what clients send that know both
    found = served.ask(f"POST {boats}", b"k8s\0", PROTOBUF)
    assert (found.status, found.json()["reason"]) == (400, "BadRequest")
    found = served.ask(f"GET {boats}?watch=1", headers={"Accept": PROTOBUF})
    assert found.status == 406


@pytest.mark.parametrize("kind", ["text/plain", "application/cbor", "application/x-www-form-urlencoded"])
def test_a_form_that_nobody_knows_is_refused(served: Served, place: str, kind: str) -> None:
    found = served.ask(f"POST {place}/configmaps", b"{}", kind)
    assert (found.status, found.json()["reason"]) == (415, "UnsupportedMediaType")


def test_patches_name_their_form(served: Served, place: str) -> None:
    served.make(f"{place}/configmaps", config_map("a"))
    assert served.ask(f"PATCH {place}/configmaps/a", b"{}", JSON).status == 415


MERGE = "application/merge-patch+json"


@pytest.mark.parametrize("kind", [f"{MERGE};", f"{MERGE};x", f"{MERGE}; charset=utf-8"])
def test_parameters_of_a_patch_are_left_alone(served: Served, place: str, kind: str) -> None:
    served.make(f"{place}/configmaps", config_map("a"))
    assert served.ask(f"PATCH {place}/configmaps/a", b"{}", kind).status == 200


LIKE_ONE = [(f"{MERGE} ;x", True), (f"{MERGE},{JSON}", True), (f"{JSON} , {MERGE}", True), (MERGE.upper(), False)]


@pytest.mark.parametrize(("kind", "listed"), LIKE_ONE)
def test_what_only_the_route_takes_for_a_patch(served: Served, place: str, kind: str, listed: bool) -> None:
    found = served.ask(f"PATCH {place}/configmaps/a", b"{}", kind)
    assert found.status == 415
    types = "json-patch+json", "merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml"
    assert found.message.endswith(": " + ", ".join(f"application/{one}" for one in types)) is listed


# Dry runs


def body_of(what: str) -> tuple[str, object, str]:
    """Method and name, body, media type of a write that would change `there` or make `new`."""
    writes: dict[str, tuple[str, object, str]] = {
        "create": ("POST ", config_map("new", k="v"), JSON),
        "update": ("PUT /there", config_map("there", k="v"), JSON),
        "patch": ("PATCH /there", {"data": {"k": "v"}}, MERGE),
        "apply": ("PATCH /new", {**config_map("new", k="v")}, APPLY),
        "delete": ("DELETE /there", None, JSON),
        "deletecollection": ("DELETE ", None, JSON),
    }
    return writes[what]


@pytest.mark.parametrize("what", ["create", "update", "patch", "apply", "delete", "deletecollection"])
def test_a_dry_run_answers_as_if_and_writes_nothing(served: Served, place: str, what: str) -> None:
    path = f"{place}/configmaps"
    served.make(path, config_map("there"))
    before = items(served, path)
    method_and_name, body, kind = body_of(what)
    method, _, name = method_and_name.partition(" ")
    found = served.ask(f"{method} {path}{name}?dryRun=All&fieldManager=m", body, kind)
    assert found.status in (200, 201), found.body
    if body is not None:
        assert found.json()["data"] == {"k": "v"}
    assert items(served, path) == before


def items(served: Served, path: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = served.ask(f"GET {path}").json()["items"]
    return listed


def test_a_dry_run_is_refused_like_the_write(served: Served, place: str) -> None:
    path = f"{place}/configmaps"
    served.make(path, config_map("there"))
    assert served.ask(f"POST {path}?dryRun=All", config_map("there")).status == 409
    assert served.ask(f"POST {path}?dryRun=All", config_map("Not Valid")).status == 422
    assert served.ask(f"DELETE {path}/missing?dryRun=All").status == 404
    assert served.ask(f"POST {path}?dryRun=maybe", config_map("new")).status == 422


def test_a_created_name_of_a_dry_run_is_free_afterwards(served: Served, place: str) -> None:
    path = f"{place}/configmaps"
    for query in ("?dryRun=All", "?dryRun=All", ""):
        assert served.ask(f"POST {path}{query}", config_map("a")).status == 201


def test_a_default_inside_of_metadata_has_its_type(served: Served) -> None:
    """Of an embedded object: what is no text is refused as a name."""
    inner = {"metadata": {"type": "object", "properties": {"name": {"type": "string", "default": 7}}}}
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, "properties": inner}
    definition = copy.deepcopy(DEFINITION)
    spec = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"] = {"t": embedded}
    found = served.ask(f"POST {DEFINITIONS}?dryRun=All", definition)
    assert found.status == 422
    assert "must result in valid metadata" in found.message


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_form_that_nobody_knows_is_told_before_options_that_mean_nothing(
    served: Served, place: str, method: str
) -> None:
    where = f"{place}/configmaps" if method == "POST" else f"{place}/configmaps/a"
    for query, status in (("dryRun=x", 415), ("fieldManager=%0A", 415), ("", 415)):
        assert served.ask(f"{method} {where}?{query}", b"{}", "text/plain").status == status
    accept = {"Accept": "text/html"}
    refused = served.ask(f"{method} {where}?dryRun=x", b"{}", "text/plain", headers=accept)
    assert refused.status == (415 if method == "PATCH" else 406)


@pytest.mark.parametrize(
    ("kind", "body", "status", "told"),
    [
        ("configmaps", '{"metadata":{"name":"a"},"odd":1e999}', 201, 'unknown field "odd"'),
        (
            "configmaps",
            '{"metadata":{"name":"b","odd":[-1e999]},"data":{"a":"b"}}',
            201,
            'unknown field "metadata.odd"',
        ),
        (
            "pods",
            '{"metadata":{"name":"c"},"spec":{"priority":1e999,"containers":[{"name":"a","image":"b"}]}}',
            400,
            "json: cannot unmarshal number 1e999 into Go struct field PodSpec.spec.priority of type int32",
        ),
        ("controllerrevisions", '{"metadata":{"name":"d"},"data":{"a":1e999},"revision":1}', 400, "number 1e999 into"),
        ("configmaps", '{"kind":1e999}', 400, "into Go struct field .kind of type string"),
    ],
)
def test_a_number_beyond_all_types_matters_only_where_the_type_has_a_place_for_it(
    served: Served, place: str, kind: str, body: str, status: int, told: str
) -> None:
    where = place.replace("/api/v1", "/apis/apps/v1") if kind == "controllerrevisions" else place
    found = served.ask(f"POST {where}/{kind}", body.encode())
    assert found.status == status
    assert told in (found.message if status == 400 else str(found.headers).replace("\\", ""))
    if status == 201:
        strict = served.ask(f"POST {where}/{kind}?fieldValidation=Strict", body.encode())
        assert strict.status == 400
        assert told in strict.message
