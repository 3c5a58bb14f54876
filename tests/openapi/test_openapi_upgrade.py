"""A Swagger document told again as OpenAPI v3."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilothouse.openapi.upgrade import upgrade

RECORDED = Path(__file__).parents[3] / "shared" / "facts" / "openapi"


def operation(path: str = "/a", **operation: Any) -> Any:
    return upgrade({"swagger": "2.0", "paths": {path: {"get": operation}}})["paths"][path]["get"]


def test_definitions_stand_below_components_and_references_follow_them() -> None:
    definitions = {"A": {"properties": {"b": {"$ref": "#/definitions/B"}, "$ref": {"type": "string"}}}, "B": {}}
    shown = upgrade({"info": {"title": "t", "version": "1"}, "definitions": definitions, "paths": {}})
    assert (shown["openapi"], shown["info"]["title"]) == ("3.0.0", "t")
    a = shown["components"]["schemas"]["A"]
    assert a["properties"] == {"b": {"$ref": "#/components/schemas/B"}, "$ref": {"type": "string"}}


def test_a_body_is_not_a_parameter_any_more() -> None:
    body = {"in": "body", "name": "body", "required": True, "schema": {"$ref": "#/definitions/A"}}
    query = {"in": "query", "name": "q", "type": "array", "items": {"type": "string"}, "collectionFormat": "multi"}
    shown = operation(consumes=["application/json", "application/yaml"], parameters=[body, query], responses={})
    content = {"schema": {"$ref": "#/components/schemas/A"}}
    assert shown["requestBody"] == {
        "required": True,
        "content": {"application/json": content, "application/yaml": content},
    }
    schema = {"type": "array", "items": {"type": "string"}}
    assert shown["parameters"] == [{"in": "query", "name": "q", "schema": schema, "explode": True}]


def test_an_answer_has_its_schema_for_each_media_type() -> None:
    answers = {"200": {"description": "OK", "schema": {"type": "string"}}, "401": {"description": "Unauthorized"}}
    shown = operation(produces=["application/json"], responses=answers)["responses"]
    assert shown["200"]["content"] == {"application/json": {"schema": {"type": "string"}}}
    assert shown["401"] == {"description": "Unauthorized"}


def test_fields_of_a_form_are_one_object() -> None:
    fields = [
        {"in": "formData", "name": "a", "type": "string", "required": True},
        {"in": "formData", "name": "b", "type": "file"},
    ]
    shown = operation(parameters=fields, responses={})["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert shown["required"] == ["a"]
    assert shown["properties"] == {"a": {"type": "string"}, "b": {"type": "string", "format": "binary"}}


def test_what_stands_at_the_head_or_the_path_holds_for_its_operations() -> None:
    shared = {"in": "query", "name": "pretty", "type": "string", "uniqueItems": True}
    body = {"in": "body", "name": "body", "schema": {"type": "object"}}
    item = {
        "parameters": [{"$ref": "#/parameters/pretty"}, body],
        "post": {"operationId": "x", "x-kubernetes-action": "post"},
    }
    shown = upgrade({"parameters": {"pretty": shared}, "consumes": ["a/b"], "paths": {"/a": item}})["paths"]["/a"]
    schema = {"type": "string", "uniqueItems": True}
    assert shown["parameters"] == [{"in": "query", "name": "pretty", "schema": schema}]
    assert shown["post"]["requestBody"] == {"content": {"a/b": {"schema": {"type": "object"}}}}
    assert (shown["post"]["operationId"], shown["post"]["x-kubernetes-action"]) == ("x", "post")


WORDS = st.sampled_from(
    ["paths", "/a", "get", "parameters", "in", "body", "formData", "schema", "$ref", "responses", "200", "headers",
     "definitions", "type", "items", "consumes", "#/parameters/a", "required"]
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=25,
)


@given(st.dictionaries(WORDS, JSON, max_size=5))
def test_no_document_does_harm(document: dict[str, Any]) -> None:
    assert upgrade(document)["openapi"] == "3.0.0"


def test_depth_is_bounded() -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {"items": deep}
    assert upgrade({"definitions": {"A": deep}})["components"]["schemas"]["A"]["items"]


@pytest.mark.shared
@pytest.mark.skipif(not RECORDED.exists(), reason="the recorded documents are not here")
def test_paths_of_the_originals_swagger_document_become_those_of_its_third_versions() -> None:
    made = upgrade(json.loads(gzip.decompress((RECORDED / "v2.json.gz").read_bytes())))["paths"]
    compared = 0
    for file in sorted((RECORDED / "v3").glob("*.json.gz")):
        for path, item in json.loads(gzip.decompress(file.read_bytes()))["paths"].items():
            assert made[path] == item, path
            compared += 1
    assert compared > 400
