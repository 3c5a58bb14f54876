"""What is refused in access reviews (API reference, "SubjectAccessReview"). Their causes have no kind, as in the
original.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.builtin.shared.selectors import NEEDS_VALUES, NO_VALUES
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, rules
from pilothouse.registry.metadata import ordered

Object = Mapping[str, Any]
_ONE_SUBJECT: Final = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
_SELECTOR: Final = "when {path} is specified, requirements or rawSelector is required"


def _internal(path: Object | None) -> Object | None:
    """A path and verb in the original's own form."""
    return None if path is None else {"Path": path.get("path", ""), "Verb": path.get("verb", "")}


def _subject(spec: Object, field: Field) -> None:
    path = spec.get("nonResourceAttributes")
    if (path is None) == (spec.get("resourceAttributes") is None):
        field.invalid("", _internal(path), _ONE_SUBJECT)


def _user(spec: Object, field: Field) -> None:
    if not spec.get("user") and not spec.get("groups"):
        field.invalid("user", "", "at least one of user or group must be specified")


def _field_requirement(one: Object, field: Field) -> None:
    if not one.get("key"):
        field.required("key", "must be specified")
    _values(one, field)


def _label_requirement(one: Object, field: Field) -> None:
    _values(one, field)
    field.all_invalid("key", one.get("key", ""), names.qualified_name(one.get("key", "")))


def _values(one: Object, field: Field) -> None:
    """Operators of later versions are let through."""
    operator, values = one.get("operator"), one.get("values")
    if operator in ("In", "NotIn") and not values:
        field.required("values", NEEDS_VALUES)
    elif operator in ("Exists", "DoesNotExist") and values:
        field.forbidden("values", NO_VALUES)


def _selectors(spec: Object, field: Field) -> None:
    attributes = spec.get("resourceAttributes") or {}
    for name, requirement in (("fieldSelector", _field_requirement), ("labelSelector", _label_requirement)):
        selector = attributes.get(name)
        if selector is None:
            continue
        path = f"resourceAttributes.{name}"
        raw, listed = selector.get("rawSelector"), selector.get("requirements")
        if not raw and not listed:
            field.required(f"{path}.requirements", _SELECTOR.format(path=f"spec.{path}"))
        elif raw and listed:
            field.invalid(f"{path}.rawSelector", raw, "may not specified at the same time as requirements")
        field.each(f"{path}.requirements", requirement, listed)


def _metadata(review: Object, field: Field) -> None:
    metadata = review.get("metadata") or {}
    if any(name != "managedFields" for name in metadata):
        field.invalid("metadata", ordered(dict(metadata)), "must be empty")


def _local(review: Object, field: Field) -> None:
    spec, metadata = review.get("spec") or {}, review.get("metadata") or {}
    attributes, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if any(name not in ("managedFields", "namespace") for name in metadata):
        field.invalid("metadata", ordered(dict(metadata)), "must be empty except for namespace")
    if attributes is not None and attributes.get("namespace", "") != metadata.get("namespace"):
        field.invalid(
            "spec.resourceAttributes.namespace", attributes.get("namespace", ""), "must match metadata.namespace"
        )
    if path is not None:
        field.invalid("spec.nonResourceAttributes", _internal(path), "disallowed on this kind of request")


access: Final = rules(at("spec", _subject, _user, _selectors), _metadata)
self_access: Final = rules(at("spec", _subject, _selectors), _metadata)
local_access: Final = rules(at("spec", _subject, _user, _selectors), _local)
