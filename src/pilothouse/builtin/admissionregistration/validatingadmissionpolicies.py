"""Validating admission policies: expressions that requests must keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pilothouse.builtin.admissionregistration import policies
from pilothouse.builtin.shared.conditions import conditions
from pilothouse.cel.types import NULL, STRING
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, at_most, one_of, rules
from pilothouse.registry.behaviour import Behaviour, Object, Part

_REASONS: Final = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_MOST_ANNOTATIONS: Final = 20
_LONGEST_ANNOTATION: Final = 5 * 1024
_SOMETHING: Final = "validations or auditAnnotations must contain at least one item"


def _validation(value: Object, field: Field, speech: policies.Speech) -> None:
    policies.expression(value, field, speech.within)
    text = value.get("messageExpression", "")
    if text and not text.strip():
        field.invalid("messageExpression", text, "must be non-empty if specified")
    elif text:
        policies.compiles(field, "messageExpression", text, speech.telling, STRING)
    message = value.get("message", "")
    if message and not message.strip():
        field.invalid("message", message, "must be non-empty if specified")
    elif "\n" in message.strip() or "\r" in message.strip():
        field.invalid("message", message, "must not contain line breaks")
    at("reason", one_of(*_REASONS))(value, field)


def _expressions(value: Object, field: Field) -> None:
    speech = policies.variables(value, field)
    if not value.get("validations") and not value.get("auditAnnotations"):
        field.required("validations", _SOMETHING)
        field.required("auditAnnotations", _SOMETHING)
    field.each("validations", lambda one, inner: _validation(one, inner, speech), value.get("validations"))
    field.within(
        "auditAnnotations", lambda all_, inner: _annotations(all_, inner, speech), value.get("auditAnnotations") or ()
    )


def _annotations(value: Sequence[Object], field: Field, speech: policies.Speech) -> None:
    at_most(_MOST_ANNOTATIONS)(value, field)
    policy = field.root["metadata"].get("name", "")
    seen: set[str] = set()

    def annotation(one: Object, inner: Field) -> None:
        key, text = one.get("key", ""), one.get("valueExpression", "")
        whole = f"{policy}/{key}"
        inner.all_invalid("key", whole, names.qualified_name(whole))
        if key in seen:
            inner.duplicate("key", key)
        seen.add(key)
        if not text.strip():
            inner.required("valueExpression", "valueExpression is not specified")
        elif len(text.encode()) > _LONGEST_ANNOTATION:
            inner.too_long("valueExpression", _LONGEST_ANNOTATION)
        else:
            policies.compiles(inner, "valueExpression", text, speech.within, STRING, NULL)

    field.each("", annotation, value)


def _warning(value: Object, field: Field) -> None:
    for name in ("warning", "fieldRef"):
        if not value.get(name):
            field.required(name)


def _warnings(value: Sequence[Object], field: Field) -> None:
    field.each("", _warning, value)


behaviour: Final = Behaviour(
    defaults=policies.fill_policy,
    validate=rules(
        *policies.first_rules,
        *policies.then_rules,
        at("spec", _expressions),
    ),
    parts={
        "status": Part(
            validate=rules(
                at("status.typeChecking.expressionWarnings", _warnings),
                at("status.conditions", conditions),
            )
        )
    },
)
