"""Schemas of kinds from dataclasses: what a Python program already says about its data."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

Schema = dict[str, Any]
_SCALARS: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "format": "int64"},
    float: {"type": "number"},
    Any: {"x-kubernetes-preserve-unknown-fields": True},
}


def schema_of(kind: Any) -> Schema:
    """The structural schema of a dataclass, str, bool, int, float, list[...], dict[str, ...], ... | None, or Literal.

    A dict is taken as a schema. Raises TypeError for what cannot be said in a schema.
    """
    if isinstance(kind, dict):
        return kind
    if kind in _SCALARS:
        return dict(_SCALARS[kind])
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _dataclass(kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is list:
        return {"type": "array", "items": schema_of(arguments[0])}
    if origin is dict and arguments[0] is str:
        return {"type": "object", "additionalProperties": schema_of(arguments[1])}
    if origin is typing.Literal and all(isinstance(value, str) for value in arguments):
        return {"type": "string", "enum": list(arguments)}
    if origin in (types.UnionType, typing.Union):
        inner = [argument for argument in arguments if argument is not type(None)]
        if len(inner) == 1:
            return {**schema_of(inner[0]), "nullable": True}
    raise TypeError(f"{kind!r} cannot be said in a schema")


def _dataclass(kind: type) -> Schema:
    hints = typing.get_type_hints(kind)
    properties: Schema = {}
    required: list[str] = []
    for field in dataclasses.fields(kind):
        inner = properties[field.name] = schema_of(hints[field.name])
        if "description" in field.metadata:
            inner["description"] = field.metadata["description"]
        if field.default is not dataclasses.MISSING:
            if field.default is not None:
                inner["default"] = field.default
        elif field.default_factory is dataclasses.MISSING:
            required.append(field.name)
    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    if kind.__doc__ and not kind.__doc__.startswith(f"{kind.__name__}("):
        schema["description"] = kind.__doc__
    return schema
