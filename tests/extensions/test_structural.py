"""Structural schemas by themselves: pruning, defaulting, validation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.machinery.decode import Findings, compile_decoder
from pilothouse.machinery.errors import MOST_CAUSES
from pilothouse.machinery.jsoncodec import dumps_sorted
from pilothouse.machinery.structural import embedded
from pilothouse.machinery.structural.check import check
from pilothouse.machinery.structural.explain import explain
from pilothouse.machinery.structural.formats import format_of
from pilothouse.machinery.structural.node import Node
from pilothouse.machinery.structural.patterns import BadPattern, searcher
from pilothouse.machinery.structural.prune import prune
from pilothouse.machinery.structural.settle import fill, settle, settle_slowly
from pilothouse.machinery.structural.types import schema_of
from pilothouse.machinery.structural.unique import duplicates
from pilothouse.machinery.typed.shape import shape_of
from registry.crds import METADATA

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
OBJECT = {"type": "object"}


def settled(schema: dict[str, Any], value: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The value as it is kept, and the paths of what was pruned."""
    node = Node({**OBJECT, **schema}, root=True)
    unknown: list[str] = []
    if not settle(node)(value):
        unknown, _ = settle_slowly(node, value, compile_decoder(METADATA))
    return value, unknown


@pytest.mark.parametrize(
    ("schema", "value", "kept", "unknown"),
    [
        ({"properties": {"a": TEXT}}, {"a": "x", "b": 1}, {"a": "x"}, ["b"]),
        ({"properties": {"a": OBJECT}}, {"a": {"b": {"c": 1}}}, {"a": {}}, ["a.b"]),
        ({"properties": {"a": {"type": "array", "items": OBJECT}}}, {"a": [{"b": 1}]}, {"a": [{}]}, ["a[0].b"]),
        ({"properties": {"a": TEXT}}, {"a": {"b": 1}}, {"a": {}}, ["a.b"]),
        ({"x-kubernetes-preserve-unknown-fields": True}, {"a": {"b": 1}}, {"a": {"b": 1}}, []),
        ({"properties": {"a": {**OBJECT, "additionalProperties": TEXT}}}, {"a": {"b": "c"}}, {"a": {"b": "c"}}, []),
        ({}, {"apiVersion": "v1", "kind": "X", "metadata": {}}, {"apiVersion": "v1", "kind": "X", "metadata": {}}, []),
    ],
)
def test_what_the_schema_does_not_know_is_pruned(schema: Any, value: Any, kept: Any, unknown: list[str]) -> None:
    assert settled(schema, value) == (kept, unknown)


@pytest.mark.parametrize(
    ("field", "value", "kept"),
    [
        ({**TEXT, "default": "x"}, {}, {"a": "x"}),
        ({**TEXT, "default": "x"}, {"a": None}, {"a": "x"}),
        ({**TEXT, "default": "x", "nullable": True}, {"a": None}, {"a": None}),
        (TEXT, {"a": None}, {}),
        ({**OBJECT, "default": {}, "properties": {"b": {**NUMBER, "default": 1}}}, {}, {"a": {"b": 1}}),
        ({**OBJECT, "properties": {"b": {**NUMBER, "default": 1}}}, {}, {}),
        ({**OBJECT, "properties": {"b": {**NUMBER, "default": 1}}}, {"a": {}}, {"a": {"b": 1}}),
        ({"type": "number"}, {"a": 3.0}, {"a": 3}),
    ],
)
def test_defaults_and_nulls(field: Any, value: Any, kept: Any) -> None:
    assert settled({"properties": {"a": field}}, value)[0] == kept


def test_defaults_are_never_shared() -> None:
    schema = {"properties": {"a": {**OBJECT, "default": {"b": [1]}, "x-kubernetes-preserve-unknown-fields": True}}}
    node = Node({**OBJECT, **schema}, root=True)
    first: dict[str, Any] = {}
    second: dict[str, Any] = {}
    settle(node)(first)
    settle(node)(second)
    first["a"]["b"].append(2)
    assert second == {"a": {"b": [1]}}


def test_metadata_of_embedded_objects_is_of_its_type() -> None:
    schema = {"properties": {"a": {**OBJECT, "x-kubernetes-embedded-resource": True}}}
    value = {"a": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "bogus": 1}}}
    assert settled(schema, value)[1] == ["a.metadata.bogus"]
    assert embedded.valid({"kind": "Pod"}) is False


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        (TEXT, 1, 'Invalid value: "integer": a in body must be of type string: "integer"'),
        (
            {"x-kubernetes-int-or-string": True},
            1.5,
            'Invalid value: "number": a in body must be of type integer,string: "number"',
        ),
        ({**NUMBER, "maximum": 3}, 4, "Invalid value: 4: a in body should be less than or equal to 3"),
        ({**TEXT, "minLength": 2}, "x", 'Invalid value: "x": a in body should be at least 2 chars long'),
        ({**TEXT, "maxLength": 1}, "äö", "Too long: may not be more than 1 byte"),
        ({**TEXT, "pattern": "^x"}, "y", "Invalid value: \"y\": a in body should match '^x'"),
        ({**TEXT, "enum": ["b"]}, "c", 'Unsupported value: "c": supported values: "b"'),
        ({"type": "array", "items": NUMBER, "maxItems": 1}, [1, 2], "Too many: 2: must have at most 1 item"),
        ({**OBJECT, "required": ["b"]}, {}, "Required value"),
        ({**TEXT, "format": "date"}, "x", 'Invalid value: "x": a in body must be of type date: "x"'),
        ({**OBJECT, "not": {"required": ["b"]}}, {"b": 1}, 'Invalid value: "": "a" must not validate the schema (not)'),
    ],
)
def test_what_is_wrong_is_told_in_the_words_of_the_original(schema: Any, value: Any, message: str) -> None:
    node = Node({**OBJECT, "properties": {"a": schema}})
    assert not check(node)({"a": value})
    assert message in [cause.message for cause in explain(node, {"a": value})]


def test_unchanged_values_are_not_looked_at_again() -> None:
    items = {**OBJECT, "properties": {"k": TEXT, "v": {**TEXT, "enum": ["x"]}}}
    keyed = {"type": "array", "items": items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    node = Node({**OBJECT, "properties": {"l": keyed, "p": {"type": "array", "items": {**TEXT, "maxLength": 1}}}})
    old = {"l": [{"k": "a", "v": "bad"}], "p": ["long"]}
    moved = {"l": [{"k": "b", "v": "x"}, {"k": "a", "v": "bad"}], "p": ["long"]}
    assert explain(node, moved, old) == []
    assert [cause.field for cause in explain(node, {"p": ["long", "x"]}, old)] == ["p[0]"]


def test_sets_hold_nothing_twice_but_true_is_no_one() -> None:
    node = Node({"type": "array", "items": {}, "x-kubernetes-list-type": "set"})
    found: list[tuple[str, str]] = []
    duplicates(node, [1, True, 1, "1"], "tags", found)
    assert found == [("tags[2]", "1")]


def test_patterns_are_linear_and_bad_ones_are_refused() -> None:
    assert not searcher("^(a+)+$")("a" * 5000 + "b")
    with pytest.raises(BadPattern):
        searcher("(?!x)y")


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("date-time", "2024-01-02T03:04:05Z", "2024-13-02T03:04:05Z"),
        ("date", "2024-02-29", "2023-02-29"),
        ("duration", "1h15m", "one hour"),
        ("ipv4", "10.0.0.1", "10.0.0.256"),
        ("cidr", "10.0.0.0/8", "10.0.0.0"),
        ("uuid", "0ce4c3f0-67e4-4e29-8b9a-1e0a0f9e6d11", "0ce4c3f0"),
        ("isbn", "0321751043", "123"),
        ("creditcard", "4111111111111111", "41"),
        ("byte", "aGk=", "a?"),
    ],
)
def test_formats(form: str, good: str, bad: str) -> None:
    test = format_of(form)
    assert test is not None
    assert test(good)
    assert not test(bad)
    assert format_of("bicycle") is None


def test_kinds_of_schemas_become_kinds_of_types() -> None:
    schema = {
        "properties": {
            "free": {"x-kubernetes-preserve-unknown-fields": True},
            "tags": {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
            "labels": {**OBJECT, "additionalProperties": TEXT},
            "whole": {**OBJECT, "x-kubernetes-map-type": "atomic"},
        }
    }
    made = schema_of(Node({**OBJECT, **schema}, root=True), METADATA)
    kinds = {name: shape_of(field.schema).kind for name, field in made.properties.items()}
    assert kinds["free"] == "free"
    assert (kinds["tags"], kinds["labels"], kinds["whole"]) == ("set", "map", "atom")


# -- the fast and the exact way agree

_LEAVES = st.sampled_from(
    [
        TEXT,
        NUMBER,
        {"type": "number"},
        {"type": "boolean"},
        {"x-kubernetes-int-or-string": True},
        {"x-kubernetes-preserve-unknown-fields": True},
        {**TEXT, "maxLength": 1},
        {**NUMBER, "minimum": 0, "maximum": 3},
        {**TEXT, "enum": ["a", "b"]},
        {**TEXT, "nullable": True},
        {**NUMBER, "format": "int32"},
        {**TEXT, "format": "date"},
        {**NUMBER, "multipleOf": 2},
        {**TEXT, "default": "d"},
        {"type": "number", "maximum": 1.5, "exclusiveMaximum": True},
        {**NUMBER, "anyOf": [{"maximum": 1}, {"minimum": 5}]},
        {**TEXT, "pattern": "^a"},
    ]
)


def _deeper(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    members = st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    structs = st.builds(lambda p, r: {**OBJECT, "properties": p, "required": r}, members, st.sampled_from([[], ["a"]]))
    lists = st.builds(lambda i, k: {"type": "array", "items": i, **k}, inner, st.sampled_from(
        [{}, {"maxItems": 2}, {"x-kubernetes-list-type": "set"}]
    ))  # fmt: skip
    maps = st.builds(lambda i: {**OBJECT, "additionalProperties": i, "maxProperties": 2}, inner)
    return st.one_of(structs, lists, maps)


SCHEMAS = st.recursive(_LEAVES, _deeper, max_leaves=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "a", "ab", 0.5, 2.0, "2024-01-01", 2**63]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=400, deadline=None)
@given(SCHEMAS, VALUES)
def test_a_value_is_valid_when_nothing_is_wrong_with_it(schema: dict[str, Any], value: Any) -> None:
    node = Node(schema)
    doubled: list[tuple[str, str]] = []
    duplicates(node, value, "", doubled)
    assert check(node)(value) == (not explain(node, value) and not doubled)


@settings(max_examples=400, deadline=None)
@given(SCHEMAS, VALUES)
def test_the_fast_way_settles_as_the_exact_one_does(schema: dict[str, Any], value: Any) -> None:
    import orjson

    root = Node({**OBJECT, "properties": {"spec": schema}}, root=True)
    data = orjson.dumps({"spec": value})
    fast, exact = orjson.loads(data), orjson.loads(data)
    took = settle(root)(fast)
    unknown, _ = settle_slowly(root, exact, compile_decoder(METADATA))
    if took:
        assert unknown == []
        assert dumps_sorted(fast) == dumps_sorted(exact)


def test_findings_are_untouched_by_good_metadata() -> None:
    findings = Findings()
    compile_decoder(METADATA)({"name": "x"}, findings)
    assert findings.strict == []


@pytest.mark.parametrize(
    ("keywords", "value"),
    [
        ({"type": "array", "items": TEXT}, [1] * 300_000),
        ({"type": "array", "items": {**OBJECT, "required": ["a"]}}, [{}] * 300_000),
        ({**OBJECT, "additionalProperties": TEXT}, {str(number): 1 for number in range(100_000)}),
        ({"type": "array", "items": {"type": "array", "items": TEXT}}, [["a", 1]] * 100_000),
    ],
)
def test_what_is_wrong_in_very_many_places_is_told_for_a_thousand(keywords: Any, value: Any) -> None:
    found = explain(Node({**OBJECT, "properties": {"a": keywords}}), {"a": value})
    assert len(found) == MOST_CAUSES
    assert found[0].field.startswith("a[0]" if isinstance(value, list) else "a.0")


def test_what_is_wrong_at_the_end_of_a_long_list_is_found() -> None:
    schema = {**OBJECT, "properties": {"a": {"type": "array", "items": TEXT}}}
    assert [one.field for one in explain(Node(schema), {"a": ["x"] * 5000 + [1]})] == ["a[5000]"]


def test_what_is_wrong_in_a_big_map_is_found() -> None:
    value: dict[str, Any] = {f"k{number}": "a" for number in range(2_000)}
    value["k700"] = value["k30"] = 1
    for keywords in ({"additionalProperties": TEXT}, {"additionalProperties": TEXT, "properties": {"k5": NUMBER}}):
        fields = [cause.field for cause in explain(Node({**OBJECT, **keywords}), value)]
        assert fields == ["k30", "k700", "k5"][: 1 + len(keywords)]
    closed = Node({**OBJECT, "additionalProperties": False, "properties": {"k1": TEXT}})
    assert [cause.message.split('"')[1] for cause in explain(closed, value)][:3] == ["k0", "k10", "k100"]


def test_long_lists_of_objects_are_pruned_where_something_is_unknown() -> None:
    node = Node({"type": "array", "items": {**OBJECT, "properties": {"a": TEXT, "b": OBJECT}}})
    value: list[Any] = [{"a": "x"} for _ in range(1_000)]
    value[400] = {"a": "x", "c": 1}
    value[600] = {"b": {"d": {}}}
    unknown: list[str] = []
    prune(node, value, "l", unknown)
    assert unknown == ["l[400].c", "l[600].b.d"]
    assert value[400] == {"a": "x"}
    assert value[600] == {"b": {}}


@pytest.mark.parametrize(
    ("items", "value", "doubled"),
    [
        (TEXT, ["a", "b", "a", "a"], ["t[2]"]),
        (NUMBER, [1, 2, 1, 2], ["t[2]", "t[3]"]),
        ({"x-kubernetes-int-or-string": True}, [1, "1", True, 1], ["t[3]"]),
        ({**OBJECT, "x-kubernetes-map-type": "atomic"}, [{"a": [1]}, {"a": [True]}, {"a": [1]}], ["t[2]"]),
    ],
)
def test_sets_hold_nothing_twice(items: Any, value: Any, doubled: list[str]) -> None:
    node = Node({**OBJECT, "properties": {"t": {"type": "array", "x-kubernetes-list-type": "set", "items": items}}})
    found: list[tuple[str, str]] = []
    duplicates(node, {"t": value}, "", found)
    assert [path for path, _ in found] == doubled
    assert not check(node.properties["t"])(value)


def test_lists_keyed_like_maps_hold_no_key_twice() -> None:
    keyed = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": OBJECT}
    node = Node({**OBJECT, "properties": {"t": keyed}})
    for items in ([{"k": 1}, {"k": "1"}, {"k": True}, {"k": 1}], [{"k": "a"}, {}, {"k": "b"}, {}], [{"k": [1]}] * 2):
        found: list[tuple[str, str]] = []
        duplicates(node, {"t": items}, "", found)
        assert [path for path, _ in found] == [f"t[{len(items) - 1}]"]


@pytest.mark.parametrize("default", [False, 0, "", [], {}])
def test_an_empty_default_is_one_too(default: Any) -> None:
    node = Node({**OBJECT, "properties": {"a": {**OBJECT, "properties": {"b": {"default": default}}}}})
    value: dict[str, Any] = {"a": {}}
    fill(node, value)
    assert value == {"a": {"b": default}}
