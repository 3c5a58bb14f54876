"""Schemas of a document: those that are reached from its operations, and their Swagger form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from pilothouse.openapi.model import META, Definitions, Schema

V3_PREFIX: Final = "#/components/schemas/"
V2_PREFIX: Final = "#/definitions/"
GVK: Final = "x-kubernetes-group-version-kind"
# Kinds that every group version has: a v3 document shows them for its own version only.
_EVERYWHERE: Final = (META + "DeleteOptions", META + "WatchEvent")
_QUANTITY: Final = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_INT_OR_STRING: Final = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"


def references(schema: Any) -> Iterator[str]:
    """Names of the definitions that a v3 schema refers to."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "$ref" and isinstance(value, str):  # there is a property of that name too
                yield value[len(V3_PREFIX) :]
            elif isinstance(value, dict | list):
                yield from references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from references(value)


def reached(names: Iterable[str], definitions: Definitions) -> dict[str, Schema]:
    """The named schemas and all that they refer to, sorted by name, in v3 form."""
    found: dict[str, Schema] = {}
    waiting = [name for name in names if name]
    while waiting:
        name = waiting.pop()
        if name not in found:
            schema = found[name] = definitions.schema(name)
            waiting.extend(references(schema))
    return dict(sorted(found.items()))


def only_for(schemas: dict[str, Schema], group: str, version: str) -> None:
    """Leave in the kinds of every version only the core group's and this version's group-version-kind. In place."""
    for name in _EVERYWHERE:
        if name in schemas:
            schemas[name][GVK] = [
                kind
                for kind in schemas[name][GVK]
                if (kind["group"], kind["version"]) in (("", "v1"), (group, version))
            ]


def swagger(name: str, schema: Schema) -> Schema:
    """The Swagger form of a v3 schema: no defaults, references bare, types that may be two things are strings."""
    if name == _QUANTITY:
        return {"description": schema["description"], "type": "string"}
    if name == _INT_OR_STRING:
        return {"description": schema["description"], "type": "string", "format": schema["format"]}
    return _plain(schema)


def _plain(schema: Schema) -> Schema:
    shown: Schema = {}
    for key, value in schema.items():
        if key == "default":
            continue
        if key == "allOf":
            shown["$ref"] = V2_PREFIX + value[0]["$ref"][len(V3_PREFIX) :]
        elif key == "$ref":
            shown[key] = V2_PREFIX + value[len(V3_PREFIX) :]
        elif key == "properties":
            shown[key] = {name: _plain(found) for name, found in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            shown[key] = _plain(value)
        else:
            shown[key] = value
    return shown
