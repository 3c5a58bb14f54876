"""A custom kind whose schema says much: lists of every sort, maps, defaults, formats, rules, free parts."""

from __future__ import annotations

from typing import Any, Final

GROUP: Final = "strong.example.com"
PATH: Final = f"/apis/{GROUP}/v1/namespaces/default/strongs"
DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

_TEXT: Final = {"type": "string"}
_NUMBER: Final = {"type": "integer"}
_FREE: Final = {"x-kubernetes-preserve-unknown-fields": True}


def _list(items: object, kind: str = "atomic", **more: object) -> dict[str, Any]:
    return {"type": "array", "items": items, "x-kubernetes-list-type": kind, **more}


def _map(items: object) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": items}


def _object(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


_ITEM: Final = _object(
    name={**_TEXT, "pattern": "^[a-z]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63},
    port={**_NUMBER, "format": "int32", "minimum": 1, "maximum": 65535, "default": 80},
    proto={**_TEXT, "enum": ["TCP", "UDP"], "default": "TCP"},
    when={**_TEXT, "format": "date-time"},
    labels={**_map(_TEXT), "maxProperties": 100},
) | {"required": ["name"], "x-kubernetes-validations": [{"rule": "self.port != 22", "message": "no shell"}]}

_LEAVES: Final = _list(_object(leaf=_NUMBER, any=_FREE))
_SPEC: Final = _object(
    items=_list(_ITEM, "map", maxItems=100_000) | {"x-kubernetes-list-map-keys": ["name"]},
    atomic=_list(_ITEM, maxItems=50_000),
    set=_list(_TEXT, "set"),
    numbers=_list({"type": "number", "minimum": 0}),
    map=_map(_object(a=_NUMBER, b={"type": "boolean", "default": True}, c=_list(_TEXT))),
    counts=_map(_NUMBER),
    either=_list({"x-kubernetes-int-or-string": True}),
    nothing={**_TEXT, "nullable": True},
    one=_object(a=_TEXT, b=_TEXT) | {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    tree=_object(leaf=_NUMBER, children=_list(_object(leaf=_NUMBER, children=_LEAVES))),
    any={"type": "object", **_FREE},
    embedded={"type": "object", "x-kubernetes-embedded-resource": True, **_FREE},
    bytes={**_TEXT, "format": "byte"},
) | {
    "x-kubernetes-validations": [
        {"rule": "!has(self.items) || self.items.size() < 200000"},
        {"rule": "!has(self.counts) || !('bad' in self.counts)", "message": "bad"},
    ]
}


def definition() -> dict[str, Any]:
    version = {
        "name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": _object(spec=_SPEC, status={"type": "object", **_FREE})},
    }  # fmt: skip
    names = {"plural": "strongs", "singular": "strong", "kind": "Strong", "listKind": "StrongList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"strongs.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }


def strong(name: str) -> dict[str, Any]:
    """One with everything set, and well."""
    item = {"name": "a", "port": 81, "proto": "UDP", "when": "2020-01-01T00:00:00Z", "labels": {"x": "y"}}
    spec = {
        "items": [item, {"name": "b"}],
        "atomic": [item],
        "set": ["a", "b"],
        "numbers": [1, 2.5],
        "map": {"k": {"a": 1, "c": ["x"]}},
        "counts": {"a": 1, "b": 2},
        "either": [1, "2"],
        "nothing": None,
        "one": {"a": "x"},
        "tree": {"leaf": 1, "children": [{"leaf": 2, "children": [{"leaf": 3, "any": {"q": [1]}}]}]},
        "any": {"a": {"b": [1, {"c": 2}]}},
        "embedded": {"apiVersion": "v1", "kind": "X", "metadata": {"name": "n", "labels": {"a": "b"}}, "z": [1]},
        "bytes": "YWJj",
    }
    return {"apiVersion": f"{GROUP}/v1", "kind": "Strong", "metadata": {"name": name}, "spec": spec}
