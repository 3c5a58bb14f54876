"""A small custom resource for the clients: boats, with a schema and a status."""

from __future__ import annotations

from typing import Any

_SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {"size": {"type": "integer", "minimum": 1}, "colour": {"type": "string"}},
        },
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    },
}


def definition(word: str) -> dict[str, Any]:
    """The CustomResourceDefinition of boats.WORD.example.com."""
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _SCHEMA},
        "subresources": {"status": {}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"boats.{word}.example.com"},
        "spec": {
            "group": f"{word}.example.com",
            "scope": "Namespaced",
            "names": {"plural": "boats", "singular": "boat", "kind": "Boat", "listKind": "BoatList"},
            "versions": [version],
        },
    }


def boat(word: str, name: str, size: int = 3) -> dict[str, Any]:
    return {
        "apiVersion": f"{word}.example.com/v1",
        "kind": "Boat",
        "metadata": {"name": name},
        "spec": {"size": size},
    }
