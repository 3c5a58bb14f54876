"""Documents of custom resources: their structural schemas in the two OpenAPI forms, and the paths that follow from
them.

The v2 form is what older clients can bear: they refuse fields that a schema does not name, and know no nullable or
int-or-string values, so wherever a schema leaves something open its v2 form says nothing at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.kit.record import record
from pilothouse.openapi import v2, v3
from pilothouse.openapi.model import CUSTOM, META, Body, Definitions, GroupVersion, Part, Resource, Schema, Style
from pilothouse.openapi.operations import Operations, Path
from pilothouse.openapi.parameters import table
from pilothouse.openapi.schemas import GVK, V3_PREFIX

Document = dict[str, Any]
INFO: Final = {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}
SCALE: Final = "io.k8s.api.autoscaling.v1.Scale"
PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
INT_OR_STRING: Final = "x-kubernetes-int-or-string"
EMBEDDED: Final = "x-kubernetes-embedded-resource"
_CONVENTIONS: Final = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
_METADATA: Final = f"Standard object's metadata. More info: {_CONVENTIONS}#metadata"
_LIST_METADATA: Final = f"Standard list metadata. More info: {_CONVENTIONS}#types-kinds"
_ITEMS: Final = f"List of {{plural}}. More info: {_CONVENTIONS}"
_NESTED: Final = ("items", "not", "additionalProperties")
_LISTS: Final = ("allOf", "anyOf", "oneOf")
# Groups whose kinds the server of custom resources does not know.
_ELSEWHERE: Final = frozenset(
    {"admission.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "imagepolicy.k8s.io"}
)


@record
class CustomKind:
    """One custom resource in one version. `schema`: its openAPIV3Schema, None if it has none."""

    plural: str
    kind: str
    list_kind: str
    namespaced: bool
    verbs: tuple[str, ...]
    schema: Schema | None
    status: bool = False
    scale: bool = False


class _WithCustom:
    """The definitions of custom kinds on top of the built-in ones."""

    def __init__(self, base: Definitions, own: dict[str, Schema]) -> None:
        self._base = base
        self._own = own

    def schema(self, name: str) -> Schema:
        found = self._own.get(name)
        if found is not None:
            return found
        found = self._base.schema(name)
        if len(found.get(GVK, ())) > 1:
            found[GVK] = [kind for kind in found[GVK] if kind["group"] not in _ELSEWHERE]
        return found


def definition_name(group: str, version: str, kind: str) -> str:
    """`com.example.boats.v1.Boat` for boats.example.com, v1 and Boat."""
    return ".".join((*reversed(group.split(".")), version, kind))


def document(
    group: str, version: str, kinds: Sequence[CustomKind], base: Definitions, style: Style = CUSTOM
) -> Document:
    """The v3 document of all custom resources of a group version. `base` knows the built-in definitions."""
    own = _schemas(group, version, kinds, base, swagger=False)
    made = v3.document(_paths(group, version, kinds, style), _WithCustom(base, own), owner=None)
    return {
        "openapi": made["openapi"],
        "info": INFO,
        "paths": made["paths"],
        "components": {"schemas": made["components"]["schemas"]},
    }


def fragment(
    group: str, version: str, kinds: Sequence[CustomKind], base: Definitions, style: Style = CUSTOM
) -> Document:
    """What these custom resources add to the Swagger document."""
    own = _schemas(group, version, kinds, base, swagger=True)
    return v2.document(_paths(group, version, kinds, style), _WithCustom(base, own))


def _paths(group: str, version: str, kinds: Sequence[CustomKind], style: Style) -> list[Path]:
    described = GroupVersion(group, version, tuple(_resource(group, version, kind) for kind in kinds))
    return Operations(described, table(), style).paths()


def _resource(group: str, version: str, kind: CustomKind) -> Resource:
    body = Body(group, version, kind.kind, definition_name(group, version, kind.kind))
    verbs, parts = ("get", "patch", "update"), []
    if kind.status:
        parts.append(Part("status", body, verbs))
    if kind.scale:
        parts.append(Part("scale", Body(group, version, kind.kind, SCALE), verbs))
    return Resource(
        name=kind.plural,
        namespaced=kind.namespaced,
        body=body,
        list_definition=definition_name(group, version, kind.list_kind),
        verbs=kind.verbs,
        parts=tuple(parts),
        watch_paths=False,
    )


def _schemas(
    group: str, version: str, kinds: Sequence[CustomKind], base: Definitions, *, swagger: bool
) -> dict[str, Schema]:
    """Of each kind and its list, in v3 form (what `swagger` leaves out is left out here already)."""
    type_meta = base.schema(META + "DeleteOptions")["properties"]
    found: dict[str, Schema] = {}
    for kind in kinds:
        name = definition_name(group, version, kind.kind)
        found[name] = _root(kind, type_meta, swagger=swagger)
        found[name][GVK] = [{"group": group, "kind": kind.kind, "version": version}]
        listed = _list(kind, name, type_meta)
        listed[GVK] = [{"group": group, "kind": kind.list_kind, "version": version}]
        found[definition_name(group, version, kind.list_kind)] = listed
    return found


def _root(kind: CustomKind, type_meta: Schema, *, swagger: bool) -> Schema:
    if kind.schema is None or (swagger and kind.schema.get(PRESERVE)):
        return {"type": "object"}  # naming any field would make clients refuse the others
    shown = published(kind.schema, type_meta, swagger=swagger)
    shown["properties"] = _with_meta(shown.get("properties", {}), type_meta)
    return shown


def _with_meta(properties: Schema, type_meta: Schema) -> Schema:
    """Sorted, with apiVersion, kind and metadata in the words of every kind."""
    metadata = {"description": _METADATA, "allOf": [{"$ref": f"{V3_PREFIX}{META}ObjectMeta"}]}
    added = {"apiVersion": type_meta["apiVersion"], "kind": type_meta["kind"], "metadata": metadata}
    return dict(sorted({**properties, **added}.items()))


def _list(kind: CustomKind, definition: str, type_meta: Schema) -> Schema:
    return {
        "description": f"{kind.list_kind} is a list of {kind.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": type_meta["apiVersion"],
            "items": {
                "description": _ITEMS.format(plural=kind.plural),
                "type": "array",
                "items": {"$ref": V3_PREFIX + definition},
            },
            "kind": type_meta["kind"],
            "metadata": {"description": _LIST_METADATA, "allOf": [{"$ref": f"{V3_PREFIX}{META}ListMeta"}]},
        },
    }


def published(schema: Schema, type_meta: Schema, *, swagger: bool) -> Schema:
    """A structural schema as the documents show it.

    `type_meta`: schemas of apiVersion and kind, for embedded objects.
    """
    shown = {name: value for name, value in schema.items() if name not in _NESTED and name not in _LISTS}
    if swagger:
        shown.pop("default", None)
        if _open(schema):
            for name in ("nullable", "type", "properties"):
                shown.pop(name, None)
            return shown
    if "properties" in shown:
        shown["properties"] = {
            name: published(value, type_meta, swagger=swagger) for name, value in sorted(shown["properties"].items())
        }
    if schema.get(EMBEDDED):
        shown["properties"] = _with_meta(shown.get("properties", {}), type_meta)
    for name in _NESTED:
        if name in schema and not (swagger and name == "not"):
            value = schema[name]
            shown[name] = published(value, type_meta, swagger=swagger) if isinstance(value, dict) else value
    if not swagger:
        for name in _LISTS:
            if name in schema:
                shown[name] = [published(value, type_meta, swagger=False) for value in schema[name]]
        if schema.get(INT_OR_STRING) and "anyOf" not in shown:
            shown["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    return shown


def _open(schema: Schema) -> bool:
    """Values may be of more than one type, or have fields that are not named."""
    return bool(schema.get("nullable") or schema.get(PRESERVE) or schema.get(INT_OR_STRING))
