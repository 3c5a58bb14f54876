"""Schemas for tests: made by hand, as those of custom resources and small built-in kinds are."""

from __future__ import annotations

from typing import Any

from pilothouse.machinery import schema as s
from pilothouse.machinery.schema import Field, Schema

TEXT = Schema(s.STRING, name="string")
NUMBER = Schema(s.INT64, name="int64")
TEXTS = Schema(s.MAP, items=lambda: TEXT)


def struct(fields: dict[str, Schema], **more: Any) -> Schema:
    """A struct whose fields are all pointers, as in custom resources."""
    defaults = more.pop("defaults", {})
    made = [
        Field(name, lambda schema=schema: schema, pointer=True, default=defaults.get(name))
        for name, schema in fields.items()
    ]
    return Schema(s.STRUCT, fields=lambda: made, **more)


def items(of: Schema, kind: str = "atomic", keys: tuple[str, ...] = ()) -> Schema:
    return Schema(s.LIST, items=lambda: of, list_type=kind, list_keys=keys)


METADATA = struct(
    {
        "name": TEXT,
        "namespace": TEXT,
        "labels": TEXTS,
        "annotations": TEXTS,
        "finalizers": items(TEXT, "set"),
        "resourceVersion": TEXT,
        "managedFields": items(Schema(s.JSON)),
    }
)


def kind(spec: Schema, **more: Schema) -> Schema:
    return struct({"apiVersion": TEXT, "kind": TEXT, "metadata": METADATA, "spec": spec, **more})


GATEWAY = kind(
    struct(
        {
            "class": TEXT,
            "listeners": items(
                struct({"port": NUMBER, "protocol": TEXT, "name": TEXT}, defaults={"protocol": "TCP"}),
                "map",
                ("port", "protocol"),
            ),
            "hosts": items(TEXT, "set"),
            "plain": items(TEXT),
            "options": TEXTS,
            "sealed": struct({"a": TEXT, "b": TEXT}, map_type="atomic"),
        }
    )
)
BLOB = struct({"apiVersion": TEXT, "kind": TEXT, "metadata": METADATA}, preserve_unknown=True)
