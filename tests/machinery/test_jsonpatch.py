"""JSON Patch as the original carries it out, with its leniencies; the object that is patched never changes."""

from __future__ import annotations

import copy
import json
import random
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.machinery import schema as s
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.patch import JSON_PATCH, jsonpatch, parse_patch
from pilothouse.machinery.patch.longlist import LONG
from pilothouse.machinery.schema import Schema

OBJECT = {"a": {"b": [1, 2, 3], "c": "x"}, "l": [{"n": 1}, {"n": 2}], "n": None, "~": 1, "x/y": 2}


def op(kind: str, path: str, value: Any = None, **more: Any) -> dict[str, Any]:
    return {"op": kind, "path": path, "value": value, **more}


@pytest.mark.parametrize(
    ("operation", "path", "result"),
    [
        (op("add", "/a/b/-", 4), "a.b", [1, 2, 3, 4]),
        (op("add", "/a/b/3", 4), "a.b", [1, 2, 3, 4]),
        (op("add", "/a/b/0", 0), "a.b", [0, 1, 2, 3]),
        (op("add", "/a/b/-1", 4), "a.b", [1, 2, 3, 4]),
        (op("replace", "/a/b/-1", 9), "a.b", [1, 2, 9]),
        (op("remove", "/a/b/1"), "a.b", [1, 3]),
        (op("replace", "/a/new", 1), "a.new", 1),
        (op("add", "/a/c"), "a.c", None),
        (op("copy", "/a/d", **{"from": "/a/absent"}), "a.d", None),
        (op("move", "/a/d", **{"from": "/a/c"}), "a", {"b": [1, 2, 3], "d": "x"}),
        (op("move", "/l/0", **{"from": "/l/1"}), "l", [{"n": 2}, {"n": 1}]),
        (op("replace", "/~0", 3), "~", 3),
        (op("replace", "/x~1y", 3), "x/y", 3),
        (op("add", "passed over/a/c", "y"), "a.c", "y"),
        (op("replace", "", {"k": 1}), "k", 1),
        (op("test", "/absent"), "a.c", "x"),
        (op("test", "/a", {"c": "x", "b": [1, 2, 3]}), "a.c", "x"),
        (op("test", "", copy.deepcopy(OBJECT)), "a.c", "x"),
    ],
)
def test_what_can_be_carried_out(operation: dict[str, Any], path: str, result: Any) -> None:
    before = copy.deepcopy(OBJECT)
    value: Any = jsonpatch.apply([operation], OBJECT)
    for name in path.split("."):
        value = value[name]
    assert value == result
    assert before == OBJECT


@pytest.mark.parametrize(
    "operation",
    [
        op("remove", "/a/absent"),
        op("remove", "/a/b/3"),
        op("remove", "/a/b/-"),
        op("remove", ""),
        op("add", "", {}),
        op("add", "/a/b/5", 1),
        op("add", "/a/b/-5", 1),
        op("add", "/a/b/one", 1),
        op("add", "/a/b/1_0", 1),
        op("add", "/absent/x", 1),
        op("add", "/n/x", 1),
        op("add", "/a/c/x", 1),
        op("add", "a", 1),
        op("replace", "/a/b/3", 1),
        op("move", "/a/d"),
        op("move", "/a/d", **{"from": "/a/absent"}),
        op("copy", "/a/d", **{"from": "/absent/x"}),
        op("test", "/a/b", [1, 3, 2]),
        op("test", "/a/b/0", 1.0),
        op("test", "/a/b/0", True),
        op("test", "/a/c"),
        op("upsert", "/a/c", 1),
        {"path": "/a/c"},
        {"op": "remove"},
        {},
        None,
        op("replace", "", "text"),
        op("replace", "", None),
    ],
)
def test_what_cannot_is_one_and_the_same_refusal(operation: Any) -> None:
    before = copy.deepcopy(OBJECT)
    with pytest.raises(APIError) as refused:
        jsonpatch.apply([op("add", "/a/z", 9), operation], OBJECT)
    assert refused.value.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "the server rejected our request due to an error in our request",
        "reason": "Invalid",
        "details": {},
        "code": 422,
    }
    assert before == OBJECT


@pytest.mark.parametrize(
    ("document", "code", "message"),
    [
        ({}, 400, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        ("x", 400, "error decoding patch: json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp"),
        ([1], 400, "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"),
        (
            [{"op": 1}],
            400,
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
        ),
        (
            [{}] * 10_001,
            413,
            "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
        ),
    ],
)
def test_what_is_no_json_patch(document: Any, code: int, message: str) -> None:
    with pytest.raises(APIError) as refused:
        jsonpatch.apply(document, OBJECT)
    assert (refused.value.code, refused.value.message) == (code, message)


def test_null_and_an_empty_list_change_nothing() -> None:
    assert jsonpatch.apply(None, OBJECT) is OBJECT
    assert jsonpatch.apply([], OBJECT) is OBJECT


def test_untouched_parts_are_shared() -> None:
    patched = jsonpatch.apply([op("replace", "/a/c", "y")], OBJECT)
    assert patched["l"] is OBJECT["l"]
    assert patched["a"]["b"] is OBJECT["a"]["b"]


def test_a_copy_does_not_hang_together_with_its_source() -> None:
    patch = [op("add", "/a/b/-", 4), op("copy", "/l/0/b", **{"from": "/a/b"}), op("add", "/a/b/-", 5)]
    patched = jsonpatch.apply(patch, OBJECT)
    assert (patched["a"]["b"], patched["l"][0]["b"]) == ([1, 2, 3, 4, 5], [1, 2, 3, 4])


def test_the_value_of_an_operation_is_not_changed_by_later_ones() -> None:
    patch = [op("add", "/v", {"x": [1]}), op("add", "/v/x/-", 2)]
    assert jsonpatch.apply(patch, OBJECT)["v"] == {"x": [1, 2]}
    assert jsonpatch.apply(patch, OBJECT)["v"] == {"x": [1, 2]}


def test_copies_may_not_grow_without_bound() -> None:
    big = {"a": {"x": "y" * 1000}}
    patch = [op("copy", f"/a/{number}", **{"from": "/a"}) for number in range(30)]
    started = time.perf_counter()
    with pytest.raises(APIError):
        jsonpatch.apply(patch, big)
    assert time.perf_counter() - started < 2


def test_ten_thousand_operations_take_moderate_time() -> None:
    obj = {"data": {str(number): "v" for number in range(5000)}}
    patch = [op("replace", f"/data/{number % 5000}", "w") for number in range(10_000)]
    started = time.perf_counter()
    jsonpatch.apply(patch, obj)
    assert time.perf_counter() - started < 1


def test_deep_documents_are_refused_and_not_fatal() -> None:
    deep: Any = 1
    for _ in range(20_000):
        deep = [deep]
    other: Any = 1
    for _ in range(20_000):
        other = [other]
    with pytest.raises(APIError):
        jsonpatch.apply([op("test", "/x", other)], {"x": deep})


_parts = st.sampled_from(["a", "b", "c", "l", "0", "1", "-1", "-", "n"])
_paths = st.lists(_parts, max_size=3).map(lambda parts: "".join(f"/{part}" for part in parts))
_operations = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]), "path": _paths},
    optional={"from": _paths, "value": st.sampled_from([1, "x", None, {"b": 1}, [1]])},
)


@given(st.lists(_operations, max_size=5))
@settings(deadline=None, max_examples=200)
def test_no_patch_changes_what_it_is_applied_to(patch: list[dict[str, Any]]) -> None:
    before, sent = copy.deepcopy(OBJECT), copy.deepcopy(patch)
    try:
        first: Any = jsonpatch.apply(patch, OBJECT)
    except APIError:
        first = None
    assert before == OBJECT
    assert patch == sent
    try:
        again: Any = jsonpatch.apply(sent, before)
    except APIError:
        again = None
    assert first == again


def test_fields_that_no_operation_has() -> None:
    assert jsonpatch.unknown_fields([{"op": "test", "path": "", "because": 1, "value": 2}]) == [
        'json patch unknown field "[0].because"'
    ]
    assert jsonpatch.unknown_fields([{'a"': 1}]) == [r'json patch unknown field "[0].a\""']


def test_a_list_can_take_the_place_of_the_document() -> None:
    assert jsonpatch.apply([op("replace", "", [1]), op("add", "/-", 2)], OBJECT) == [1, 2]
    with pytest.raises(jsonpatch.PatchFailed):  # a webhook is told so
        jsonpatch.carried_out([op("replace", "", [1])], OBJECT)


def test_long_lists_are_changed_as_short_ones_are() -> None:
    start, chance = list(range(LONG + 5000)), random.Random(3)
    expected, operations = list(start), []
    for number in range(400):
        at = chance.randrange(-len(expected), len(expected))
        kind = chance.choice(("add", "remove", "replace", "append"))
        if kind == "append":
            operations.append(op("add", "/l/-", number))
            expected.append(number)
        else:
            operations.append(op(kind, f"/l/{at}", -number))
            if kind == "add":
                expected.insert(at if at >= 0 else at + len(expected) + 1, -number)
            elif kind == "remove":
                del expected[at]
            else:
                expected[at] = -number
    operations.append(op("test", "/l", expected))
    operations.append(op("copy", "/m", **{"from": "/l"}))
    operations.append(op("add", "/l/0", {"in": [1]}))
    operations.append(op("add", "/l/0/in/0", 0))
    operations.append(op("move", "/n", **{"from": "/l"}))
    result = jsonpatch.apply(operations, {"l": start})
    assert result == {"m": expected, "n": [{"in": [0, 1]}, *expected]}
    assert type(result["n"]) is list
    assert start == list(range(LONG + 5000))


def test_the_ends_of_a_long_list_are_those_of_a_list() -> None:
    size = LONG + 1
    assert jsonpatch.apply([op("add", f"/l/{size}", 1)], {"l": [0] * size})["l"][-1] == 1
    for bad in (op("add", f"/l/{size + 1}", 1), op("remove", f"/l/{size}"), op("remove", f"/l/-{size + 1}")):
        with pytest.raises(APIError):
            jsonpatch.apply([op("add", "/l/0", 1), op("remove", "/l/0"), bad], {"l": [0] * size})


def test_emptied_long_lists_can_be_filled() -> None:
    emptied = [op("add", "/l/-", 1)] + [op("remove", "/l/0")] * (LONG + 2)
    assert jsonpatch.apply([op("add", "/l/-", 0)], {"l": []})["l"] == [0]
    document = jsonpatch._Document({"l": [0] * (LONG + 1)})
    for operation in [*emptied, op("add", "/l/0", 7), op("add", "/l/-", 8)]:
        document.carry_out(operation)
    assert document.settled() == {"l": [7, 8]}


@pytest.mark.parametrize(
    ("there", "sent", "passes"),
    [
        ("A", r'"A"', True),
        ("A", r'"\u0041"', False),
        ("a/b", r'"a/b"', True),
        ("a/b", r'"a\/b"', False),
        ("<", '"<"', False),
        ("<", r'"\u003c"', True),
        ("<", r'"\u003C"', False),
        ('say "\\n"\n', r'"say \"\\n\"\n"', True),
        ("\b\f\x01", r'"\b\f\u0001"', True),
        ("\b", r'"\u0008"', False),
        ("é", '"é"', True),
        ("é", r'"\u00e9"', False),
        (1.5, "1.5", True),
        (1.5, "1.50", False),
        (1.5, "15e-1", False),
        (0, "-0", False),
        (3, "3.0", False),
        (1000, "1e3", False),
        (["<", {"k": 1.5}], r'["\u003c",  {"k" : 1.5}]', True),
        (["<", {"k": 1.5}], r'["\u003c",{"\u006b":1.5}]', True),
        (["<", {"k": 1.5}], r'["<",{"k":1.5}]', False),
        ({"a": None}, '{"a": null}', True),
        (None, "null", True),
    ],
)
def test_a_test_compares_how_values_are_written(there: Any, sent: str, passes: bool) -> None:
    patch = f'[{{"op": "test", "path": "/a", "value": {sent}}}, {{"op": "add", "path": "/b", "value": {sent}}}]'
    made = parse_patch(JSON_PATCH, patch.encode(), Schema(s.JSON))
    if not passes:
        with pytest.raises(APIError):
            made({"a": there})
        return
    patched, _ = made({"a": there})
    assert patched == {"a": there, "b": json.loads(sent)}


def test_what_a_patch_adds_is_tested_as_it_was_written_and_kept_as_what_it_means() -> None:
    patch = (
        rb'[{"op":"add","path":"/a","value":{"t":"\u0041","n":[1.50,-0]}},{"op":"test","path":"/a/t","value":"\u0041"}]'
    )
    patched, _ = parse_patch(JSON_PATCH, patch, Schema(s.JSON))({"c": 1})
    assert patched == {"c": 1, "a": {"t": "A", "n": [1.5, 0]}}
    assert [type(item) for item in (patched["a"]["t"], *patched["a"]["n"])] == [str, float, int]


def test_a_long_patch_is_compared_by_value() -> None:
    patch = rb'[{"op":"test","path":"/a","value":"\u0041"}]' + b" " * 100_000
    assert parse_patch(JSON_PATCH, patch, Schema(s.JSON))({"a": "A"})[0] == {"a": "A"}


@pytest.mark.parametrize(
    ("value", "kind", "tested", "passes"),
    [
        ('"<"', "move", '"<"', True),
        ('"<"', "copy", '"<"', False),
        ('"<"', "copy", r'"\u003c"', True),
        (r'"\u0041&"', "copy", r'"\u0041\u0026"', True),
        (r'"\u0041&"', "copy", r'"A\u0026"', False),
        (r'{"k":["\u0041",1.50]}', "copy", r'{"k":["\u0041",1.50]}', True),
        (r'{"k":["\u0041",1.50]}', "copy", '{"k":["A",1.5]}', False),
        ('"\u2028"', "copy", r'"\u2028"', True),
    ],
)
def test_what_is_copied_keeps_its_text_but_for_signs_of_html(value: str, kind: str, tested: str, passes: bool) -> None:
    steps = (
        f'{{"op":"add","path":"/a","value":{value}}}',
        f'{{"op":"{kind}","from":"/a","path":"/b"}}',
        f'{{"op":"test","path":"/b","value":{tested}}}',
    )
    made = parse_patch(JSON_PATCH, f"[{','.join(steps)}]".encode(), Schema(s.JSON))
    if not passes:
        with pytest.raises(APIError):
            made({})
        return
    patched, _ = made({})
    assert patched["b"] == json.loads(value)


def test_copies_count_as_they_are_written() -> None:
    big = {"a": "<" * (jsonpatch.MAX_COPIED // 12)}
    assert jsonpatch.apply([op("copy", "/b", **{"from": "/a"})], big)["b"] is big["a"]
    with pytest.raises(APIError):
        jsonpatch.apply([op("copy", f"/{number}", **{"from": "/a"}) for number in range(3)], big)
