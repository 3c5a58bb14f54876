"""The validation kit: what causes look like, where they point, and when rules run."""

from __future__ import annotations

from typing import Any

import pytest

from pilothouse.machinery.errors import MOST_CAUSES, Cause
from pilothouse.machinery.rules import (
    Field,
    Rule,
    at,
    between,
    each,
    each_value,
    exactly_one,
    if_changed,
    immutable,
    longest,
    not_negative,
    on_update,
    one_of,
    required,
    rules,
    sees_absent,
    shown,
    unique,
    when,
)


def found(rule: Rule, new: Any, old: Any = None) -> list[tuple[str, str]]:
    return [(cause.field, cause.message) for cause in rules(rule)(new, old, None)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        ("a", '"a"'),
        ('say "hi"\n', '"say \\"hi\\"\\n"'),
        ("é", '"é"'),
        ("\x01", '"\\x01"'),
        ("\u200b", '"\\u200b"'),
        (True, "true"),
        (-3, "-3"),
        ({"a": "<b>", "n": [1]}, '{"a":"\\u003cb\\u003e","n":[1]}'),
        ([], "[]"),
    ],
)
def test_values_are_shown_as_the_original_shows_them(value: Any, text: str) -> None:
    assert shown(value) == text


def test_every_kind_of_cause_has_its_word_and_text() -> None:
    field = Field()
    field.required("a")
    field.required("a", "really")
    field.invalid("a", "x", "is bad")
    field.type_invalid("a", 3, "is odd")
    field.not_supported("a", "x", ["A", "B"])
    field.forbidden("a", "no")
    field.duplicate("a", "x")
    field.not_found("a", "x")
    field.too_long("a", 63)
    field.too_long("a", 1)
    field.too_many("a", 3, 1)
    field.internal("a", "lost")
    assert field.causes() == [
        Cause("FieldValueRequired", "Required value", "a"),
        Cause("FieldValueRequired", "Required value: really", "a"),
        Cause("FieldValueInvalid", 'Invalid value: "x": is bad', "a"),
        Cause("FieldValueTypeInvalid", "Invalid value: 3: is odd", "a"),
        Cause("FieldValueNotSupported", 'Unsupported value: "x": supported values: "A", "B"', "a"),
        Cause("FieldValueForbidden", "Forbidden: no", "a"),
        Cause("FieldValueDuplicate", 'Duplicate value: "x"', "a"),
        Cause("FieldValueNotFound", 'Not found: "x"', "a"),
        Cause("FieldValueTooLong", "Too long: may not be more than 63 bytes", "a"),
        Cause("FieldValueTooLong", "Too long: may not be more than 1 byte", "a"),
        Cause("FieldValueTooMany", "Too many: 3: must have at most 1 item", "a"),
        Cause("InternalError", "Internal error: lost", "a"),
    ]


def test_paths_are_built_from_the_inside_out() -> None:
    port = at("port", between(1, 10))
    rule = at("spec", at("ports", each(port)), at("limits", each_value(not_negative)))
    assert found(rule, {"spec": {"ports": [{"port": 1}, {"port": 11}], "limits": {"b": -1, "a": -2}}}) == [
        ("spec.ports[1].port", "Invalid value: 11: must be between 1 and 10, inclusive"),
        ("spec.limits[a]", "Invalid value: -2: must be greater than or equal to 0"),
        ("spec.limits[b]", "Invalid value: -1: must be greater than or equal to 0"),
    ]


def test_a_path_from_the_root_stays() -> None:
    def odd(_: Any, field: Field) -> None:
        field.forbidden("/metadata.taints[0]", "no")

    assert found(at("spec.taints", odd), {"spec": {"taints": [1]}}) == [("metadata.taints[0]", "Forbidden: no")]


def test_absent_values_meet_only_rules_that_see_absence() -> None:
    assert found(at("spec.n", not_negative), {"spec": {}}) == []
    assert found(at("spec.n", not_negative), {}) == []
    assert found(at("spec.name", required, one_of("x")), {"spec": {}}) == [("spec.name", "Required value")]
    assert found(at("spec.name", required, one_of("x")), {"spec": {"name": ""}}) == [("spec.name", "Required value")]
    assert found(at("spec", at("name", required)), {}) == [("spec.name", "Required value")]


def test_a_rule_that_says_so_ends_its_place_only() -> None:
    rule = at("a", required, not_negative)
    assert found(at("spec", rule, at("b", required)), {"spec": {}}) == [
        ("spec.a", "Required value"),
        ("spec.b", "Required value"),
    ]


def test_immutable_compares_with_the_old_value_at_the_same_place() -> None:
    rule = at("spec", at("selector", immutable))
    assert found(rule, {"spec": {"selector": {"a": "b"}}}) == []
    assert found(rule, {"spec": {"selector": {"a": "b"}}}, {"spec": {"selector": {"a": "b"}}}) == []
    assert found(rule, {"spec": {"selector": {"a": "c"}}}, {"spec": {"selector": {"a": "b"}}}) == [
        ("spec.selector", 'Invalid value: {"a":"c"}: field is immutable')
    ]
    assert found(rule, {"spec": {}}, {"spec": {"selector": {"a": "b"}}}) == [
        ("spec.selector", "Invalid value: null: field is immutable")
    ]


def test_paired_items_see_their_old_item_and_others_none() -> None:
    seen: list[Any] = []

    def look(_: Any, field: Field) -> None:
        seen.append(field.old)

    new = {"l": [{"name": "b"}, {"name": "c"}]}
    old = {"l": [{"name": "a"}, {"name": "b", "x": 1}]}
    assert found(at("l", each(look, key="name")), new, old) == []
    assert found(at("l", each(look)), new, old) == []
    assert seen == [{"name": "b", "x": 1}, None, None, None]


def test_ratcheting_and_update_rules_look_only_where_told() -> None:
    assert found(at("n", if_changed(not_negative)), {"n": -1}, {"n": -1}) == []
    assert found(at("n", if_changed(not_negative)), {"n": -1}, {"n": 2}) != []
    assert found(at("n", if_changed(not_negative)), {"n": -1}) != []
    assert found(at("n", on_update(not_negative)), {"n": -1}) == []


def test_conditions_unions_and_duplicates() -> None:
    union = exactly_one(["a", "b", "c"], "must specify one", "may not specify more than 1")
    assert found(at("s", union), {"s": {}}) == [("s", "Required value: must specify one")]
    assert found(at("s", union), {"s": {"a": {}, "b": {}, "c": {}}}) == [
        ("s.b", "Forbidden: may not specify more than 1"),
        ("s.c", "Forbidden: may not specify more than 1"),
    ]
    assert found(at("l", unique("name")), {"l": [{"name": "a"}, {"name": "b"}, {"name": "a"}]}) == [
        ("l[2].name", 'Duplicate value: "a"')
    ]
    assert found(at("l", unique()), {"l": ["a", "a"]}) == [("l[1]", 'Duplicate value: "a"')]
    assert found(at("l", unique("a", "b")), {"l": [{"a": "x", "b": 1}, {"a": "x", "b": 1}]}) == [
        ("l[1]", 'Duplicate value: {"a":"x","b":1}')
    ]
    big = when(lambda value, _: value > 3, between(0, 2))
    assert found(at("n", big), {"n": 3}) == []
    assert found(at("n", big), {"n": 4}) != []
    assert found(at("t", longest(3)), {"t": "éé"}) == [("t", "Too long: may not be more than 3 bytes")]


def test_own_rules_may_see_absence_and_the_whole_object() -> None:
    @sees_absent
    def needs_other(value: Any, field: Field) -> None:
        if value is None and field.root.get("other"):
            field.required("", "with other")

    assert found(at("x", needs_other), {"other": 1}) == [("x", "Required value: with other")]
    assert found(at("x", needs_other), {}) == []


def test_what_is_wrong_in_half_a_million_places_is_told_for_a_thousand() -> None:
    check = rules(at("items", each(at("name", required))))
    causes = check({"items": [{"name": ""}] * 5000}, None, None)
    assert len(causes) == MOST_CAUSES
    assert causes[-1].field == f"items[{MOST_CAUSES - 1}].name"


def test_a_list_is_numbered_until_enough_is_wrong_with_it() -> None:
    seen = []

    def look(items: Any, field: Field) -> None:
        for index, item in field.numbered(items):
            seen.append(index)
            assert items[index] == item
            if item < 0:
                field.invalid(f"[{index}]", item, "bad")

    assert found(at("items", look), {"items": list(range(500))}) == []
    assert seen == list(range(500))
    seen.clear()
    causes = found(at("items", look), {"items": [-1] * 500_000})
    assert len(causes) == MOST_CAUSES
    assert len(seen) < MOST_CAUSES + 100


def test_runs_of_items_that_are_fine_for_sure_are_passed_over() -> None:
    seen = []

    def look(items: Any, field: Field) -> None:
        for index, item in field.doubtful(items, lambda run: min(run) >= 0):
            seen.append(index)
            if item < 0:
                field.invalid(f"[{index}]", item, "bad")

    items = list(range(5000))
    assert found(at("items", look), {"items": items}) == [] and seen == []
    items[4321] = -1
    assert found(at("items", look), {"items": items}) == [("items[4321]", "Invalid value: -1: bad")]
    assert len(seen) < 200
    assert found(at("items", look), {"items": [1, -2]}) == [("items[1]", "Invalid value: -2: bad")]


def test_of_a_long_row_of_items_that_are_alike_the_first_good_one_is_judged_for_all() -> None:
    seen = []

    def look(item: Any, field: Field) -> None:
        seen.append(item)
        if item < 0:
            field.invalid("", item, "bad")

    assert found(at("items", each(look)), {"items": [1] * 500 + [2] * 500}) == [] and seen == [1, 2]
    assert len(found(at("items", each(look)), {"items": [-1] * 500 + [2] * 500})) == 500
    seen.clear()
    assert found(at("items", each(look)), {"items": [1] * 5}) == [] and seen == [1] * 5


def test_of_items_that_differ_where_it_does_not_matter_one_is_judged_for_a_run() -> None:
    seen = []

    def look(item: Any, field: Field) -> None:
        seen.append(item["name"])
        if "b" not in item["name"] or item.get("bad"):
            field.invalid("", item["name"], "bad")

    def judge(items: Any, field: Field) -> None:
        field.each("", look, items, free={"name": lambda names: all("b" in name for name in names)})

    items = [{"name": f"b{number}", "other": "x"} for number in range(1280)]
    assert found(at("items", judge), {"items": items}) == [] and len(seen) == 10
    items[700] = {"name": "c", "other": "x"}
    items[300] = {"name": "b", "bad": True}
    items[900] = {"name": "b", "other": "y"}
    wrong = [("items[300]", 'Invalid value: "b": bad'), ("items[700]", 'Invalid value: "c": bad')]
    assert found(at("items", judge), {"items": items}) == wrong
    items = [{"name": f"b{number}", "bad": True} for number in range(700)]
    assert len(found(at("items", judge), {"items": items})) == 700
