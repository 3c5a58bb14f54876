"""What a version of a definition has beside its schema: subresources, printer columns, selectable fields, warnings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pilothouse.machinery.rules import Field, Rule
from pilothouse.machinery.structural.node import INT_OR_STRING
from pilothouse.registry.behaviour import Object

_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_SIMPLE: Final = "must be a simple json path starting with ."
_LONGEST_WARNING: Final = 256
_MOST_SELECTABLE: Final = 8
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\['([^']*)'\]|(\[[^\]]*\])")
_NOT_SELECTABLE: Final = (
    "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."
)


def deprecation(value: Object, field: Field) -> None:
    warning = value.get("deprecationWarning")
    if warning is None:
        return
    if not value.get("deprecated"):
        field.invalid("deprecationWarning", warning, "can only be set for deprecated versions")
    if not warning:
        field.invalid("deprecationWarning", warning, "must not be an empty string")
    if len(warning.encode()) > _LONGEST_WARNING:
        field.invalid("deprecationWarning", warning, f"must be <= {_LONGEST_WARNING} characters long")
    for index, char in field.numbered(warning):
        if not char.isprintable():
            at = len(warning[:index].encode())
            why = f"must only contain printable UTF-8 characters; non-printable character found at index {at}"
            field.invalid("deprecationWarning", warning, why)
            break


def _column(value: Object, field: Field) -> None:
    kind, form, path = value.get("type", ""), value.get("format", ""), value.get("jsonPath", "")
    if not value.get("name"):
        field.required("name")
    why = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not kind:
        field.required("type", why)
    elif kind not in _COLUMN_TYPES:
        field.invalid("type", kind, why)
    if form and form not in _COLUMN_FORMATS:
        field.invalid("format", form, f"must be one of {','.join(_COLUMN_FORMATS)}")
    if not path:
        field.required("JSONPath")
    elif not path.startswith("."):
        field.invalid("JSONPath", path, _SIMPLE)


def columns(value: Sequence[Object], field: Field) -> None:
    field.each("", _column, value)


def _replicas(name: str, top: str) -> Rule:
    def run(value: Object, field: Field) -> None:
        path = value.get(name, "")
        if not path:
            field.required(name)
        elif not path.startswith("."):
            field.invalid(name, path, _SIMPLE)
        elif not path.startswith(f"{top}."):
            field.invalid(name, path, f"should be a json path under {top}")

    return run


_scale_rules: Final = (_replicas("specReplicasPath", ".spec"), _replicas("statusReplicasPath", ".status"))


def _scale(value: Object, field: Field) -> None:
    for rule in _scale_rules:
        rule(value, field)
    path = value.get("labelSelectorPath") or ""
    if path and not path.startswith("."):
        field.invalid("labelSelectorPath", path, _SIMPLE)
    elif path and not path.startswith((".spec.", ".status.")):
        why = "should be a json path under either .spec or .status"
        field.invalid("labelSelectorPath", path, why)


def subresources(value: Object, field: Field) -> None:
    if value.get("scale") is not None:
        field.within("scale", _scale, value["scale"])


def _steps(path: str) -> tuple[list[str], str]:
    """The names in a path, or what is wrong with it."""
    names, at = [], 0
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            return [], f"expected [ or . but got: {path[at:].partition('.')[0] or path[at:]}"
        if found[3] is not None:
            return [], "array notation is not allowed"
        names.append(found[1] if found[1] is not None else found[2])
        at = found.end()
    return names, ""


def _selectable(path: str, schema: Object) -> str:
    """What is wrong with selecting by the field at a path."""
    names, why = _steps(path)
    for name in names:
        schema = (schema.get("properties") or {}).get(name) or {}
        if not schema:
            why = "does not refer to a valid field"
            break
    if why:
        return f"is an invalid path: {why}"
    if names[:1] == ["metadata"]:
        return "must not point to fields in metadata"
    plain = schema.get("type") in ("string", "boolean", "integer") and not schema.get(INT_OR_STRING)
    return "" if plain else _NOT_SELECTABLE


def selectable_fields(schema: Object | None) -> Rule:
    """Rule for selectable fields of a version with this schema."""

    def run(value: Sequence[Object], field: Field) -> None:
        seen: set[str] = set()
        good: set[str] = set()

        def one(item: Object, inner: Field) -> None:
            path = item.get("jsonPath", "")
            if not path:
                inner.required("jsonPath")
            elif path in seen:
                inner.duplicate("jsonPath", path)
            else:
                seen.add(path)
                why = _selectable(path, schema or {})
                if why:
                    inner.invalid("jsonPath", path, why)
                else:
                    good.add(path)

        field.each("", one, value)
        if len(good) > _MOST_SELECTABLE:
            field.too_many("", len(good), _MOST_SELECTABLE)

    return run
