"""openapi.v2.Document: the Swagger document in protobuf, which older clients ask for."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.kit.protowire import lengthy
from pilothouse.openapi.protobuf import (
    Encode,
    bounds,
    flag,
    inside,
    many,
    message,
    methods,
    named,
    one,
    schema_or_flag,
    text,
    texts,
    yaml,
    yamls,
)  # fmt: skip


def _schema(value: Any) -> bytes:
    return _SCHEMA(value)


_SCHEMA: Final[Encode] = message(
    {
        "$ref": (1, text),
        "format": (2, text),
        "title": (3, text),
        "description": (4, text),
        "default": (5, yaml),
        **bounds(6),
        "additionalProperties": (21, schema_or_flag(_schema)),
        "type": (22, lambda number, value: lengthy(number, text(1, value))),
        "items": (23, one(inside(1, _schema))),
        "allOf": (24, many(_schema)),
        "properties": (25, named(1, _schema)),
        "readOnly": (27, flag),
        "example": (30, yaml),
    },
    31,
)

_REFERENCE: Final = message({"$ref": (1, text), "description": (2, text)})
_BODY: Final = message(
    {"description": (1, text), "name": (2, text), "in": (3, text), "required": (4, flag), "schema": (5, one(_schema))},
    6,
)


def _simple(type_at: int) -> Encode:
    """A parameter in the URL; all numbers from that of its type on, `type_at`, are in a row with gaps."""
    table = {
        "required": (1, flag), "in": (2, text), "description": (3, text), "name": (4, text), "type": (type_at, text),
        "format": (type_at + 1, text), "default": (type_at + 4, yaml), "uniqueItems": (type_at + 14, flag),
        "enum": (type_at + 15, yamls),
    }  # fmt: skip
    return message(table, type_at + 17)


_QUERY: Final = _simple(6)  # here the fifth member says whether it may be empty
_IN_PATH: Final = _simple(5)


def _parameter(value: Any) -> bytes:
    if value["in"] == "body":
        return lengthy(1, _BODY(value))
    return lengthy(2, lengthy(4, _IN_PATH(value)) if value["in"] == "path" else lengthy(3, _QUERY(value)))


def _parameter_item(value: Any) -> bytes:
    return lengthy(2, _REFERENCE(value)) if "$ref" in value else lengthy(1, _parameter(value))


_RESPONSE: Final = message({"description": (1, text), "schema": (2, one(inside(1, _schema)))}, 5)
_REQUIREMENT: Final = message(
    {"BearerToken": (1, lambda number, _: lengthy(number, text(1, "BearerToken") + lengthy(2, b"")))}
)
_API_KEY: Final = message({"type": (1, text), "name": (2, text), "in": (3, text), "description": (4, text)}, 5)
_OPERATION: Final = message(
    {
        "tags": (1, texts),
        "summary": (2, text),
        "description": (3, text),
        "operationId": (5, text),
        "produces": (6, texts),
        "consumes": (7, texts),
        "parameters": (8, many(_parameter_item)),
        "responses": (9, named(1, inside(1, _RESPONSE))),
        "schemes": (10, texts),
        "deprecated": (11, flag),
    },
    13,
)
_PATH: Final = message({**methods(2, _OPERATION), "parameters": (9, many(_parameter_item))}, 10)
encode_v2: Final[Encode] = message(
    {
        "swagger": (1, text),
        "info": (2, one(message({"title": (1, text), "version": (2, text), "description": (3, text)}, 7))),
        "paths": (8, named(2, _PATH)),
        "definitions": (9, named(1, _schema)),
        "parameters": (10, named(1, _parameter)),
        "security": (12, many(_REQUIREMENT)),
        "securityDefinitions": (13, named(1, inside(2, _API_KEY))),
    },
    16,
)
