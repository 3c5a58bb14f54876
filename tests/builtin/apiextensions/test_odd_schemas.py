"""Schemas that are refused are shown, however long or deep they are, and whatever numbers are in them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pilothouse.builtin.apiextensions.internalforms import schema_form, versions_form
from pilothouse.machinery.jsoncodec import GoFloat
from pilothouse.machinery.rules.field import as_json


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize("depth", [1, 100, 200])
def test_deep_values_are_shown(depth: int) -> None:
    assert as_json(nested(depth)) == json.dumps(nested(depth), separators=(",", ":"))


def test_numbers_that_go_writes_in_its_own_way_are_shown() -> None:
    assert as_json({"default": GoFloat(1e30), "more": "<"}) == '{"default":1e+30,"more":"\\u003c"}'


def test_a_long_schema_is_shown_as_it_was_sent() -> None:
    short: dict[str, Any] = {"properties": {f"p{number}": {"type": "string"} for number in range(3)}}
    long: dict[str, Any] = {"properties": {f"p{number}": {"type": "string"} for number in range(6000)}}
    assert list(schema_form(short)["Properties"]) == ["p0", "p1", "p2"]
    assert schema_form(long) == long
    versions = [{"name": "v1", "schema": {"openAPIV3Schema": long}}, {"name": "v2", "schema": None}]
    assert versions_form(versions) == versions
