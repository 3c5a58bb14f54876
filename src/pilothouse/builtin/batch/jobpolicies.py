"""When a job counts as failed or as successful before its pods are all done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.batch.indexes import BadIndexes, count_indexes
from pilothouse.builtin.shared.internals import internal
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import Field, quoted

PACKAGE: Final = "k8s.io/api/batch/v1"
_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS: Final = ("In", "NotIn")
_STATUSES: Final = ("False", "True", "Unknown")
_MAX_RULES: Final = 20
_MAX_CODES: Final = 255
_MAX_CONDITIONS: Final = 20
_MAX_INDEXES: Final = 64 * 1024  # bytes of text

Object = Mapping[str, Any]


def _word(path: str, value: str, supported: Sequence[str], field: Field) -> None:
    """One of a few words; all are told where there is none."""
    if not value:
        field.required(path, f"valid values: [{' '.join(map(quoted, supported))}]")
    elif value not in supported:
        field.not_supported(path, value, supported)


def _codes(value: Object, field: Field, names: set[str]) -> None:
    operator, numbers = value.get("operator", ""), value.get("values") or []
    _word("operator", operator, _OPERATORS, field)
    container = value.get("containerName")
    if container is not None and container not in names:
        why = "must be one of the container or initContainer names in the pod template"
        field.invalid("containerName", container, why)
    if not numbers:
        field.invalid("values", numbers, "at least one value is required")
    elif len(numbers) > _MAX_CODES:
        field.too_many("values", len(numbers), _MAX_CODES)
    ordered, seen = True, set()
    for index, number in field.numbered(numbers):
        if index and numbers[index - 1] > number:
            ordered = False
        if operator == "In" and number == 0:
            field.invalid(f"values[{index}]", number, "must not be 0 for the In operator")
        if number in seen:
            field.duplicate(f"values[{index}]", number)
        seen.add(number)
    if not ordered:
        field.invalid("values", numbers, "must be ordered")


def _conditions(items: Sequence[Object], field: Field) -> None:
    if len(items) > _MAX_CONDITIONS:
        field.too_many("onPodConditions", len(items), _MAX_CONDITIONS)
    for index, one in field.numbered(items):
        kind, status = one.get("type", ""), one.get("status", "")
        field.all_invalid(f"onPodConditions[{index}].type", kind, words.qualified_name(kind))
        _word(f"onPodConditions[{index}].status", status, _STATUSES, field)


def failure_policy(value: Object, field: Field) -> None:
    """`podFailurePolicy`; the field's root is the job or the cron job."""
    spec = field.root.get("spec") or {}
    spec = (spec.get("jobTemplate") or {}).get("spec", spec)
    pod = (spec.get("template") or {}).get("spec") or {}
    every = (*(pod.get("containers") or ()), *(pod.get("initContainers") or ()))
    names = {one.get("name", "") for one in every}
    policies = value.get("rules") or []
    if len(policies) > _MAX_RULES:
        field.too_many("rules", len(policies), _MAX_RULES)
    for index, rule in field.numbered(policies):
        before = len(field.found)
        _failure_rule(rule, field, names, spec)
        if len(field.found) > before:
            field.prefix(before, f"rules[{index}]")


def _failure_rule(rule: Object, field: Field, names: set[str], spec: Object) -> None:
    action, codes, conditions = rule.get("action", ""), rule.get("onExitCodes"), rule.get("onPodConditions") or ()
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        field.invalid("action", action, "requires the backoffLimitPerIndex to be set")
    else:
        _word("action", action, _ACTIONS, field)
    if codes is not None:
        before = len(field.found)
        _codes(codes, field, names)
        if len(field.found) > before:
            field.prefix(before, "onExitCodes")
    if conditions:
        _conditions(conditions, field)
    if codes is not None and conditions:
        field.wrong("", "specifying both OnExitCodes and OnPodConditions is not supported")
    elif codes is None and not conditions:
        field.wrong("", "specifying one of OnExitCodes and OnPodConditions is required")


def _success_rule(rule: Object, field: Field, completions: int) -> None:
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        field.required("", "at least one of succeededCount or succeededIndexes must be specified")
    total = 0
    if indexes is not None:
        if len(indexes) > _MAX_INDEXES:
            field.too_long("succeededIndexes", _MAX_INDEXES)
        try:
            total = count_indexes(indexes, completions)
        except BadIndexes as error:
            field.invalid("succeededIndexes", indexes, f"error parsing succeededIndexes: {error}")
    if count is not None:
        if count < 0:
            field.invalid("succeededCount", count, "must be greater than or equal to 0")
        if count > completions:
            why = f"must be less than or equal to {completions} (the number of specified completions)"
            field.invalid("succeededCount", count, why)
        if indexes is not None and count > total:
            why = "(the number of indexes in the specified succeededIndexes field)"
            field.invalid("succeededCount", count, f"must be less than or equal to {total} {why}")


def success_policy(spec: Object, field: Field) -> None:
    """`successPolicy`, told from the job's spec."""
    value = spec.get("successPolicy")
    if value is None:
        return
    if spec.get("completionMode") != "Indexed":
        shown = internal("SuccessPolicy", value, PACKAGE)
        field.invalid("successPolicy", shown, "requires indexed completion mode")
        return
    policies = value.get("rules") or []
    if not policies:
        field.required(
            "successPolicy.rules", "at least one rules must be specified when the successPolicy is specified"
        )
    if len(policies) > _MAX_RULES:
        field.too_many("successPolicy.rules", len(policies), _MAX_RULES)
    for index, rule in field.numbered(policies):
        before = len(field.found)
        _success_rule(rule, field, spec.get("completions", 0))
        if len(field.found) > before:
            field.prefix(before, f"successPolicy.rules[{index}]")
