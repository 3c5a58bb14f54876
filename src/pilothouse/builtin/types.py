"""The types of the built-in kinds as `Schema`s, from two tables: the API types' fields and the markers of the
official definitions.

Rows are split at first use; a type is made when something asks for it, so a server that serves only ConfigMaps pays
for no Pods.
"""

from __future__ import annotations

import gzip
import importlib.resources
import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Field, Schema

CORE: Final = "k8s.io/api/core/v1"
META: Final = "k8s.io/apimachinery/pkg/apis/meta/v1"

# Import names that the table's Go types use. `v1` is whichever of these packages has the type.
_ALIASES: Final = {
    "metav1": (META,),
    "corev1": (CORE,),
    "apiv1": (CORE,),
    "v1": (CORE, META, "k8s.io/api/authentication/v1", "k8s.io/api/coordination/v1"),
    "authenticationv1": ("k8s.io/api/authentication/v1",),
    "authnv1": ("k8s.io/api/authentication/v1",),
    "authorizationv1": ("k8s.io/api/authorization/v1",),
    "batchv1": ("k8s.io/api/batch/v1",),
    "schedulingv1alpha3": ("k8s.io/api/scheduling/v1alpha3",),
}
_SCALARS: Final = {
    "string": s.STRING, "bool": s.BOOL, "int32": s.INT32, "int64": s.INT64, "int": s.INT64, "float64": s.FLOAT64,
    "[]byte": s.BYTES, "interface{}": s.JSON,
}  # fmt: skip
_SPECIAL: Final = {
    "resource.Quantity": s.QUANTITY,
    "intstr.IntOrString": s.INT_OR_STRING,
    "runtime.RawExtension": s.RAW,
    "runtime.Unknown": s.RAW,
    "types.UID": s.STRING,
    "types.NodeName": s.STRING,
    "apimachinerytypes.UID": s.STRING,
}
_META_SPECIAL: Final = {"Time": s.TIME, "MicroTime": s.MICRO_TIME, "Duration": s.DURATION, "FieldsV1": s.FIELDS_V1}
_JSON_TYPES: Final = frozenset(
    {"JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"}
)
_GO_MAP: Final = re.compile(r"map\[[^\]]+\](.+)")

Markers = dict[str, dict[str, Any]]  # property ("" for the type itself) -> markers


def _data(name: str) -> bytes:
    return (importlib.resources.files("pilothouse.builtin") / "data" / name).read_bytes()


_EMPTY: Final = ((CORE, "LocalObjectReference", "name"),)  # by default empty, though left out when empty
_STAMPED: Final = frozenset({(CORE, "PodSpec")})  # all pods of one template have the same
_CONTAINER: Final = (
    '{"name":"","resources":{},"terminationMessagePath":"a","terminationMessagePolicy":"a","imagePullPolicy":"a"}'
)
# The shortest values of types that get long by their defaults.
_SHORTEST: Final = {(CORE, "Container"): _CONTAINER, (CORE, "EphemeralContainer"): _CONTAINER}
_CONTAINER_DEFAULTS: Final = (
    b'"terminationMessagePath":"/dev/termination-log",',
    b'"terminationMessagePolicy":"File",',
    b'"imagePullPolicy":"Always",',
)
_DEFAULTS: Final = {(CORE, "Container"): _CONTAINER_DEFAULTS, (CORE, "EphemeralContainer"): _CONTAINER_DEFAULTS}


def definition_name(package: str, name: str) -> str:
    """`io.k8s.api.core.v1.Pod` for k8s.io/api/core/v1 and Pod: how OpenAPI calls a type."""
    host, _, rest = package.partition("/")
    return ".".join(reversed(host.split("."))) + "." + rest.replace("/", ".") + "." + name


class TypeTable:
    """All API types, made one by one as they are asked for."""

    def __init__(self, types: str, named: str, markers: str) -> None:
        """The three tables' texts (tab-separated, one head line each)."""
        self._rows: dict[tuple[str, str], list[list[str]]] = {}
        for line in types.splitlines()[1:]:
            package, name, *rest = line.split("\t")
            self._rows.setdefault((package, name), []).append(rest)
        self._named = {
            (package, name): under for package, name, under in (line.split("\t") for line in named.splitlines()[1:])
        }
        self._markers: dict[str, Markers] = {}
        for line in markers.splitlines()[1:]:
            definition, prop, text = line.split("\t")
            self._markers.setdefault(definition, {})[prop] = json.loads(text)
        for package, name, prop in _EMPTY:
            self._markers.setdefault(definition_name(package, name), {})[prop] = {"default": ""}
        self._made: dict[tuple[str, str], Schema] = {}
        self._plain: dict[str, Schema] = {}
        self._mark_inlined()

    def _mark_inlined(self) -> None:
        """OpenAPI does not know types that only stand in others: their fields are marked as those of the outer type."""
        for (package, name), rows in self._rows.items():
            outer = self._markers.get(definition_name(package, name), {})
            for row in rows:
                if outer and row[0] == "(inline)":
                    inner = definition_name(*self._home(package, row[2].lstrip("*")))
                    self._markers.setdefault(inner, {prop: text for prop, text in outer.items() if prop})

    def has(self, package: str, name: str) -> bool:
        return (package, name) in self._rows

    def kinds(self) -> list[tuple[str, str]]:
        """(package, name) of all types that are kinds: those with a kind and apiVersion of their own."""
        return [
            key
            for key, rows in self._rows.items()
            if any(row[0] == "(inline)" and "TypeMeta" in row[2] for row in rows)
        ]

    def get(self, package: str, name: str) -> Schema:
        """The struct type `name` of a package. Raises KeyError where the table has none."""
        made = self._made.get((package, name))
        if made is None:
            rows = self._rows[package, name]
            marks = self._markers.get(definition_name(package, name), {})
            own = marks.get("", {})
            made = self._made[package, name] = Schema(
                s.STRUCT,
                package=package,
                name=name,
                fields=lambda: [self._field(package, row, marks) for row in rows],
                map_type=own.get("mapType", "granular"),
                union=tuple(
                    (union.get("discriminator", ""), tuple(union.get("fields-to-discriminateBy", ())))
                    for union in own.get("unions", ())
                ),
            )
            made.stamped = (package, name) in _STAMPED
            made.shortest = len(_SHORTEST.get((package, name), ""))
            made.defaults = _DEFAULTS.get((package, name), ())
        return made

    def _field(self, package: str, row: list[str], all_marks: Markers) -> Field:
        name, options, go_type, number, wire, repeated = row
        marks = all_marks.get(name, {})
        inline = name == "(inline)"
        pointer = go_type.startswith("*")
        base = go_type.lstrip("*")
        strategies = marks.get("patchStrategy", "")
        return Field(
            name,
            lambda: self._of(package, base, marks),
            omitempty="omitempty" in options,
            omitzero="omitzero" in options,
            pointer=pointer,
            inline=inline,
            number=int(number or 0),
            wire=wire,
            repeated=bool(repeated),
            patch_merge_key=marks.get("mergeKey", ""),
            patch_strategy=frozenset(strategies.split(",")) if strategies else frozenset(),
            default=marks.get("default"),
        )

    def _of(self, package: str, go_type: str, marks: dict[str, Any]) -> Schema:
        """The schema of a Go type as written in `package`; `marks` are those of the field that has it."""
        if go_type in _SCALARS:
            return self._scalar(_SCALARS[go_type], go_type)
        if go_type in _SPECIAL:
            return self._scalar(_SPECIAL[go_type], go_type)
        if go_type.startswith("[]"):
            return self._list(lambda: self._of(package, go_type[2:].lstrip("*"), {}), marks)
        found = _GO_MAP.fullmatch(go_type)
        if found:
            value = found[1].lstrip("*")
            return self._map(lambda: self._of(package, value, {}), marks)
        home, name = self._home(package, go_type)
        if home == META and name in _META_SPECIAL:
            return self._scalar(_META_SPECIAL[name], name)
        if name in _JSON_TYPES and "apiextensions" in home:
            return self._json_type(home, name)
        if (home, name) in self._rows:
            return self._struct(home, name, marks)
        under = self._named.get((home, name))
        if under is None:
            return self._alias(home, name, marks)
        return self._scalar(s.STRING, name) if under == "string" else self._of(home, under, marks)

    def _alias(self, package: str, name: str, marks: dict[str, Any]) -> Schema:
        """A name without rows: a type of the group's v1 used by an older version, or a struct without fields."""
        stable = package.rpartition("/")[0] + "/v1"
        if (stable, name) in self._rows:
            return self._struct(stable, name, marks)
        if (stable, name) in self._named:
            return self._of(stable, name, marks)
        return Schema(s.STRUCT, package=package, name=name)

    def _home(self, package: str, go_type: str) -> tuple[str, str]:
        alias, dot, name = go_type.rpartition(".")
        if not dot:
            return package, go_type
        for home in _ALIASES.get(alias, ()):
            if (home, name) in self._rows or (home, name) in self._named or (home == META and name in _META_SPECIAL):
                return home, name
        return alias, name

    def _struct(self, package: str, name: str, marks: dict[str, Any]) -> Schema:
        made = self.get(package, name)
        if "mapType" not in marks or marks["mapType"] == made.map_type:
            return made
        return Schema(
            s.STRUCT,
            package=package,
            name=name,
            fields=lambda: made.fields,
            map_type=marks["mapType"],
            union=made.union,
        )

    def _scalar(self, kind: str, name: str) -> Schema:
        key = f"{kind} {name}"
        if key not in self._plain:
            self._plain[key] = Schema(kind, name=name)
        return self._plain[key]

    def _json_type(self, package: str, name: str) -> Schema:
        key = f"{package}.{name}"
        if key not in self._plain:
            self._plain[key] = Schema(s.JSON, package=package, name=name)
        return self._plain[key]

    @staticmethod
    def _list(items: Callable[[], Schema], marks: dict[str, Any]) -> Schema:
        return Schema(
            s.LIST, items=items, list_type=marks.get("listType", "atomic"), list_keys=tuple(marks.get("listKeys", ()))
        )

    @staticmethod
    def _map(items: Callable[[], Schema], marks: dict[str, Any]) -> Schema:
        return Schema(s.MAP, items=items, map_type=marks.get("mapType", "granular"))


@cache
def builtin_types() -> TypeTable:
    """The table of Kubernetes 1.37, read at first use (about 15 ms)."""
    return TypeTable(
        gzip.decompress(_data("types.tsv.gz")).decode(),
        gzip.decompress(_data("named-types.tsv.gz")).decode(),
        _data("markers.tsv").decode(),
    )
