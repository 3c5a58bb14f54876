"""Documents of custom resources are those of a real server (recorded: conformance crds, facts/openapi/merged.json)."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from pilothouse.builtin.definitions import BuiltinDefinitions
from pilothouse.openapi import custom
from pilothouse.openapi.catalog import merge

SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared"
VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")


def recorded(name: str) -> Any:
    path = SHARED / name
    if not path.exists():
        pytest.skip("no recorded answers beside the checkout")
    return json.loads(path.read_text())


def kind(schema: Any, plural: str = "kegs", name: str = "Keg", **more: bool) -> custom.CustomKind:
    return custom.CustomKind(plural, name, f"{name}List", True, VERBS, schema, **more)


TANK = {
    "type": "object",
    "description": "A tank.",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "litres": {"type": "integer", "minimum": 1, "default": 5},
                "note": {"type": "string", "description": "free text", "nullable": True},
                "port": {"x-kubernetes-int-or-string": True},
                "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                "any": {"x-kubernetes-preserve-unknown-fields": True},
            },
            "required": ["note"],
            "x-kubernetes-validations": [{"rule": "self.litres > 0", "message": "must hold something"}],
        }
    },
}
KEG = {
    "type": "object",
    "description": "A keg.",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "any": {"x-kubernetes-int-or-string": True},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "litres": {"type": "integer", "minimum": 1, "x-kubernetes-validations": [{"rule": "self < 100"}]},
            },
        }
    },
}


def test_the_v3_document_of_a_custom_resource_is_that_of_the_original() -> None:
    told = recorded("conformance/expected/crds.json")["openapi-of-a-definition"][2]["body"]
    ours = custom.document("g<id>.example.com", "v1", [kind(TANK, "tanks", "Tank")], BuiltinDefinitions())
    assert ours == told


def test_the_swagger_fragment_of_a_custom_resource_is_that_of_the_original() -> None:
    told = recorded("facts/openapi/merged.json")["crd"]
    keg = kind(KEG, status=True, scale=True)
    ours = custom.fragment("crd.merge.example.com", "v1", [keg], BuiltinDefinitions())
    assert ours["paths"] == told["paths"]
    own = {name: schema for name, schema in ours["definitions"].items() if name.startswith("com.example.")}
    assert own == told["definitions"]


def test_a_kind_without_a_schema_is_just_an_object() -> None:
    made = custom.document("example.com", "v1", [kind(None)], BuiltinDefinitions())
    schema = made["components"]["schemas"]["com.example.v1.Keg"]
    gvk = [{"group": "example.com", "kind": "Keg", "version": "v1"}]
    assert schema == {"type": "object", "x-kubernetes-group-version-kind": gvk}


def test_embedded_objects_have_the_metadata_of_every_object() -> None:
    schema = {
        "type": "object",
        "properties": {"template": {"type": "object", "x-kubernetes-embedded-resource": True}},
    }
    made = custom.document("example.com", "v1", [kind(schema)], BuiltinDefinitions())
    template = made["components"]["schemas"]["com.example.v1.Keg"]["properties"]["template"]
    assert list(template["properties"]) == ["apiVersion", "kind", "metadata"]


def test_what_swagger_cannot_say_is_left_open_there() -> None:
    schema = {
        "type": "object",
        "properties": {
            "maybe": {"type": "object", "nullable": True, "properties": {"x": {"type": "string"}}},
            "either": {"type": "string", "anyOf": [{"minLength": 1}], "not": {"maxLength": 9}, "default": "a"},
            "many": {"type": "array", "items": {"x-kubernetes-int-or-string": True}},
        },
    }
    made = custom.fragment("example.com", "v1", [kind(schema)], BuiltinDefinitions())
    shown = made["definitions"]["com.example.v1.Keg"]["properties"]
    assert shown["maybe"] == {}
    assert shown["either"] == {"type": "string"}
    assert shown["many"] == {"type": "array", "items": {"x-kubernetes-int-or-string": True}}


def test_a_fragment_shares_the_parameters_of_the_document_that_it_is_merged_into() -> None:
    base = {"swagger": "2.0", "info": {"title": "Kubernetes", "version": "1.37"}, "paths": {"/version/": {}}}
    merged = merge([base, custom.fragment("example.com", "v1", [kind(KEG)], BuiltinDefinitions())])
    assert list(merged["paths"])[-1] == "/version/"
    used = {text.partition('"')[0] for text in json.dumps(merged["paths"]).split("#/parameters/")[1:]}
    assert used == set(merged["parameters"])
