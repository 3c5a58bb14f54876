"""What is wrong with a patch is told in the original's order: what there is to patch comes first, names come last."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from endpoints.served import Served, config_map

JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"

_MAP = "json: cannot unmarshal number into Go value of type map[string]interface {}"


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        (JSON_PATCH, {"op": "add"}, 404),
        (JSON_PATCH, [5], 404),
        (MERGE, 5, 404),
        (STRATEGIC, [], 404),
        (MERGE, b"{", 400),
        (JSON_PATCH, b"", 400),
    ],
)
def test_what_is_no_patch_needs_an_object_to_be_told(
    served: Served, place: str, kind: str, body: Any, status: int
) -> None:
    assert served.ask(f"PATCH {place}/configmaps/none", body, kind).status == status


@pytest.mark.parametrize(
    ("kind", "body", "status", "message"),
    [
        (JSON_PATCH, {"a": 1}, 400, "json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
        (JSON_PATCH, ["x"], 400, "json: cannot unmarshal string into Go value of type jsonpatch.Operation"),
        (JSON_PATCH, [{"op": 5}], 422, "the server rejected our request due to an error in our request"),
        (MERGE, 5, 400, "Invalid JSON Patch"),
        (MERGE, "text", 400, "Invalid JSON Patch"),
        (STRATEGIC, 5, 400, _MAP),
    ],
)
def test_what_is_no_patch_is_told_by_another_decoder_with_ignore(
    served: Served, place: str, kind: str, body: Any, status: int, message: str
) -> None:
    served.make(f"{place}/configmaps", config_map("c"))
    found = served.ask(f"PATCH {place}/configmaps/c?fieldValidation=Ignore", body, kind)
    assert (found.status, found.message) == (status, message)


_NO_OBJECT = (
    "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type "
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
)


@pytest.mark.parametrize(
    ("kind", "body"), [(MERGE, [1, {"a": None}]), (JSON_PATCH, [{"op": "replace", "path": "", "value": [1, {}]}])]
)
def test_a_list_in_place_of_the_object_does_not_decode(served: Served, place: str, kind: str, body: Any) -> None:
    served.make(f"{place}/configmaps", config_map("c"))
    found = served.ask(f"PATCH {place}/configmaps/c?fieldValidation=Ignore", body, kind)
    assert found.status == 422
    assert found.message == f' "" is invalid: patch: Invalid value: "[1,{{}}]": {_NO_OBJECT}'


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ({"kind": "Secret"}, "converting (v1.Secret) to (core.ConfigMap): unknown conversion"),
        ({"kind": "Odd"}, 'no kind "Odd" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"'),
        ({"apiVersion": "v2"}, 'no kind "ConfigMap" is registered for version "v2" in scheme '),
        ({"apiVersion": "a/b/c"}, "unexpected GroupVersion string: a/b/c"),
        ({"kind": 5}, "json: cannot unmarshal number into Go struct field .kind of type string"),
    ],
)
def test_a_merge_patch_makes_no_other_kind(served: Served, place: str, patch: Any, why: str) -> None:
    served.make(f"{place}/configmaps", config_map("c"))
    found = served.ask(f"PATCH {place}/configmaps/c", patch, MERGE)
    assert found.status == 422
    assert why in found.message


@pytest.mark.parametrize("patch", [{"kind": ""}, {"apiVersion": ""}, {"kind": None, "apiVersion": None}])
def test_kind_and_version_may_be_left_out(served: Served, place: str, patch: Any) -> None:
    made = served.make(f"{place}/configmaps", config_map("c"))
    found = served.ask(f"PATCH {place}/configmaps/c", patch, MERGE)
    assert (found.status, found.json()) == (200, made)


def test_a_strategic_patch_does_not_look_at_kind_and_version(served: Served, place: str) -> None:
    made = served.make(f"{place}/configmaps", config_map("c"))
    found = served.ask(f"PATCH {place}/configmaps/c", {"kind": "Secret", "apiVersion": "v2"}, STRATEGIC)
    assert (found.status, found.json()) == (200, made)
    wrong = served.ask(f"PATCH {place}/configmaps/c", {"kind": 5}, STRATEGIC)
    assert wrong.message == ' "" is invalid: patch: Invalid value: "map[kind:5]": cannot convert int64 to string'


def test_an_apply_to_a_subresource_needs_an_object_first(served: Served, place: str) -> None:
    apps = place.replace("/api/v1", "/apis/apps/v1")
    for path in (f"{place}/pods/none/status", f"{apps}/deployments/none/scale"):
        for body in (5, {"kind": "Odd"}, {}):
            assert served.ask(f"PATCH {path}?fieldManager=m", body, APPLY).status == 404


def test_a_configuration_without_a_name_changes_what_is_there(served: Served, place: str) -> None:
    served.make(f"{place}/configmaps", config_map("c"))
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}}
    found = served.ask(f"PATCH {place}/configmaps/c?fieldManager=m", body, APPLY)
    assert (found.status, found.json()["data"]) == (200, {"a": "1"})
    assert served.ask(f"PATCH {place}/configmaps/d?fieldManager=m", body, APPLY).status == 400


TWICE = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {a: '2', a: '3'}\n"


def test_repeated_names_are_told_after_conflicts(served: Served, place: str) -> None:
    served.make(f"{place}/configmaps", config_map("c", a="1"))
    path = f"PATCH {place}/configmaps/c?fieldManager=m"
    for more in ("", "&fieldValidation=Strict"):
        found = served.ask(path + more, TWICE % b"c", APPLY)
        assert found.status == 409
        assert "Warning" not in found.headers
    assert served.ask(f"{path}&force=true&fieldValidation=Strict", TWICE % b"c", APPLY).status == 400
    assert served.ask(f"{path}&force=true", TWICE % b"c", APPLY).status == 200


def test_another_name_is_told_after_all_else(served: Served, place: str) -> None:
    served.make(f"{place}/configmaps", config_map("c", a="1"))
    path = f"PATCH {place}/configmaps/c?fieldManager=m"
    assert served.ask(path, TWICE % b"d", APPLY).status == 409
    wrong = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "d"}, "data": {"a": 5}}
    assert served.ask(path, wrong, APPLY).status == 500
    named = served.ask(f"{path}&force=true&fieldValidation=Ignore", TWICE % b"d", APPLY)
    assert (named.status, named.message) == (400, "the name of the object (d) does not match the name on the URL (c)")


def test_an_applied_scale_has_preconditions(served: Served, place: str) -> None:
    apps = place.replace("/api/v1", "/apis/apps/v1") + "/deployments"
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    made = served.make(
        apps, {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}
    )
    path = f"PATCH {apps}/d/scale?fieldManager=m&force=true"

    def scale(**metadata: str) -> dict[str, Any]:
        return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": {"replicas": 3}}

    assert served.ask(path, scale(resourceVersion="1"), APPLY).status == 409
    assert served.ask(path, scale(uid="other"), APPLY).status == 409
    assert served.ask(path, scale(name="e"), APPLY).status == 400
    assert served.ask(path, scale(resourceVersion=made["metadata"]["resourceVersion"]), APPLY).status == 200


def test_numbers_of_converted_objects_are_cut_to_size(served: Served, place: str) -> None:
    apps = place.replace("/api/v1", "/apis/apps/v1") + "/deployments"
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    made = served.make(
        apps, {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}
    )
    found = served.ask(f"PATCH {apps}/d", {"spec": {"replicas": (1 << 32) + 2}}, STRATEGIC)
    assert (found.status, found.json()["spec"]["replicas"]) == (200, 2)
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"replicas": 1 << 32}}
    applied = served.ask(f"PATCH {apps}/d?fieldManager=m&force=true", body, APPLY)
    assert (applied.status, applied.json()["spec"]["replicas"]) == (200, 0)
    assert served.ask(f"PATCH {apps}/d", {"spec": {"replicas": 1 << 32}}, MERGE).status == 422
    assert made["spec"]["replicas"] == 1


def test_a_user_agent_is_utf8(served: Served, place: str) -> None:
    answer = served.ask(f"POST {place}/configmaps", config_map("c", a="1"), headers={"User-Agent": "werk-é☃/1.0"})
    assert answer.json()["metadata"]["managedFields"][0]["manager"] == "werk-é☃"


def test_a_patch_that_names_no_type_is_of_a_wrong_one(served: Served, place: str) -> None:
    found = served.ask(f"PATCH {place}/configmaps/a")
    assert (found.status, found.message) == (415, "415: Unsupported Media Type")


def test_a_group_may_be_written_as_nothing_before_the_slash(served: Served, place: str) -> None:
    served.make(f"{place}/configmaps", config_map("c"))
    assert served.ask(f"PATCH {place}/configmaps/c", {"apiVersion": "/v1"}, MERGE).status == 200
    applied = {"apiVersion": "/v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    assert served.ask(f"PATCH {place}/configmaps/c?fieldManager=m", applied, APPLY).status == 200
    refused = served.ask(f"PATCH {place}/configmaps/c?fieldManager=m", {**applied, "apiVersion": "v1/"}, APPLY)
    assert refused.message == "invalid object type: v1/, Kind=ConfigMap"


_LEFT_ALONE = [r"name", "namespace", "uid", "resourceVersion", "creationTimestamp", "labels", "managedFields"]


@pytest.mark.parametrize(
    ("kind", "patch", "metadata", "data"),
    [
        (MERGE, {"data": {"a": 1}}, _LEFT_ALONE, ["a", "z"]),
        (
            MERGE,
            {"data": {"b": {"y": 1, "x": 2}}, "metadata": {"labels": {}}},
            sorted(_LEFT_ALONE),
            ["b", "x", "y", "z"],
        ),
        (JSON_PATCH, [{"op": "add", "path": "/data", "value": {"z": "1", "b": 1}}], _LEFT_ALONE, ["z", "b"]),
        (
            JSON_PATCH,
            [{"op": "add", "path": "/data/a", "value": 1}, {"op": "test", "path": "/metadata/name", "value": "c"}],
            sorted(_LEFT_ALONE),
            ["a", "z"],
        ),
    ],
)
def test_a_refused_document_is_quoted_sorted_where_the_patch_opened_it(
    served: Served, place: str, kind: str, patch: Any, metadata: list[str], data: list[str]
) -> None:
    served.make(
        f"{place}/configmaps", {**config_map("c"), "metadata": {"name": "c", "labels": {"l": "1"}}, "data": {"z": ""}}
    )
    found = served.ask(f"PATCH {place}/configmaps/c", patch, kind)
    assert found.status == 422
    quoted = json.loads(re.search(r'Invalid value: ("(?:[^"\\]|\\.)*")', found.message)[1])  # type: ignore[index]
    document = json.loads(quoted)
    assert list(document) == ["apiVersion", "data", "kind", "metadata"]
    assert list(document["metadata"]) == metadata
    names = [
        name for item in document["data"].items() for name in (item[0], *(item[1] if isinstance(item[1], dict) else ()))
    ]
    assert names == data


@pytest.mark.parametrize(
    ("kind", "body", "message"),
    [
        (
            MERGE,
            '{"odd":1e999}',
            "error decoding patch: json: cannot unmarshal number 1e999 into Go value of type float64",
        ),
        (STRATEGIC, '{"odd":1e999}', "json: cannot unmarshal number 1e999 into Go value of type float64"),
        (
            JSON_PATCH,
            '[{"op":"add","path":"/odd","value":[1e999]}]',
            "error decoding patch: json: cannot unmarshal number 1e999 into Go struct field jsonPatchOp.value of type "
            "float64",
        ),
    ],
)
def test_a_number_beyond_all_types_is_no_value_of_a_patch(
    served: Served, place: str, kind: str, body: str, message: str
) -> None:
    assert served.ask(f"PATCH {place}/configmaps/c", body.encode(), kind).status == 404
    served.make(f"{place}/configmaps", config_map("c"))
    found = served.ask(f"PATCH {place}/configmaps/c", body.encode(), kind)
    assert (found.status, found.message) == (400, message)


def test_what_was_opened_in_a_long_list_is_sorted_too(served: Served, place: str) -> None:
    containers = [{"name": f"c{number}", "image": "i"} for number in range(100)]
    served.make(f"{place}/pods", {"metadata": {"name": "p"}, "spec": {"containers": containers}})
    patch = [
        {"op": "add", "path": "/spec/containers/50/image", "value": 5},
        {"op": "remove", "path": "/spec/containers/0"},
    ]
    found = served.ask(f"PATCH {place}/pods/p", patch, JSON_PATCH)
    quoted = json.loads(re.search(r'Invalid value: ("(?:[^"\\]|\\.)*")', found.message)[1])  # type: ignore[index]
    listed = json.loads(quoted)["spec"]["containers"]
    assert [next(iter(one)) for one in listed[47:51]] == ["name", "name", "image", "name"]


def test_what_is_deep_is_quoted_next_to_what_is_put_in_order(served: Served, place: str) -> None:
    served.make(f"{place}/configmaps", config_map("c"))
    deep = "[" * 400 + "]" * 400
    body = f'{{"metadata":{{"labels":{deep}}},"new":{{"b":1,"a":2}}}}'.encode()
    found = served.ask(f"PATCH {place}/configmaps/c", body, MERGE)
    assert found.status == 422
    assert f'\\"labels\\":{deep}' in found.message
    assert '\\"new\\":{\\"a\\":2,\\"b\\":1}' in found.message
    many = ",".join(f'"k{number}":{number}' for number in range(200))
    found = served.ask(f"PATCH {place}/configmaps/c", f'{{"data":{{{many},"z":[{{"b":1,"a":2}}]}}}}'.encode(), MERGE)
    assert found.status == 422
    assert '\\"k199\\":199,\\"k2\\":2,' in found.message
    assert '\\"k99\\":99,\\"z\\":[{\\"a\\":2,\\"b\\":1}]}' in found.message
