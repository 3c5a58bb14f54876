"""What validating and mutating webhook configurations have in common: a list of webhooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.builtin.admissionregistration import matching
from pilothouse.builtin.shared.selectors import label_selector
from pilothouse.builtin.shared.webhooks import client_config
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, Rule, at, defaults, one_of, repeated, required_as, rules
from pilothouse.registry.behaviour import Behaviour, Object

_SIDE_EFFECTS: Final = ("None", "NoneOnDryRun")
_REINVOCATIONS: Final = ("IfNeeded", "Never")
_VERSIONS: Final = ("v1", "v1beta1")

_DEFAULTS: Final[dict[str, Any]] = {
    "webhooks[].failurePolicy": "Fail",
    "webhooks[].matchPolicy": "Equivalent",
    "webhooks[].namespaceSelector": {},
    "webhooks[].objectSelector": {},
    "webhooks[].timeoutSeconds": 10,
    "webhooks[].clientConfig.service.port": 443,
    "webhooks[].rules[].scope": "*",
}


def _name(value: Object, field: Field) -> None:
    name = value.get("name", "")
    if not name:
        field.required("name")
        return
    whys = names.subdomain(name)
    field.all_invalid("name", name, whys)
    if not whys and name.count(".") < 2:
        field.invalid("name", name, "should be a domain with at least three segments separated by dots")


def _rules(value: Object, field: Field) -> None:
    field.each("rules", matching.rule, value.get("rules"))


def _timeout(value: int, field: Field) -> None:
    if not 1 <= value <= 30:
        field.invalid("", value, "the timeout value must be between 1 and 30 seconds")


def _client(value: Object, field: Field) -> None:
    field.within("clientConfig", client_config, value["clientConfig"])


def _review_versions(value: Object, field: Field) -> None:
    versions: Sequence[str] = value.get("admissionReviewVersions") or ()
    known = ", ".join(_VERSIONS)
    if not versions:
        field.required("admissionReviewVersions", f"must specify one of {known}")
        return
    again = {index for index, _ in repeated(versions, str)}
    for index, version in field.numbered(versions) if again else field.doubtful(versions, names.are_labels_1035):
        path = f"admissionReviewVersions[{index}]"
        if index in again:
            field.invalid(path, version, "duplicate version")
        else:
            field.all_invalid(path, version, names.label_1035(version))
    if not set(versions).intersection(_VERSIONS):
        field.invalid("admissionReviewVersions", versions, f"must include at least one of {known}")


def _webhook(mutating: bool) -> Sequence[Rule]:
    reinvocation = (at("reinvocationPolicy", one_of(*_REINVOCATIONS)),) if mutating else ()
    return (
        _name,
        _rules,
        at("failurePolicy", one_of(*matching.FAILURE_POLICIES)),
        at("matchPolicy", one_of(*matching.MATCH_POLICIES)),
        at("sideEffects", required_as("must specify one of None, NoneOnDryRun"), one_of(*_SIDE_EFFECTS)),
        at("timeoutSeconds", _timeout),
        at("namespaceSelector", label_selector),
        at("objectSelector", label_selector),
        *reinvocation,
        _client,
        at("matchConditions", matching.match_conditions),
        _review_versions,
    )


def configuration(*, mutating: bool) -> Behaviour:
    """The behaviour of one of the two kinds."""
    parts = _webhook(mutating)

    def webhooks(value: Sequence[Object], field: Field) -> None:
        seen: set[str] = set()

        def webhook(one: Object, inner: Field) -> None:
            for rule in parts:
                rule(one, inner)
            name = one.get("name", "")
            if name in seen:
                inner.duplicate("name", name)
            if name:
                seen.add(name)

        field.each("", webhook, value)

    own = {"webhooks[].reinvocationPolicy": "Never"} if mutating else {}
    return Behaviour(
        defaults=defaults({**_DEFAULTS, **own}),
        validate=rules(matching.not_reserved, at("webhooks", webhooks)),
    )
