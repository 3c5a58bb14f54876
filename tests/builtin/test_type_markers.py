"""How lists of the built-in types merge and are owned, as OpenAPI says it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pilothouse.builtin.types import CORE, builtin_types, definition_name
from pilothouse.machinery import schema as s

FACTS = Path(__file__).parents[3] / "shared/facts/openapi/v2.json.gz"


def test_a_type_within_another_is_marked_as_that_one() -> None:
    """OpenAPI has no definition of what ephemeral containers have in common."""
    for name in ("Container", "EphemeralContainer"):
        found = builtin_types().get(CORE, name).properties
        lists = {field: (found[field].schema.list_keys, found[field].patch_merge_key) for field in ("env", "ports")}
        assert lists == {
            "env": (("name",), "name"),
            "ports": (("containerPort", "protocol"), "containerPort"),
        }


@pytest.mark.skipif(not FACTS.exists(), reason="needs the recorded OpenAPI document")
def test_all_lists_and_maps_are_as_in_openapi() -> None:
    types = builtin_types()
    definitions = json.loads(gzip.decompress(FACTS.read_bytes()))["definitions"]
    known = {definition_name(package, name): (package, name) for package, name in types._rows}
    for definition in definitions.keys() & known.keys():
        shown = definitions[definition]
        properties = types.get(*known[definition]).properties
        for name, told in shown.get("properties", {}).items():
            field = properties[name]
            strategies = set(filter(None, told.get("x-kubernetes-patch-strategy", "").split(",")))
            assert (field.patch_merge_key, field.patch_strategy) == (
                told.get("x-kubernetes-patch-merge-key", ""),
                strategies,
            ), (definition, name)
            if told.get("type") == "array":
                assert field.schema.kind == s.LIST
                assert field.schema.list_type == told.get("x-kubernetes-list-type", "atomic"), (definition, name)
                assert set(field.schema.list_keys) == set(told.get("x-kubernetes-list-map-keys", ()))
            elif "additionalProperties" in told:
                assert field.schema.map_type == told.get("x-kubernetes-map-type", "granular"), (definition, name)
