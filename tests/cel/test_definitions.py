"""Rules in definitions: how they must be written, where oldSelf may stand, what all of them may cost."""

from __future__ import annotations

from typing import Any

import pytest

from cel.trying import node_of
from pilothouse.cel.definitionrules import definition_problems, too_expensive

PLACE = "spec.schema.properties[spec]"


def told(spec: dict[str, Any], *rules: dict[str, Any], bad: bool = False) -> list[str]:
    root = node_of({"type": "object", "properties": {"spec": {**spec, "x-kubernetes-validations": list(rules)}}})
    causes = definition_problems(root, "spec.schema", lambda path: bad, lambda rule: "RULE")
    return [f"{cause.field.removeprefix(PLACE)}: {cause.message}" for cause in causes]


OBJECT = {
    "type": "object",
    "properties": {"s": {"type": "string"}, "l": {"type": "array", "items": {"type": "string"}}},
}


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"rule": " "}, ".rule: Required value: rule is not specified"),
        ({"rule": "true", "message": " "}, '.message: Invalid value: " ": must be non-empty if specified'),
        ({"rule": "true ||\ntrue"}, ".message: Required value: message must be specified if rule contains line breaks"),
        ({"rule": "true", "fieldPath": ".nope"}, '.fieldPath: Invalid value: ".nope": must be a valid path'),
        ({"rule": "true", "fieldPath": ".l[0]"}, '.fieldPath: Invalid value: ".l[0]": must be a valid path'),
        (
            {"rule": "true", "messageExpression": " "},
            ".messageExpression: Required value: messageExpression must be non-empty if specified",
        ),
        ({"rule": "self.s"}, ".rule: Invalid value: RULE: cel expression must evaluate to a bool"),
        (
            {"rule": "true", "messageExpression": "1"},
            ".messageExpression: Invalid value: RULE: messageExpression must evaluate to a string",
        ),
        (
            {"rule": "true", "optionalOldSelf": True},
            ".optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule",
        ),
    ],
)
def test_a_rule_is_well_written(rule: dict[str, Any], expected: str) -> None:
    assert told(OBJECT, rule) == [f".x-kubernetes-validations[0]{expected}"]


def test_a_good_rule_is_fine() -> None:
    assert (
        told(OBJECT, {"rule": "self.s != 'x'", "message": "m", "fieldPath": ".s", "reason": "FieldValueInvalid"}) == []
    )


def test_nothing_is_compiled_where_the_schema_is_wrong() -> None:
    assert told(OBJECT, {"rule": "nonsense("}, bad=True) == []
    assert len(told(OBJECT, {"rule": "nonsense("})) == 1


def test_old_selves_cannot_be_told_apart_in_plain_lists() -> None:
    inner = {"type": "string", "maxLength": 5, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}
    within = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {PLACE}.properties[l]"
    assert told({"type": "object", "properties": {"l": {"type": "array", "maxItems": 5, "items": inner}}}) == [
        f'.properties[l].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": {within}'
    ]


def test_many_rules_may_cost_too_much_together() -> None:
    items = {"type": "string", "maxLength": 100}
    schema = {"type": "object", "properties": {"l": {"type": "array", "maxItems": 300, "items": items}}}
    rules = [{"rule": "self.l.all(x, self.l.exists_one(y, y == x))"}] * 26
    found = told(schema, *rules)
    assert [line.partition(":")[0] for line in found] == [
        *[f".x-kubernetes-validations[{index}].rule" for index in range(4)],
        "spec.schema",
    ]
    assert "exceeds budget by factor of 1.030147x" in found[-1]


@pytest.mark.parametrize(("cost", "factor"), [(101 * 10, "more than 100x"), (11, "1.100000x"), (84, "8.4x")])
def test_the_factor_is_told_the_rounder_the_bigger(cost: int, factor: str) -> None:
    assert f"by factor of {factor} (" in too_expensive("it", cost, 10)
