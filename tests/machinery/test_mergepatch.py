"""JSON Merge Patch: the examples of RFC 7386 for objects, and what the original does beyond them."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilothouse.machinery import schema as s
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.patch import MERGE_PATCH, mergepatch
from pilothouse.machinery.patch.document import Patch


@pytest.mark.parametrize(
    ("original", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": "text"}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
        ({"a": [1]}, {"a": [{"b": None, "c": [None]}]}, {"a": [{"c": [None]}]}),
        ({"a": {"b": 1}}, {"a": [{"b": None}]}, {"a": [{"b": None}]}),
        ({"a": 1}, {"a": True}, {"a": True}),
    ],
)
def test_examples(original: dict[str, Any], patch: dict[str, Any], result: dict[str, Any]) -> None:
    before = copy.deepcopy((original, patch))
    patched = mergepatch.apply(patch, original)
    assert patched == result
    assert [type(value) for value in patched.values()] == [type(value) for value in result.values()]
    assert (original, patch) == before


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (None, "Invalid JSON Patch"),
        ([], "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ("x", "error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}"),
        (1.5, "error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}"),
        (True, "error decoding patch: json: cannot unmarshal bool into Go value of type map[string]interface {}"),
    ],
)
def test_what_is_no_merge_patch(document: Any, message: str) -> None:
    with pytest.raises(APIError) as refused:
        mergepatch.apply(document, {})
    assert (refused.value.code, refused.value.message) == (400, message)


def test_untouched_parts_are_shared_and_no_change_is_the_very_object() -> None:
    obj = {"a": {"b": 1}, "c": {"d": [1]}}
    assert mergepatch.apply({"a": {"b": 1}, "x": None, "c": {}}, obj) is obj
    assert mergepatch.apply({"a": {"b": 2}}, obj)["c"] is obj["c"]


_json: Any = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from("xyz"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
_objects = st.dictionaries(st.sampled_from("abc"), _json, max_size=3)


def _null_in_list(value: Any, inside: bool = False) -> bool:
    """Lists are values as they are, but the original drops nulls of objects in lists that are new."""
    if isinstance(value, list):
        return any(_null_in_list(item, True) for item in value)
    if isinstance(value, dict):
        return any(_null_in_list(item, inside) for item in value.values())
    return inside and value is None


@given(_objects, _objects.filter(lambda patch: not _null_in_list(patch)))
def test_patching_twice_is_patching_once(obj: dict[str, Any], patch: dict[str, Any]) -> None:
    before = copy.deepcopy((obj, patch))
    once = mergepatch.apply(patch, obj)
    assert mergepatch.apply(patch, once) == once
    assert (obj, patch) == before


def test_deep_patches_are_refused_and_not_fatal() -> None:
    deep: dict[str, Any] = {}
    for _ in range(20_000):
        deep = {"a": deep}
    with pytest.raises(APIError):
        mergepatch.apply(deep, {"b": 1})


def test_many_members_at_once() -> None:
    """As one by one: those that are there keep their places, and what is no scalar is looked into."""
    many: dict[str, Any] = {f"k{number}": number % 2 == 0 for number in range(200)}
    there = {"z": 1, "k7": 0, "k8": {"a": 1}, "a": 2}
    patched = mergepatch.apply(many, there)
    assert list(patched.items()) == [("z", 1), ("k7", False), ("k8", True), ("a", 2), *(
        (name, value) for name, value in many.items() if name not in ("k7", "k8")
    )]  # fmt: skip
    assert mergepatch.apply(many, patched) is patched
    assert mergepatch.apply({**many, "k3": None, "x": {"y": None}}, there) == {
        **{name: value for name, value in patched.items() if name != "k3"},
        "x": {},
    }


@pytest.mark.parametrize("depth", [1, 300])
def test_a_long_patched_map_is_quoted_by_name_where_it_is_new(depth: int) -> None:
    """What the patch left alone is quoted as it was, however deep something else is nested."""
    deep: Any = 1
    for _ in range(depth):
        deep = {"b": deep}
    many = {f"k{number}": {"b": 1, "a": [{"d": 1, "c": 2}]} for number in reversed(range(100, 200))}
    there = {"data": {"old": {"z": 1, "y": 2}, "k150": {"z": {"z": 1, "y": 2}}}}
    patch = Patch(MERGE_PATCH, {"data": {**many, "deep": deep}}, s.Schema(s.STRUCT), [])
    value, _ = patch(there)
    found = json.loads(patch.shown(patch.ordered(value)), object_pairs_hook=list)[0][1]
    assert [name for name, _ in found] == sorted([*many, "old", "deep"])
    shown = dict(found)
    assert shown["old"] == [("z", 1), ("y", 2)]
    assert shown["k101"] == [("a", [[("c", 2), ("d", 1)]]), ("b", 1)]
    assert dict(shown["k150"])["z"] == [("z", 1), ("y", 2)]
