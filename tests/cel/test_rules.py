"""Rules of schemas tried on objects: places, messages, old values, budgets."""

from __future__ import annotations

from typing import Any

import pytest

from cel.trying import node_of, of_schema, refusals
from pilothouse.cel.metrics import ExpressionMetrics
from pilothouse.cel.rules import broken
from pilothouse.kit.metrics import Histogram, Registry

TEXT = {"type": "string", "maxLength": 20}
INTEGER = {"type": "integer"}


def ruled(schema: dict[str, Any], *rules: str | dict[str, Any]) -> dict[str, Any]:
    return {**schema, "x-kubernetes-validations": [{"rule": one} if isinstance(one, str) else one for one in rules]}


def an_object(*rules: str | dict[str, Any], **properties: Any) -> dict[str, Any]:
    return ruled({"type": "object", "properties": properties}, *rules)


def keyed(item: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
    }  # fmt: skip


def test_what_keeps_its_rules_is_not_refused() -> None:
    assert refusals(an_object("self.a < self.b", a=INTEGER, b=INTEGER), {"a": 1, "b": 2}) == []


def test_rules_are_told_at_their_places_outer_ones_first() -> None:
    schema = an_object(
        "self.n < 5",
        n=ruled(INTEGER, "self < 3"),
        items={"type": "array", "items": ruled(TEXT, "self != 'x'")},
        map=ruled({"type": "object", "additionalProperties": ruled(INTEGER, "self > 0")}, "!('z' in self)"),
    )
    assert refusals(schema, {"n": 7, "items": ["a", "x"], "map": {"z": 0}}) == [
        "spec: Invalid value: failed rule: self.n < 5",
        "spec.items[1]: Invalid value: \"x\": failed rule: self != 'x'",
        "spec.map: Invalid value: failed rule: !('z' in self)",
        "spec.map[z]: Invalid value: 0: failed rule: self > 0",
        "spec.n: Invalid value: 7: failed rule: self < 3",
    ]


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"message": " too big "}, "spec: Invalid value: too big"),
        ({"messageExpression": "'%d is too big'.format([self.a])"}, "spec: Invalid value: 9 is too big"),
        ({"message": "m", "messageExpression": "string(self.a / 0)"}, "spec: Invalid value: m"),
        ({"message": "m", "messageExpression": "'  '"}, "spec: Invalid value: m"),
        ({"reason": "FieldValueForbidden"}, "spec: Forbidden: failed rule: self.a < 5"),
        ({"reason": "FieldValueRequired", "message": "m"}, "spec: Required value: m"),
        ({"reason": "FieldValueDuplicate"}, "spec: Duplicate value"),
        ({"fieldPath": ".a"}, "spec.a: Invalid value: failed rule: self.a < 5"),
        ({"fieldPath": "['map']['a b']"}, "spec.map[a b]: Invalid value: failed rule: self.a < 5"),
    ],
)
def test_messages_reasons_and_fields(rule: dict[str, Any], told: str) -> None:
    schema = an_object({"rule": "self.a < 5", **rule}, a=INTEGER, map={"type": "object", "additionalProperties": TEXT})
    assert refusals(schema, {"a": 9}) == [told]


def test_a_rule_that_fails_to_run_is_told_with_the_type_and_the_next_is_tried() -> None:
    schema = an_object("self.a / 0 == 1", "self.b == 'x'", "self.a == 2", a=INTEGER, b=TEXT)
    assert refusals(schema, {"a": 1}) == [
        'spec: Invalid value: "object": division by zero evaluating rule: self.a / 0 == 1',
        "spec: Invalid value: \"object\": no such key: b evaluating rule: self.b == 'x'",
        "spec: Invalid value: failed rule: self.a == 2",
    ]


def test_nothing_is_tried_below_what_is_absent_or_null() -> None:
    schema = an_object(o={**an_object("has(self.p)", p=ruled(INTEGER, "self > 0")), "nullable": True})
    assert refusals(schema, {}) == []
    assert refusals(schema, {"o": None}) == []
    assert refusals(schema, {"o": {}}) == ["spec.o: Invalid value: failed rule: has(self.p)"]


# -- changes


def test_rules_about_changes_hold_on_updates_only() -> None:
    schema = an_object(owner=ruled(TEXT, {"rule": "self == oldSelf", "message": "fixed"}))
    assert refusals(schema, {"owner": "a"}) == []
    assert refusals(schema, {"owner": "a"}, old={"owner": "a"}) == []
    assert refusals(schema, {"owner": "a"}, old={}) == []
    assert refusals(schema, {"owner": "b"}, old={"owner": "a"}) == ['spec.owner: Invalid value: "b": fixed']


def test_an_optional_old_self_is_there_on_create_too() -> None:
    rule = {"rule": "oldSelf.hasValue() || self.startsWith('new-')", "optionalOldSelf": True, "message": "starts new"}
    schema = an_object(word=ruled(TEXT, rule))
    assert refusals(schema, {"word": "x"}) == ['spec.word: Invalid value: "x": starts new']
    assert refusals(schema, {"word": "x"}, old={"word": "y"}) == []


def test_items_of_keyed_lists_meet_their_old_selves() -> None:
    item = ruled({"type": "object", "properties": {"k": TEXT, "v": INTEGER}}, "self.v >= oldSelf.v")
    schema = an_object(list=keyed(item))
    old = {"list": [{"k": "a", "v": 1}, {"k": "b", "v": 2}]}
    assert refusals(schema, {"list": [{"k": "b", "v": 2}, {"k": "c", "v": 0}, {"k": "a", "v": 5}]}, old) == []
    assert refusals(schema, {"list": [{"k": "b", "v": 1}]}, old) == [
        "spec.list[0]: Invalid value: failed rule: self.v >= oldSelf.v"
    ]


def test_old_sins_are_only_warned_of() -> None:
    schema = an_object(a=ruled(TEXT, {"rule": "self.startsWith('ok')", "message": "must be ok"}), b=TEXT)
    assert refusals(schema, {"a": "bad", "b": "x"}, old={"a": "bad"}) == [
        'warning: spec.a: Invalid value: "bad": must be ok'
    ]
    assert refusals(schema, {"a": "worse"}, old={"a": "bad"}) == ['spec.a: Invalid value: "worse": must be ok']


# -- budgets


def test_a_rule_that_costs_too_much_is_the_last() -> None:
    loop = {"rule": "self.l.all(x, self.l.all(y, x + y >= 0))", "message": "sums"}
    schema = an_object(loop, "self.l.size() == 0", l={"type": "array", "items": INTEGER})
    assert refusals(schema, {"l": [0] * 700}) == [
        "spec: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation "
        "rules will be run due to call cost exceeds limit for rule: sums"
    ]


def test_all_rules_together_have_a_budget() -> None:
    loop = "self.l.all(x, self.l.all(y, x + y >= 0))"
    schema = an_object(*[loop] * 4, "self.l.size() == 0", l={"type": "array", "items": INTEGER})
    assert refusals(schema, {"l": [0] * 100}, budget=200_000) == [
        'spec: Invalid value: "object": validation failed due to running out of cost budget, no further validation '
        "rules will be run"
    ]


# -- what rules see


@pytest.mark.parametrize(
    ("schema", "data", "expression"),
    [
        ({"type": "string", "format": "date-time"}, "2024-02-29T13:14:15Z", "self.getFullYear() == 2024"),
        ({"type": "string", "format": "date"}, "2024-03-01", "self.getDayOfYear() == 60"),
        ({"type": "string", "format": "duration"}, "1h30m", "self == duration('5400s')"),
        ({"type": "string", "format": "byte"}, "aGk=", "self == b'hi'"),
        ({"type": "number"}, 3, "type(self) == double && self / 2.0 == 1.5"),
        ({"x-kubernetes-int-or-string": True}, "5%", "type(self) == string && self.endsWith('%')"),
        ({"x-kubernetes-int-or-string": True}, 5, "type(self) == int && self > 4"),
        (
            {"type": "object", "properties": {"x-y": INTEGER, "if": INTEGER, "a__b": INTEGER}},
            {"x-y": 1, "if": 2, "a__b": 3},
            "self.x__dash__y + self.__if__ + self.if + self.a__underscores__b == 8",
        ),
        (
            {"type": "object", "properties": {"n": {"type": "string", "nullable": True}}},
            {"n": None},
            "!has(self.n) && !self.?n.hasValue()",
        ),
        (
            {"type": "object", "x-kubernetes-embedded-resource": True},
            {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}},
            "self.kind == 'Pod' && self.metadata.name == 'a'",
        ),
    ],
)
def test_values_have_the_types_of_their_schema(schema: dict[str, Any], data: Any, expression: str) -> None:
    answer = of_schema(schema, expression, data)
    assert (answer.value, answer.error) == (True, None)


@pytest.mark.parametrize(
    ("kind", "same", "united"),
    [("set", True, ["a", "b", "c"]), ("atomic", False, ["a", "b", "c", "b"])],
)
def test_sets_compare_without_order_and_unite(kind: str, same: bool, united: list[str]) -> None:
    schema = {"type": "array", "items": TEXT, "x-kubernetes-list-type": kind}
    assert of_schema(schema, "self == ['b', 'a']", ["a", "b"]).value is same
    assert of_schema(schema, "self + ['c', 'b']", ["a", "b"]).value == united


def test_keyed_lists_merge_by_key() -> None:
    item = {"type": "object", "properties": {"k": TEXT, "v": INTEGER}}
    schema = {"type": "array", "items": keyed(item)}
    data = [[{"k": "x", "v": 1}, {"k": "y", "v": 2}], [{"k": "y", "v": 3}], [{"k": "y", "v": 2}, {"k": "x", "v": 1}]]
    assert of_schema(schema, "(self[0] + self[1]).map(e, e.v)", data).value == [1, 3]
    assert of_schema(schema, "self[0] == self[2] && self[0] != self[1]", data).value is True


def test_a_float_in_an_integer_field_is_an_error_to_who_looks_at_it() -> None:
    schema = an_object("!has(self.a) || self.a > 1", "has(self.a)", a=INTEGER)
    assert refusals(schema, {"a": 5.0}) == [
        'spec: Invalid value: "object": invalid data, expected int, got float64 evaluating rule: '
        "!has(self.a) || self.a > 1"
    ]


def test_what_rules_take_is_measured_for_each_place() -> None:
    registry, ticks = Registry(), iter(range(100))
    measured = ExpressionMetrics(registry, lambda: float(next(ticks)))
    spec = an_object("has(self.a)", "self.a > 0", a=ruled(INTEGER, "self < 5"))
    root = node_of({"type": "object", "properties": {"spec": spec}})
    for _ in range(3):
        assert not broken(root, {"spec": {"a": 1}}, None, lambda text: None, measured=measured)
    counts = {
        family.name: sum(family.samples()[0][1]) for family in registry.families() if isinstance(family, Histogram)
    }
    assert counts == {
        "apiserver_cel_compilation_duration_seconds": 2,
        "apiserver_cel_evaluation_duration_seconds": 6,
    }
