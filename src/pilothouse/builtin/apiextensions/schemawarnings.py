"""Warnings about schemas that are legal but do less than one may think: unknown formats, sets of lists and objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pilothouse.builtin.apiextensions.structural import subschemas
from pilothouse.machinery.structural.node import LIST_TYPE
from pilothouse.registry.behaviour import Object

_FORMATS: Final = frozenset(
    {
        "bsonobjectid", "byte", "cidr", "creditcard", "date", "date-time", "datetime", "double", "duration", "email",
        "float", "hexcolor", "hostname", "int32", "int64", "ipv4", "ipv6", "isbn", "isbn10", "isbn13", "k8s-long-name",
        "k8s-short-name", "mac", "password", "rgbcolor", "ssn", "uri", "uuid", "uuid3", "uuid4", "uuid5",
    }
)  # fmt: skip
_NO_SETS_OF: Final = ("array", "object")


def _nodes(schema: Object) -> Iterator[Object]:
    yield schema
    for _, one in subschemas(schema):
        yield from _nodes(one)


def _warnings(crd: Object) -> set[str]:
    found = set()
    for version in crd["spec"].get("versions") or ():
        root = (version.get("schema") or {}).get("openAPIV3Schema")
        for node in _nodes(root) if root else ():
            form, items = node.get("format"), node.get("items")
            if form and form not in _FORMATS:
                found.add(f'unrecognized format "{form}"')
            if node.get(LIST_TYPE) == "set" and isinstance(items, dict) and items.get("type") in _NO_SETS_OF:
                kind = f'"{items["type"]}"'
                why = "is not supported by server-side apply or CEL validation rules"
                found.add(f"{LIST_TYPE}: set for items of type {kind} {why}")
    return found


def warn(new: Object, old: Object | None) -> list[str]:
    """What is new to warn about."""
    if old is not None and new["spec"] == old["spec"]:
        return []
    return sorted(_warnings(new) - (_warnings(old) if old is not None else set()))
