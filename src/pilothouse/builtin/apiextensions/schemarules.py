"""What a schema of a definition may say, node by node: keywords, types of lists and maps, keys, defaults' places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from pilothouse.kit.record import record
from pilothouse.machinery.rules import Field, Rule, repeated
from pilothouse.machinery.structural.node import EMBEDDED, LIST_TYPE, MAP_KEYS, MAP_TYPE, PRESERVE
from pilothouse.machinery.structural.patterns import pattern_problem
from pilothouse.registry.behaviour import Object

_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_LIST_TYPES: Final = ("atomic", "set", "map")
_MAP_TYPES: Final = ("atomic", "granular")
# Nothing is wrong with a schema that says only this, if its type is one.
_PLAIN: Final = frozenset(
    {
        "type", "format", "title", "description", "nullable", "enum", "required", "example", "maxLength", "minLength",
        "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf", "maxItems", "minItems",
        "maxProperties", "minProperties",
    }
)  # fmt: skip
_TYPED: Final = frozenset({"", *_TYPES})
_OBJECT_FIELDS: Final = ("kind", "apiVersion", "metadata")
_IN_MAP: Final = "inside additionalProperties applying to object metadata"


@record
class _Place:
    """Where a node is. `no_default`: why it may have none; `in_metadata`: below an object's metadata."""

    root: bool = True
    in_metadata: bool = False
    no_default: str = ""

    @property
    def below(self) -> _Place:
        return replace(self, root=False) if self.root else self


def schema_rules(value: Object, field: Field) -> None:
    """Rule for the root of a schema."""
    _node(value, field, _Place())


def _is_plain(schema: Object) -> bool:
    return _PLAIN.issuperset(schema) and schema.get("type", "") in _TYPED


def _node(schema: Object, field: Field, place: _Place) -> None:
    if _is_plain(schema):
        return
    _keywords(schema, field, place)
    _properties(schema, field, place)
    inside = place.below
    _below(schema, "not", field, inside)
    for name in ("allOf", "oneOf", "anyOf"):
        field.each(name, _node_at(inside), schema.get(name), alone=True)
    _below(schema, "items", field, inside)
    if schema.get(PRESERVE) is False:
        field.invalid(PRESERVE, False, "must be true or undefined")
    _list_and_map_types(schema, field)
    _keys(schema, field)
    _items(schema, field)


def _node_at(place: _Place) -> Rule:
    def run(schema: Object, field: Field) -> None:
        _node(schema, field, place)

    return run


def _below(schema: Object, name: str, field: Field, place: _Place) -> None:
    value = schema.get(name)
    if isinstance(value, dict):
        field.within(name, _node_at(place), value)


def _keywords(schema: Object, field: Field, place: _Place) -> None:
    kind = schema.get("type", "")
    if kind and kind not in _TYPES:
        field.not_supported("type", kind, _TYPES)
    if schema.get("pattern"):
        why = pattern_problem(schema["pattern"])
        if why:
            field.invalid("pattern", schema["pattern"], f"must be a valid regular expression, but isn't: {why}")
    if schema.get("default") is not None and place.no_default:
        field.forbidden("default", f"must not be set {place.no_default}")
    for name in ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"):
        if schema.get(name) or (name == "additionalItems" and schema.get(name) is not None):
            field.forbidden(name, f"{name} is not supported")
    if kind == "null":
        field.forbidden("type", "type cannot be set to null, use nullable as an alternative")
    if isinstance(schema.get("items"), list):
        field.forbidden("items", "items must be a schema object and not an array")
    if place.in_metadata and schema.get(EMBEDDED):
        field.forbidden(EMBEDDED, "must not be used inside of resource meta")
    if schema.get("uniqueItems"):
        why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        field.forbidden("uniqueItems", why)


def _properties(schema: Object, field: Field, place: _Place) -> None:
    properties, more = schema.get("properties") or {}, schema.get("additionalProperties")
    if properties and more is not None and more is not True:
        field.forbidden("additionalProperties", "additionalProperties and properties are mutual exclusive")
    below = place.below
    _below(schema, "additionalProperties", field, replace(below, no_default=_IN_MAP) if place.in_metadata else below)
    for key in properties if len(properties) < 2 else field.names(properties):
        if _is_plain(properties[key]):
            continue
        own = below
        if key in _OBJECT_FIELDS and (place.root or schema.get(EMBEDDED)):
            reason = f"in top-level {key}" if place.root else place.no_default
            own = replace(below, in_metadata=True, no_default=reason)
        field.within(f"properties[{key}]", _node_at(own), properties[key])


def _wants_type(schema: Object, extension: str, wanted: str, field: Field) -> bool:
    """Whether the type fits the extension; told if not."""
    kind = schema.get("type", "")
    why = f"must be {wanted} if {extension} is specified"
    if not kind:
        field.required("type", why)
    elif kind != wanted:
        field.invalid("type", kind, why)
    return bool(kind == wanted)


def _list_and_map_types(schema: Object, field: Field) -> None:
    map_type, list_type = schema.get(MAP_TYPE), schema.get(LIST_TYPE)
    if map_type is not None:
        _wants_type(schema, MAP_TYPE, "object", field)
        if map_type not in _MAP_TYPES:
            field.not_supported(MAP_TYPE, map_type, _MAP_TYPES)
    if list_type is not None and _wants_type(schema, LIST_TYPE, "array", field) and list_type not in _LIST_TYPES:
        field.not_supported(LIST_TYPE, list_type, _LIST_TYPES)


def _keys(schema: Object, field: Field) -> None:
    keys: Sequence[str] = schema.get(MAP_KEYS) or ()
    list_type, items = schema.get(LIST_TYPE), schema.get("items")
    if keys and list_type != "map":
        why = f"must be map if {MAP_KEYS} is non-empty"
        if list_type is None:
            field.required(LIST_TYPE, why)
        else:
            field.invalid(LIST_TYPE, list_type, why)
    if list_type != "map":
        return
    if not keys:
        field.required(MAP_KEYS, f"must not be empty if {LIST_TYPE} is map")
    if items is None:
        field.required("items", f"must have a schema if {LIST_TYPE} is map")
    elif isinstance(items, dict):
        if items.get("type") == "object":
            _key_fields(keys, items.get("properties") or {}, field)
        else:
            why = f"must be object if parent array's {LIST_TYPE} is map"
            field.invalid("items.type", items.get("type", ""), why)


def _key_fields(keys: Sequence[str], properties: Object, field: Field) -> None:
    again = {index for index, _ in repeated(keys, str)}
    for index, key in field.numbered(keys):
        if key not in properties:
            field.invalid(MAP_KEYS, keys, "entries must all be names of item properties")
        elif properties[key].get("type") in ("object", "array"):
            why = f"must be a scalar type if parent array's {LIST_TYPE} is map"
            field.invalid(f"items.properties[{key}].type", properties[key]["type"], why)
        if index in again:
            field.invalid(MAP_KEYS, keys, "must not contain duplicate entries")


def _items(schema: Object, field: Field) -> None:
    """Items of maps and sets are never null, and keys are always there."""
    list_type, items = schema.get(LIST_TYPE), schema.get("items")
    if list_type not in ("map", "set") or not isinstance(items, dict):
        return
    if items.get("nullable"):
        field.forbidden("items.nullable", f"cannot be nullable when {LIST_TYPE} is {list_type}")
    if list_type == "set":
        return
    properties: dict[str, Any] = items.get("properties") or {}
    for key in schema.get(MAP_KEYS) or ():
        if key not in properties:
            continue
        path = f"items.properties[{key}]"
        if key not in (items.get("required") or ()) and properties[key].get("default") is None:
            why = f"this property is in {MAP_KEYS}, so it must have a default or be a required property"
            field.required(f"{path}.default", why)
        if properties[key].get("nullable"):
            field.forbidden(f"{path}.nullable", f"this property is in {MAP_KEYS}, so it cannot be nullable")
