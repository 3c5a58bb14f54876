"""Strategic Merge Patch on built-in types: lists by key, directives, order, and the original's refusals."""

from __future__ import annotations

import copy
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.builtin.types import CORE, builtin_types
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.patch import STRATEGIC_PATCH, parse_patch, strategic
from pilothouse.machinery.patch.mergepatch import without_nulls
from pilothouse.machinery.patch.restore import has_whole_float, problem, whole_numbers, wrapped
from pilothouse.machinery.typed.text import plain

POD = builtin_types().get(CORE, "Pod")
DEFINITION = builtin_types().get("k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1", "CustomResourceDefinition")
DEPLOYMENT = builtin_types().get("k8s.io/api/apps/v1", "Deployment")
OBJECT: dict[str, Any] = {
    "metadata": {"name": "p", "labels": {"a": "1"}, "finalizers": ["x/a", "x/b"]},
    "spec": {
        "containers": [
            {"name": "main", "image": "i:1", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
            {"name": "side", "image": "s:1"},
        ],
        "tolerations": [{"key": "k"}],
        "volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}],
    },
}


def patched(patch: dict[str, Any], schema: Any = POD, obj: dict[str, Any] = OBJECT) -> dict[str, Any]:
    before = copy.deepcopy((obj, patch))
    result = strategic.apply(patch, obj, schema)
    assert (obj, patch) == before
    return result


def containers(patch: list[Any], **more: Any) -> Any:
    return patched({"spec": {"containers": patch, **more}})["spec"]["containers"]


def names(items: list[dict[str, Any]]) -> list[str]:
    return [item["name"] for item in items]


def test_items_merge_by_their_key_and_new_ones_follow_the_patch() -> None:
    result = containers([{"name": "main", "image": "i:2"}, {"name": "new", "image": "n:1"}])
    assert names(result) == ["main", "new", "side"]
    assert result[0] == {**OBJECT["spec"]["containers"][0], "image": "i:2"}


def test_lists_without_a_strategy_are_replaced() -> None:
    assert patched({"spec": {"tolerations": [{"key": "z"}]}})["spec"]["tolerations"] == [{"key": "z"}]


def test_primitive_lists_merge_as_sets_in_the_order_of_the_patch() -> None:
    assert patched({"metadata": {"finalizers": ["x/c", "x/a"]}})["metadata"]["finalizers"] == ["x/c", "x/a", "x/b"]
    gone = patched({"metadata": {"$deleteFromPrimitiveList/finalizers": ["x/b", "x/never"]}})
    assert gone["metadata"]["finalizers"] == ["x/a"]


def test_delete_takes_the_item_and_says_nothing_when_there_is_none() -> None:
    assert names(containers([{"name": "side", "$patch": "delete"}, {"name": "no", "$patch": "delete"}])) == ["main"]
    assert patched({"metadata": {"labels": {"$patch": "delete"}}})["metadata"]["labels"] == {}
    assert patched({"$patch": "delete"}) == {}


def test_replace_takes_the_place_of_all_that_was_there() -> None:
    assert containers([{"$patch": "replace", "name": "gone"}, {"name": "sole"}]) == [{"name": "sole"}]
    assert patched({"metadata": {"labels": {"$patch": "replace", "b": "2"}}})["metadata"]["labels"] == {"b": "2"}


def test_a_directive_on_what_is_not_there_leaves_nothing() -> None:
    result = patched({"metadata": {"annotations": {"$patch": "replace", "a": "1"}}})
    assert "annotations" not in result["metadata"]
    result = patched(
        {"spec": {"initContainers": [{"$patch": "replace"}, {"name": "i", "env": [{"$patch": "delete"}]}]}}
    )
    assert result["spec"]["initContainers"] == [{"name": "i", "env": []}]


def test_null_removes_and_is_not_kept_in_what_is_new() -> None:
    result = patched({"metadata": {"labels": None, "annotations": {"a": "b", "c": None}}})
    assert "labels" not in result["metadata"]
    assert result["metadata"]["annotations"] == {"a": "b"}


def test_a_new_item_is_taken_as_it_is() -> None:
    item = {"name": "n", "image": None, "args": ["x", None], "env": [{"name": "A", "$patch": "delete"}]}
    assert patched({"spec": {"containers": [item]}})["spec"]["containers"][0] == item


def test_only_maps_with_a_directive_are_left_out_of_what_is_new() -> None:
    new = {"a": {"$patch": "delete"}, "$retainKeys": ["a"], "b": "c"}
    assert patched({"metadata": {"annotations": new}})["metadata"]["annotations"] == {"$retainKeys": ["a"], "b": "c"}


def test_deleting_from_a_list() -> None:
    obj = {"metadata": {"finalizers": ["x/a", "x/b"]}, "spec": {"containers": [{"name": "c", "args": ["1", "2"]}]}}

    def finalizers(values: Any) -> Any:
        return patched({"metadata": {"$deleteFromPrimitiveList/finalizers": values}}, POD, obj)["metadata"]

    assert finalizers(["x/a", "x/z"]) == {"finalizers": ["x/b"]}
    assert finalizers("x/a") == {"finalizers": ["x/a", "x/b"]}
    assert finalizers(None) == {}
    args = patched({"spec": {"containers": [{"name": "c", "$deleteFromPrimitiveList/args": ["1"]}]}}, POD, obj)
    assert args["spec"]["containers"][0]["args"] == ["1"]  # of a list that does not merge
    assert patched({"spec": {"$deleteFromPrimitiveList/tolerations": []}}, POD, obj) is obj


def test_retain_keys_drops_the_others() -> None:
    patch = {"spec": {"volumes": [{"$retainKeys": ["name", "configMap"], "name": "v", "configMap": {"name": "c"}}]}}
    assert patched(patch)["spec"]["volumes"] == [{"name": "v", "configMap": {"name": "c"}}]
    obj = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    result = patched({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}, DEPLOYMENT, obj)
    assert result["spec"]["strategy"] == {"type": "Recreate"}


def test_set_element_order_orders_named_items_around_the_others() -> None:
    order = {"$setElementOrder/containers": [{"name": "side"}, {"name": "late"}, {"name": "main"}]}
    assert names(containers([{"name": "late"}], **order)) == ["side", "late", "main"]
    result = patched({"spec": {"$setElementOrder/containers": [{"name": "side"}, {"name": "main"}]}})
    assert names(result["spec"]["containers"]) == ["side", "main"]
    env = {
        "$setElementOrder/env": [{"name": "B"}, {"name": "C"}],
        "env": [{"name": "C"}, {"name": "A", "$patch": "delete"}],
    }
    assert names(containers([{"name": "main", **env}])[0]["env"]) == ["B", "C"]


@pytest.mark.parametrize(
    ("patch", "code", "message"),
    [
        ([], 400, "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        (
            {"spec": {"containers": [{"image": "x"}]}},
            500,
            "map: map[image:x] does not contain declared merge key: name",
        ),
        (
            {"spec": {"containers": [{"$patch": "merge", "name": "a"}]}},
            500,
            "merging lists cannot yet be specified in the patch",
        ),
        (
            {"spec": {"containers": [{"$patch": "upsert", "name": "a"}]}},
            500,
            "unknown patch type: upsert in map: map[$patch:upsert name:a]",
        ),
        ({"spec": {"$patch": 5}}, 500, "unknown patch type: %!s(int64=5) in map: map[$patch:5]"),
        (
            {"spec": {"$setElementOrder/containers": {"name": "main"}}},
            500,
            "expected a []interface {}, but received a map[string]interface {}",
        ),
        (
            {"metadata": {"$setElementOrder/finalizers": ["x/a"], "finalizers": ["x/q"]}},
            500,
            "The order in patch list:\n[x/q]\n doesn't match $setElementOrder list:\n[x/a]\n",
        ),
        ({"spec": {"volumes": [{"name": "v", "$retainKeys": "name"}]}}, 400, "invalid patch format of retainKeys"),
        (
            {"spec": {"volumes": [{"name": "v", "$retainKeys": ["name"], "emptyDir": {}}]}},
            400,
            "invalid patch format of retainKeys",
        ),
        ({"spec": {"containers": ["main"]}}, 500, None),
        ({"spec": {"containers": [{"name": "a"}, None]}}, 500, None),
        ({"spec": {"containers": [[]]}}, 500, None),
        (
            {"metadata": {"finalizers": [5]}},
            500,
            "list element types are not identical: [[x/a x/b] [5]]",
        ),
        ({"metadata": {"$deleteFromPrimitiveList": ["x/a"]}}, 400, "invalid patch format of primitive list"),
        ({"metadata": {"$setElementOrder": ["x/a"]}}, 400, "invalid patch format of setElementOrder list"),
        (
            {"spec": {"$setElementOrder/nope": []}},
            500,
            'unable to find api field in struct PodSpec for the json field "nope"',
        ),
        ({"spec": {"$setElementOrder/dnsPolicy": []}}, 500, "expected slice or array type, but got: struct"),
        (
            {"spec": {"$setElementOrder/containers": [], "containers": None}},
            500,
            "expected a []interface {}, but received a <nil>",
        ),
        ({"spec": {"$setElementOrder/containers": ["main"]}}, 500, "value for key 0 is not a map."),
        (
            {"metadata": {"$setElementOrder/ownerReferences": [], "ownerReferences": []}},
            500,
            "no elements in any of the given slices",
        ),
    ],
)
def test_refusals(patch: Any, code: int, message: str | None) -> None:
    with pytest.raises(APIError) as refused:
        strategic.apply(patch, OBJECT, POD)
    assert refused.value.code == code
    if message is not None:
        assert refused.value.message == message


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ({"spec": {"containers": {"name": "main"}}}, "cannot restore slice from map"),
        ({"spec": ["x"]}, "cannot restore struct from: slice"),
        ({"spec": {"activeDeadlineSeconds": "long"}}, "unrecognized type: int64"),
        ({"spec": {"activeDeadlineSeconds": 1.5}}, "cannot convert float64 to int64"),
        ({"metadata": {"labels": "text"}}, "cannot restore map from string"),
        ({"metadata": {"labels": {"a": 1}}}, "cannot convert int64 to string"),
        ({"metadata": {"finalizers": [{"name": "x"}]}}, "unrecognized type: string"),
        ({"spec": {"hostNetwork": 1}}, "unrecognized type: bool"),
        ({"spec": {"priority": 1}}, ""),
    ],
)
def test_why_a_patched_document_is_no_object(patch: dict[str, Any], why: str) -> None:
    obj = {"metadata": {}, "spec": {}}
    assert problem(POD, strategic.apply(patch, obj, POD)) == why


def test_of_many_values_the_first_that_is_wrong_is_told_and_of_that_the_first_field() -> None:
    fine: dict[str, Any] = {"name": "a", "ports": [{"containerPort": 1}], "env": [{"name": "A"}]}
    late = {**fine, "args": [1]}  # a later field than the others'
    early = {**fine, "ports": [{"containerPort": 1}, {"containerPort": "x"}], "env": [{"name": 1}]}
    for wrong, why in (
        ([late, early], "cannot convert int64 to string"),
        ([early, late], "unrecognized type: int32"),
        ([None, 1.5, early], "cannot restore struct from: float64"),
        ([late, []], "cannot convert int64 to string"),
    ):
        assert problem(POD, {"spec": {"containers": [fine] * 300 + wrong + [fine]}}) == why
    assert problem(POD, {"spec": {"containers": [fine] * 300}}) == ""


def test_whole_numbers_among_many_are_found() -> None:
    ports = [{"containerPort": 1}] * 300
    found = whole_numbers(POD, {"spec": {"containers": [{"ports": [*ports, {"containerPort": 3.0}]}]}})
    assert found["spec"]["containers"][0]["ports"][300] == {"containerPort": 3}
    assert type(found["spec"]["containers"][0]["ports"][300]["containerPort"]) is int


def test_an_item_that_comes_again_and_again_is_merged_as_if_it_came_twice() -> None:
    item = {"name": "main", "ports": [{"containerPort": 1}], "env": [{"name": "A", "value": "2"}]}
    twice = containers([item, item])
    assert containers([item] * 500) == twice
    assert containers([item] * 500 + [{**item, "tty": 1}])[0]["tty"] == 1
    assert containers([{**item, "tty": 1}] * 3 + [{**item, "tty": True}])[0]["tty"] is True
    unknown = {**item, "x": {}}
    with pytest.raises(APIError, match="unable to find api field"):
        containers([unknown, unknown])


def test_maps_of_maps_do_not_merge() -> None:
    definition = builtin_types().get("k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1", "JSONSchemaProps")
    with pytest.raises(APIError, match="merging an object in json but data type is not struct, instead is: map"):
        strategic.apply({"properties": {"a": {"type": "x"}}}, {"properties": {"a": {}}}, definition)


def test_base64_is_looked_at() -> None:
    secret = builtin_types().get(CORE, "Secret")
    assert (
        problem(secret, {"data": {"a": "not base64!"}})
        == "error decoding from json: illegal base64 data at input byte 3"
    )
    assert problem(secret, {"data": {"a": "eA=="}}) == ""
    assert problem(secret, {"data": {"a": "aGk"}}) == "error decoding from json: illegal base64 data at input byte 0"


def test_a_refused_result_shows_the_patch() -> None:
    patch = parse_patch(STRATEGIC_PATCH, b'{"metadata":{"labels":"text"}}', POD)
    error = patch.refused({}, "cannot restore map from string")
    assert error.message == (
        ' "" is invalid: patch: Invalid value: "map[metadata:map[labels:text]]": cannot restore map from string'
    )


def test_untouched_parts_are_shared_and_no_change_is_the_very_object() -> None:
    assert (
        patched({"spec": {"containers": [{"name": "main", "image": "i:1"}]}, "metadata": {"labels": {"a": "1"}}})
        is OBJECT
    )
    result = patched({"spec": {"containers": [{"name": "main", "image": "i:2"}]}})
    assert result["metadata"] is OBJECT["metadata"]
    assert result["spec"]["containers"][1] is OBJECT["spec"]["containers"][1]


def test_deep_patches_are_refused_and_not_fatal() -> None:
    deep: dict[str, Any] = {}
    for _ in range(20_000):
        deep = {"a": deep}
    with pytest.raises(APIError):
        strategic.apply({"spec": deep}, {"spec": {}}, POD)


_values = st.sampled_from(["x", "y", None])
_variable = st.fixed_dictionaries({"name": st.sampled_from("ABC")}, optional={"value": _values})
_env = st.lists(_variable, max_size=3, unique_by=lambda item: item["name"])
_containers = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from(["main", "side", "new"])}, optional={"image": _values, "env": _env}),
    max_size=3,
    unique_by=lambda item: item["name"],
)


@given(_containers)
@settings(deadline=None)
def test_patching_twice_is_patching_once(items: list[Any]) -> None:
    once = patched({"spec": {"containers": items}})
    assert without_nulls(strategic.apply({"spec": {"containers": items}}, once, POD)) == without_nulls(once)


@given(_containers)
@settings(deadline=None)
def test_named_items_come_in_the_order_of_the_patch(items: list[Any]) -> None:
    result = names(patched({"spec": {"containers": items}})["spec"]["containers"])
    wanted = names(items)
    assert [name for name in result if name in wanted] == wanted
    assert set(result) == {"main", "side", *wanted}


def test_a_whole_float_is_an_integer_but_no_text() -> None:
    """The converter takes `3.0` for 3, unlike the decoder of JSON."""
    spec = {
        "terminationGracePeriodSeconds": 3.0,
        "nodeSelector": {"a": 1.0},
        "volumes": [{"emptyDir": {"sizeLimit": 2.0}}],
    }
    result = whole_numbers(POD, {"metadata": {"generation": 2.5}, "spec": spec})
    assert json.dumps(result["spec"]["terminationGracePeriodSeconds"]) == "3"
    assert json.dumps(result["spec"]["volumes"]) == '[{"emptyDir": {"sizeLimit": 2}}]'
    assert json.dumps(result["spec"]["nodeSelector"]) == '{"a": 1.0}'
    assert problem(POD, result) == "cannot convert float64 to int64"


def test_true_is_no_one() -> None:
    assert patched({"spec": {"replicas": True}}, DEPLOYMENT, {"spec": {"replicas": 1}})["spec"]["replicas"] is True


@pytest.mark.parametrize(
    ("value", "kept"),
    [(7, 7), (-1, -1), (1 << 31, -(1 << 31)), (99999999999, 1215752191), ((1 << 32) + 2, 2), (10**30, 0)],
)
def test_the_converter_cuts_numbers_to_size(value: int, kept: int) -> None:
    spec = {"spec": {"replicas": value, "other": value}, "metadata": {}}
    assert wrapped(DEPLOYMENT, spec) == {"spec": {"replicas": kept, "other": value}, "metadata": {}}
    assert (wrapped(DEPLOYMENT, spec) is spec) == (value == kept)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (True, "json: cannot unmarshal bool into Go value of type int32"),
        ({}, "json: cannot unmarshal object into Go value of type int32"),
        (1.5, "json: cannot unmarshal number 1.5 into Go value of type int32"),
        (1 << 31, "json: cannot unmarshal number 2147483648 into Go value of type int32"),
        (3.0, ""),
        ("25%", ""),
    ],
)
def test_types_that_read_json_themselves(value: Any, why: str) -> None:
    assert problem(DEPLOYMENT, {"spec": {"strategy": {"rollingUpdate": {"maxSurge": value}}}}) == why
    time = "json: cannot unmarshal number into Go value of type string"
    assert problem(POD, {"metadata": {"creationTimestamp": 5}}) == time


def test_thousands_of_deletions_are_not_each_looked_for() -> None:
    many = [{"name": f"E{number}"} for number in range(30_000)]
    gone = [{**item, "$patch": "delete"} for item in many[1:]]
    assert patched({"spec": {"volumes": gone}}, obj={"spec": {"volumes": many}}) == {"spec": {"volumes": many[:1]}}
    names = [f"x/{number}" for number in range(30_000)]
    deletion = {"metadata": {"$deleteFromPrimitiveList/finalizers": names[1:]}}
    assert patched(deletion, obj={"metadata": {"finalizers": names}}) == {"metadata": {"finalizers": names[:1]}}


@pytest.mark.parametrize("key", [str, lambda number: {"a": number}])
def test_hundreds_of_new_items_come_before_those_that_were_there(key: Any) -> None:
    there = [{"name": "old"}, {"name": "older"}]
    many = [{"name": key(number)} for number in range(300)]

    def volumes(*more: dict[str, Any]) -> Any:
        return patched({"spec": {"volumes": [*many, *more]}}, obj={"spec": {"volumes": there}})["spec"]["volumes"]

    assert volumes() == [*many, *there]
    assert volumes({"name": "old", "x": 1}) == [*many, {"name": "old", "x": 1}, there[1]]
    assert volumes(many[7]) == [*many, *there]
    with pytest.raises(APIError) as refused:
        volumes({})
    assert refused.value.message == "map: map[] does not contain declared merge key: name"


@pytest.mark.parametrize(("item", "kind"), [(None, "<nil>"), ("x", "string")])
@pytest.mark.parametrize("order", [[], [{"name": "main"}]])
def test_an_item_of_an_ordered_list_must_be_a_map(item: Any, kind: str, order: list[Any]) -> None:
    with pytest.raises(APIError) as refused:
        patched({"spec": {"$setElementOrder/initContainers": order, "initContainers": [item]}})
    assert (refused.value.code, refused.value.message) == (
        500,
        f"expected a map[string]interface {{}}, but received a {kind}",
    )


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
)


@given(JSON_VALUES)
@settings(deadline=None)
def test_a_container_is_shown_with_its_parts_as_they_are_shown(value: Any) -> None:
    expected = plain(value)
    if isinstance(value, dict):
        expected = f"map[{' '.join(f'{name}:{plain(value[name])}' for name in sorted(value))}]"
    elif isinstance(value, list):
        expected = f"[{' '.join(map(plain, value))}]"
    assert plain(value) == expected


def test_very_deep_documents_are_an_error_to_the_converter_and_no_crash() -> None:
    deep: dict[str, Any] = {"multipleOf": 1.0, "maximum": 1 << 70}
    for _ in range(100_000):
        deep = {"properties": {"a": deep}}
    document = {"spec": {"versions": [{"schema": {"openAPIV3Schema": deep}}]}}
    with ThreadPoolExecutor(1) as threads:
        for ask in (problem, wrapped, whole_numbers):
            assert isinstance(threads.submit(ask, DEFINITION, document).exception(), RecursionError)
    assert has_whole_float(document)
