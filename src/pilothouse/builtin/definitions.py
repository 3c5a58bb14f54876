"""Schemas of the built-in kinds in OpenAPI v3 form, from the package kubernetes-validate and our tables of what it
lacks.

The package holds the official definitions with additions of its own for validation: `null` beside each type, enums of
apiVersion and kind. They are taken back here. It lacks defaults and the values of enums (data/schema-extras.json).
"""

from __future__ import annotations

import importlib.resources
import importlib.util
import pathlib
from typing import Any, Final

import orjson

from pilothouse.openapi.model import Schema
from pilothouse.openapi.schemas import V3_PREFIX

PACKAGE_VERSION: Final = "v1.37.0-local"
_QUANTITY: Final = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_INT_OR_STRING: Final = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
_QUANTITY_WORDS: Final = (
    "An amount in decimal, with a suffix for its scale: m, k, M, G, T, P, E for powers of ten, Ki, Mi, Gi, Ti, Pi, Ei "
    'for powers of 1024, or an exponent. For example "500m", "1.5Gi" or "1e3".'
)
_INT_OR_STRING_WORDS: Final = 'A number or a text, such as 80 or "http", 2 or "25%".'
_PACKAGE_PREFIX: Final = "#/$defs/"
# Not in the tables of extras: the enum of a map's values.
_MAP_ENUMS: Final = {
    ("io.k8s.api.core.v1.PersistentVolumeClaimStatus", "allocatedResourceStatuses"): [
        "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible",
        "NodeResizePending",
    ],
}  # fmt: skip


def _data(name: str) -> Any:
    return orjson.loads((importlib.resources.files("pilothouse.builtin") / "data" / name).read_bytes())


def _package_folder() -> pathlib.Path:
    """Where the package's files are. It is not imported: its code brings a validator along that nobody needs here."""
    spec = importlib.util.find_spec("kubernetes_validate")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("the package kubernetes-validate is not installed", name="kubernetes_validate")
    return pathlib.Path(spec.submodule_search_locations[0]) / "kubernetes-json-schema" / PACKAGE_VERSION


class BuiltinDefinitions:
    """All definitions of 1.37, parsed when made (about 15 ms, 15 MB): make one for a document and let it go."""

    def __init__(self) -> None:
        found = orjson.loads((_package_folder() / "_definitions.json").read_bytes())
        self._raw: dict[str, Schema] = found["$defs"]
        self._extras: dict[str, dict[str, Any]] = _data("schema-extras.json")

    def schema(self, name: str) -> Schema:
        """One definition, made anew. Raises KeyError."""
        if name == _QUANTITY:
            return {"description": _QUANTITY_WORDS, "oneOf": [{"type": "string"}, {"type": "number"}]}
        if name == _INT_OR_STRING:
            one_of = [{"type": "integer"}, {"type": "string"}]
            return {"description": _INT_OR_STRING_WORDS, "format": "int-or-string", "oneOf": one_of}
        raw = self._raw[name]
        schema = _convert(raw)
        extras = self._extras.get(name, {})
        for prop, found in raw.get("properties", {}).items():
            schema["properties"][prop] = self._property(name, prop, found, extras.get(prop, {}))
        return schema

    def _property(self, name: str, prop: str, raw: Schema, extras: dict[str, Any]) -> Schema:
        schema = _convert(raw, extras)
        if "items.enum" in extras:
            schema["items"]["enum"] = extras["items.enum"]
        if (name, prop) in _MAP_ENUMS:
            schema["additionalProperties"]["enum"] = _MAP_ENUMS[name, prop]
        return schema


def _convert(raw: Schema, extras: dict[str, Any] | None = None) -> Schema:
    """One level of a definition in the original's order of members; `properties` are left to be filled."""
    schema: Schema = {}
    if "description" in raw:
        schema["description"] = raw["description"]
    if "type" in raw:
        kinds = raw["type"]
        schema["type"] = kinds if isinstance(kinds, str) else next(kind for kind in kinds if kind != "null")
    if "format" in raw:
        schema["format"] = raw["format"]
    if extras:
        for key in ("default", "enum"):
            if key in extras:
                schema[key] = extras[key]
    if "$ref" in raw:
        ref = {"$ref": V3_PREFIX + raw["$ref"][len(_PACKAGE_PREFIX) :]}
        # Beside other members a reference must stand in a list of its own.
        if schema or any(key.startswith("x-") for key in raw):
            schema["allOf"] = [ref]
        else:
            schema = ref
    if "required" in raw:
        schema["required"] = raw["required"]
    if "properties" in raw:
        schema["properties"] = {}
    for key in ("items", "additionalProperties"):
        if key in raw:
            schema[key] = _convert(raw[key])
    for key in sorted(raw):
        if key.startswith("x-"):
            schema[key] = raw[key]
    return schema
