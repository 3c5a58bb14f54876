"""Structural schemas: every field has a type outside of logic, and logic only validates (Kubernetes documentation,
"Extend the Kubernetes API with CustomResourceDefinitions", "Specifying a structural schema").

What is wrong is told sorted by path, as the original does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pilothouse.machinery.rules import Field, Rule, join
from pilothouse.machinery.structural.node import EMBEDDED, INT_OR_STRING, LIST_TYPE, MAP_KEYS, MAP_TYPE, PRESERVE
from pilothouse.registry.behaviour import Object

_ROOT, _ITEM, _FIELD = "root", "item", "field"
_NO_TYPE: Final = {
    _ROOT: "must not be empty at the root",
    _ITEM: "must not be empty for specified array items",
    _FIELD: "must not be empty for specified object fields",
}
_UNSUPPORTED: Final = ("id", "$schema", "$ref", "additionalItems", "definitions", "dependencies", "patternProperties")
_LOGIC: Final = ("allOf", "anyOf", "oneOf")
_INT_OR_STRING_LOGIC: Final = [{"type": "integer"}, {"type": "string"}]
_ONLY_OUTSIDE: Final = (
    ("type", "must be empty to be structural"),
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    (PRESERVE, "must be false to be structural"),
    (EMBEDDED, "must be false to be structural"),
    (INT_OR_STRING, "must be false to be structural"),
    (MAP_KEYS, "must be empty to be structural"),
    (LIST_TYPE, "must be undefined to be structural"),
    (MAP_TYPE, "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
)
_CONTAINING: Final = frozenset(
    {"properties", "patternProperties", "definitions", "items", "additionalProperties", "not", *_LOGIC}
)
_UNSUITED: Final = _CONTAINING | set(_UNSUPPORTED)  # one that may be, or have one below it
# What is looked at of a schema that has a type, apart from that.
_TELLING: Final = _CONTAINING | {PRESERVE, EMBEDDED, INT_OR_STRING, LIST_TYPE}


def subschemas(schema: Object) -> Iterator[tuple[str, Object]]:
    """(step, schema) of everything directly below a schema."""
    if _CONTAINING.isdisjoint(schema):
        return
    for name in ("properties", "patternProperties", "definitions"):
        for key in sorted(schema.get(name) or ()):
            yield f"{name}[{key}]", schema[name][key]
    for name in ("items", "additionalProperties", "not"):
        if isinstance(schema.get(name), dict):
            yield name, schema[name]
    for name in _LOGIC:
        for index, one in enumerate(schema.get(name) or ()):
            yield f"{name}[{index}]", one


def can_be_structural(schema: Object) -> bool:
    """Whether there is no keyword that has no place in a structural schema at all (those are told by themselves)."""
    if _UNSUITED.isdisjoint(schema):
        return True
    if any(schema[name] for name in _UNSUPPORTED if name in schema) or isinstance(schema.get("items"), list):
        return False
    return _CONTAINING.isdisjoint(schema) or all(can_be_structural(one) for _, one in subschemas(schema))


# -- outside of logic


def _invariants(schema: Object, field: Field, level: str) -> None:
    items, more = schema.get("items"), schema.get("additionalProperties")
    if isinstance(items, dict):
        field.within("items", _outside(_ITEM), items)
    for key, one in field.until_full((schema.get("properties") or {}).items()):
        if one.get("type", "array") == "array" or not _TELLING.isdisjoint(one):
            field.within(f"properties[{key}]", _outside(_FIELD), one)
    if more is not None and level == _ROOT:
        field.forbidden("additionalProperties", "must not be used at the root")
    if isinstance(more, dict):
        field.within("additionalProperties", _outside(_FIELD), more)
    _extensions(schema, field)
    _typed(schema, field, level)
    _object_fields(schema, field, level)
    _set_items(schema, field)
    _logic(schema, field, level)


def _outside(level: str) -> Rule:
    """Rule for a schema that is in no logic."""

    def run(schema: Object, field: Field) -> None:
        _invariants(schema, field, level)

    return run


def _extensions(schema: Object, field: Field) -> None:
    if schema.get(INT_OR_STRING):
        for name in (PRESERVE, EMBEDDED):
            if schema.get(name):
                field.invalid(name, True, f"must be false if {INT_OR_STRING} is true")


def _typed(schema: Object, field: Field, level: str) -> None:
    kind = schema.get("type", "")
    if schema.get(EMBEDDED):
        if not schema.get("properties") and not schema.get(PRESERVE):
            why = f"must not be empty if {EMBEDDED} is true without {PRESERVE}"
            field.required("properties", why)
        why = f"must be object if {EMBEDDED} is true"
        if not kind:
            field.required("type", why)
        elif kind != "object":
            field.invalid("type", kind, why)
        if schema.get("additionalProperties") is not None:
            field.forbidden("additionalProperties", f"must not be used if {EMBEDDED} is set")
    elif not kind and not schema.get(INT_OR_STRING) and not schema.get(PRESERVE):
        field.required("type", _NO_TYPE[level])
    if level == _ROOT and kind and kind != "object":
        field.invalid("type", kind, "must be object at the root")
    if kind == "array" and schema.get("items") is None:
        field.required("items", "must be specified")


def _object_fields(schema: Object, field: Field, level: str) -> None:
    """What an object's kind, apiVersion and metadata may be."""
    if level != _ROOT and not schema.get(EMBEDDED):
        return
    properties = schema.get("properties") or {}
    for name, wanted in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        if name in properties and properties[name].get("type", "") != wanted:
            field.invalid(f"properties[{name}].type", properties[name].get("type", ""), f"must be {wanted}")
    metadata = properties.get("metadata")
    if level == _ROOT and metadata is not None:
        others = set(metadata.get("properties") or ()) - {"name", "generateName"}
        if others or set(metadata) - {"type", "default", "properties"}:
            why = "must not specify anything other than name and generateName, but metadata is implicitly specified"
            field.forbidden("properties[metadata]", why)


def _set_items(schema: Object, field: Field) -> None:
    """Items of a set are compared as wholes."""
    items = schema.get("items")
    if schema.get(LIST_TYPE) != "set" or not isinstance(items, dict):
        return
    why = f"must be atomic as item of a list with {LIST_TYPE}=set"
    if items.get("type") == "array" and items.get(LIST_TYPE, "atomic") != "atomic":
        field.invalid(f"items.{LIST_TYPE}", items[LIST_TYPE], why)
    if items.get("type") == "object" and items.get(MAP_TYPE) != "atomic":
        field.invalid(f"items.{MAP_TYPE}", items.get(MAP_TYPE), why)


# -- logic


def _logic(schema: Object, field: Field, level: str) -> None:
    """The schemas under allOf, anyOf, oneOf and not. Integers or strings may be told apart in two set forms."""
    any_of, all_of = schema.get("anyOf"), schema.get("allOf") or ()
    if any_of != _INT_OR_STRING_LOGIC:
        field.each("anyOf", _inside(level), any_of, alone=True)
    for index, one in field.numbered(all_of):
        told = index == 0 and one.get("anyOf") == _INT_OR_STRING_LOGIC
        field.within(f"allOf[{index}]", _inside(level, without_any_of=told), one)
    field.each("oneOf", _inside(level), schema.get("oneOf"), alone=True)
    if schema.get("not") is not None:
        field.within("not", _inside(level), schema["not"])


def _inside(level: str, *, without_any_of: bool = False) -> Rule:
    """Rule for a schema in logic."""

    def run(schema: Object, field: Field) -> None:
        plain = {name: part for name, part in schema.items() if name != "anyOf"} if without_any_of else schema
        for name in (*_LOGIC, "not"):
            inner = plain.get(name)
            if isinstance(inner, list):
                field.each(name, _inside(level), inner, alone=True)
            elif inner is not None:
                field.within(name, _inside(level), inner)
        if isinstance(schema.get("items"), dict):
            field.within("items", _inside(_ITEM), schema["items"])
        for key, one in (schema.get("properties") or {}).items():
            field.within(f"properties[{key}]", _inside(_FIELD), one)
        for name, why in _ONLY_OUTSIDE:
            if schema.get(name) or (name in ("default", "additionalProperties") and schema.get(name) is not None):
                field.forbidden(name, why)
        if level == _ROOT and "metadata" in (schema.get("properties") or ()):
            field.forbidden("properties[metadata]", "must not be specified in a nested context")

    return run


# -- completeness: what logic speaks of is specified outside of it


def _logic_of(schema: Object) -> Iterator[tuple[Object, str]]:
    for name in _LOGIC:
        for index, one in enumerate(schema.get(name) or ()):
            yield one, f"{name}[{index}]"
    if schema.get("not") is not None:
        yield schema["not"], "not"


def _complete(schema: Any, path: str, nested: Object, at: str, field: Field) -> None:
    """`path` of the schema and `at` of the nested one are relative to the root."""
    if _CONTAINING.isdisjoint(nested):
        return
    items = nested.get("items")
    if isinstance(items, dict):
        _matched(schema.get("items"), join(path, "items"), items, join(at, "items"), field)
    for key, one in (nested.get("properties") or {}).items():
        known = (schema.get("properties") or {}).get(key)
        _matched(known, join(path, f"properties[{key}]"), one, join(at, f"properties[{key}]"), field)
    for one, step in _logic_of(nested):
        _complete(schema, path, one, join(at, step), field)


def _matched(known: Any, path: str, nested: Object, at: str, field: Field) -> None:
    if isinstance(known, dict):
        _complete(known, path, nested, at, field)
    else:
        field.required(path, f"because it is defined in {{root}}.{at}")


def structural_problems(schema: Object, root: str) -> list[list[str]]:
    """What is wrong with a schema that is told at the path `root`: [path, reason, message] each, sorted."""
    found = Field()
    _invariants(schema, found, _ROOT)
    for nested, step in _logic_of(schema):
        _complete(schema, "", nested, step, found)
    causes = [[join(root, path), reason, message.replace("{root}", root)] for path, reason, message in found.found]
    return sorted(causes, key=lambda cause: f"{cause[0]}: {cause[2]}")
