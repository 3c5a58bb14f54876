"""openapi.v3.Document: a v3 document in protobuf."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.kit.protowire import lengthy
from pilothouse.openapi.protobuf import (
    Encode,
    bounds,
    double,
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
)  # fmt: skip

_REFERENCE: Final = message({"$ref": (1, text), "summary": (2, text), "description": (3, text)})


def _schema(value: Any) -> bytes:
    """A schema or a reference to one."""
    return lengthy(2, _REFERENCE(value)) if "$ref" in value else lengthy(1, _SCHEMA(value))


def _bare_schema(value: Any) -> bytes:
    return _SCHEMA(value)


def _default(number: int, value: Any) -> bytes:
    """The model has room for scalars only; other defaults are shown as present."""
    if isinstance(value, bool):
        return lengthy(number, flag(2, value))
    if isinstance(value, int | float):
        return lengthy(number, double(1, value))
    return lengthy(number, lengthy(3, value.encode()) if isinstance(value, str) else b"")


_SCHEMA: Final[Encode] = message(
    {
        "nullable": (1, flag),
        "readOnly": (3, flag),
        "writeOnly": (4, flag),
        "example": (7, yaml),
        "deprecated": (8, flag),
        "title": (9, text),
        **bounds(10),
        "type": (25, text),
        "allOf": (26, many(_schema)),
        "oneOf": (27, many(_schema)),
        "anyOf": (28, many(_schema)),
        "not": (29, one(_bare_schema)),
        "items": (30, one(inside(1, _schema))),
        "properties": (31, named(1, _schema)),
        "additionalProperties": (32, schema_or_flag(_schema)),
        "default": (33, _default),
        "description": (34, text),
        "format": (35, text),
    },
    36,
)
_CONTENT: Final = named(1, message({"schema": (1, one(_schema))}, 5))
_PARAMETER: Final = message(
    {"name": (1, text), "in": (2, text), "description": (3, text), "required": (4, flag), "schema": (10, one(_schema))},
    14,
)
_REQUEST: Final = message({"description": (1, text), "content": (2, _CONTENT), "required": (3, flag)}, 4)
_RESPONSE: Final = message({"description": (1, text), "content": (3, _CONTENT)}, 5)
_OPERATION: Final = message(
    {
        "tags": (1, texts),
        "summary": (2, text),
        "description": (3, text),
        "operationId": (5, text),
        "parameters": (6, many(inside(1, _PARAMETER))),
        "requestBody": (7, one(inside(1, _REQUEST))),
        "responses": (8, named(2, inside(1, _RESPONSE))),
        "deprecated": (10, flag),
    },
    13,
)
_PATH: Final = message({**methods(4, _OPERATION), "parameters": (13, many(inside(1, _PARAMETER)))}, 14)
_SECURITY: Final = message({"type": (1, text), "description": (2, text), "name": (3, text), "in": (4, text)}, 9)
encode_v3: Final[Encode] = message(
    {
        "openapi": (1, text),
        "info": (2, one(message({"title": (1, text), "description": (2, text), "version": (6, text)}, 7))),
        "paths": (4, named(1, _PATH)),
        "components": (
            5,
            one(
                message({"schemas": (1, named(1, _schema)), "securitySchemes": (7, named(1, inside(1, _SECURITY)))}, 10)
            ),
        ),
    },
    9,
)
