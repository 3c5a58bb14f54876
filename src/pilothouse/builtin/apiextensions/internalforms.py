"""Definitions as some causes print them: Go names, every field, and what all versions share moved to the top.

What is the same in all versions (with one version, everything) the original keeps once, and tells there:
`spec.validation.openAPIV3Schema` instead of `spec.versions[0].schema.openAPIV3Schema`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.builtin.shared.internals import is_too_long
from pilothouse.kit.record import record
from pilothouse.registry.behaviour import Object

# Go name -> JSON name where it is not only the first letter that differs.
_SCHEMA: Final = (
    ("ID", "id", ""), ("Schema", "$schema", ""), ("Ref", "$ref", None), ("Description", "description", ""),
    ("Type", "type", ""), ("Nullable", "nullable", False), ("Format", "format", ""), ("Title", "title", ""),
    ("Default", "default", None), ("Maximum", "maximum", None), ("ExclusiveMaximum", "exclusiveMaximum", False),
    ("Minimum", "minimum", None), ("ExclusiveMinimum", "exclusiveMinimum", False), ("MaxLength", "maxLength", None),
    ("MinLength", "minLength", None), ("Pattern", "pattern", ""), ("MaxItems", "maxItems", None),
    ("MinItems", "minItems", None), ("UniqueItems", "uniqueItems", False), ("MultipleOf", "multipleOf", None),
    ("Enum", "enum", None), ("MaxProperties", "maxProperties", None), ("MinProperties", "minProperties", None),
    ("Required", "required", None), ("Items", "items", None), ("AllOf", "allOf", None), ("OneOf", "oneOf", None),
    ("AnyOf", "anyOf", None), ("Not", "not", None), ("Properties", "properties", None),
    ("AdditionalProperties", "additionalProperties", None), ("PatternProperties", "patternProperties", None),
    ("Dependencies", "dependencies", None), ("AdditionalItems", "additionalItems", None),
    ("Definitions", "definitions", None), ("ExternalDocs", "externalDocs", None), ("Example", "example", None),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", None),
    ("XEmbeddedResource", "x-kubernetes-embedded-resource", False),
    ("XIntOrString", "x-kubernetes-int-or-string", False), ("XListMapKeys", "x-kubernetes-list-map-keys", None),
    ("XListType", "x-kubernetes-list-type", None), ("XMapType", "x-kubernetes-map-type", None),
    ("XValidations", "x-kubernetes-validations", None),
)  # fmt: skip
_SCHEMA_LISTS: Final = frozenset({"allOf", "oneOf", "anyOf"})
_SCHEMA_MAPS: Final = frozenset({"properties", "patternProperties", "definitions"})
_OR_BOOL: Final = frozenset({"additionalProperties", "additionalItems"})
_VERSION: Final = (
    ("Name", "name", ""), ("Served", "served", False), ("Storage", "storage", False),
    ("Deprecated", "deprecated", False), ("DeprecationWarning", "deprecationWarning", None),
)  # fmt: skip
_RULE: Final = (
    ("Rule", "rule", ""), ("Message", "message", ""), ("MessageExpression", "messageExpression", ""),
    ("Reason", "reason", None), ("FieldPath", "fieldPath", ""), ("OptionalOldSelf", "optionalOldSelf", None),
)  # fmt: skip


def _named(value: Object, fields: Sequence[tuple[str, str, Any]]) -> Object:
    return {go: value.get(name, zero) for go, name, zero in fields}


def rule_form(rule: Object) -> Object:
    """A rule in the original's own form."""
    return _named(rule, _RULE)


def schema_form(schema: Object) -> Object:
    """A schema in the original's own form. One that is very long is shown as it was sent."""
    return schema if is_too_long(schema) else _schema_form(schema)


def _schema_form(schema: Object) -> Object:
    return {go: _part(name, schema.get(name, zero)) for go, name, zero in _SCHEMA}


def used(schema: Object) -> list[str]:
    """The Go names of what a schema says at its own level."""
    said = ((go, name, schema.get(name)) for go, name, _ in _SCHEMA)
    return [go for go, name, value in said if value or (name in _OR_BOOL and value is not None)]


def _part(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name == "items":
        if isinstance(value, list):
            return {"Schema": None, "JSONSchemas": [_schema_form(one) for one in value]}
        return {"Schema": _schema_form(value), "JSONSchemas": None}
    if name == "not":
        return _schema_form(value)
    if name in _SCHEMA_LISTS:
        return [_schema_form(one) for one in value]
    if name in _SCHEMA_MAPS:
        return {key: _schema_form(value[key]) for key in sorted(value)}
    if name in _OR_BOOL:
        if isinstance(value, bool):
            return {"Allows": value, "Schema": None}
        return {"Allows": True, "Schema": _schema_form(value)}
    if name == "x-kubernetes-validations":
        return [_named(one, _RULE) for one in value]
    return value


@record
class Shared:
    """Which parts all versions have in common, and so are told at the top."""

    schema: bool
    subresources: bool
    columns: bool
    fields: bool


_PARTS: Final = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")


def shared(versions: Sequence[Object]) -> Shared:
    parts = ([one.get(part) for one in versions] for part in _PARTS)
    return Shared(*(part.count(part[0]) == len(part) if part else True for part in parts))


def _scale(value: Object) -> Object:
    names = ("specReplicasPath", "statusReplicasPath")
    shown: Object = {name[0].upper() + name[1:]: value.get(name, "") for name in names}
    return {**shown, "LabelSelectorPath": value.get("labelSelectorPath")}


def _subresources(value: Object | None) -> Object | None:
    if value is None:
        return None
    scale = value.get("scale")
    return {"Status": value.get("status"), "Scale": _scale(scale) if scale is not None else None}


def _column(value: Object) -> Object:
    names = (("Name", "name", ""), ("Type", "type", ""), ("Format", "format", ""), ("Description", "description", ""))
    return {**_named(value, names), "Priority": value.get("priority", 0), "JSONPath": value.get("jsonPath", "")}


def versions_form(versions: Sequence[Object] | None) -> list[Object] | None:
    """`spec.versions` in the original's own form. What is very long is shown as it was sent."""
    if versions is None:
        return None
    if is_too_long(versions):
        return list(versions)
    top = shared(versions)
    return [_version(one, top) for one in versions]


def _version(value: Object, top: Shared) -> Object:
    schema, columns, fields = (value.get(name) for name in ("schema", "additionalPrinterColumns", "selectableFields"))
    form: Object | None = None
    if schema is not None and not top.schema:
        root = schema.get("openAPIV3Schema")
        form = {"OpenAPIV3Schema": _schema_form(root) if root is not None else None}
    return {
        **_named(value, _VERSION),
        "Schema": form,
        "Subresources": None if top.subresources else _subresources(value.get("subresources")),
        "AdditionalPrinterColumns": [_column(one) for one in columns] if columns and not top.columns else None,
        "SelectableFields": [{"JSONPath": one.get("jsonPath", "")} for one in fields]
        if fields and not top.fields
        else None,
    }
