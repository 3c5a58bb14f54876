"""The protobuf form of the documents, that of the gnostic models (openapi.v2.Document, openapi.v3.Document).

A message is a table: member of the JSON form -> (field number, writer). Members that the models do not know are left
out, those that begin with `x-` become named YAML texts (JSON is YAML).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson

from pilothouse.kit import protowire
from pilothouse.kit.protowire import lengthy
from pilothouse.openapi.operations import METHODS

Write = Callable[[int, Any], bytes]  # (field number, JSON value) -> the whole field, b"" for a zero value
Encode = Callable[[Any], bytes]  # JSON value -> the message without tag and length
Table = Mapping[str, tuple[int, Write]]

_NAME: Final = 1
_VALUE: Final = 2


def text(number: int, value: Any) -> bytes:
    return lengthy(number, value.encode()) if value else b""


def texts(number: int, value: Any) -> bytes:
    return b"".join(lengthy(number, item.encode()) for item in value)


def flag(number: int, value: Any) -> bytes:
    return protowire.integer(number, 1) if value else b""


def integer(number: int, value: Any) -> bytes:
    return protowire.integer(number, int(value) & 0xFFFFFFFFFFFFFFFF) if value else b""


def double(number: int, value: Any) -> bytes:
    return protowire.double(number, value) if value else b""


def yaml(number: int, value: Any) -> bytes:
    """An Any that holds its value as YAML."""
    return lengthy(number, lengthy(2, orjson.dumps(value) + b"\n"))


def yamls(number: int, value: Any) -> bytes:
    return b"".join(yaml(number, item) for item in value)


def one(encode: Encode) -> Write:
    return lambda number, value: lengthy(number, encode(value))


def many(encode: Encode) -> Write:
    return lambda number, value: b"".join(lengthy(number, encode(item)) for item in value)


def named(inner: int, encode: Encode) -> Write:
    """A map: a message whose field `inner` holds (name, value) pairs in the order of the JSON."""
    return lambda number, value: lengthy(
        number,
        b"".join(
            lengthy(inner, lengthy(_NAME, name.encode()) + lengthy(_VALUE, encode(item)))
            for name, item in value.items()
        ),
    )


def inside(number: int, encode: Encode) -> Encode:
    """The one choice of a oneof that is ever needed."""
    return lambda value: lengthy(number, encode(value))


def message(table: Table, extensions: int = 0) -> Encode:
    """The encoder of a message; `extensions`: field number of its `x-` members."""
    fields = sorted((number, member, write) for member, (number, write) in table.items())

    def encode(value: Any) -> bytes:
        out = [write(number, value[member]) for number, member, write in fields if member in value]
        if extensions:
            out.extend(
                lengthy(extensions, lengthy(_NAME, member.encode()) + yaml(_VALUE, found))
                for member, found in value.items()
                if member.startswith("x-")
            )
        return b"".join(out)

    return encode


_IN_A_ROW: Final = (
    ("multipleOf", double), ("maximum", double), ("exclusiveMaximum", flag), ("minimum", double), ("exclusiveMinimum",
    flag), ("maxLength", integer), ("minLength", integer), ("pattern", text), ("maxItems", integer), ("minItems",
    integer), ("uniqueItems", flag), ("maxProperties", integer), ("minProperties", integer), ("required", texts),
    ("enum", yamls),
)  # fmt: skip


def bounds(first: int) -> Table:
    """The members of a schema that both versions number in a row, from `first` on."""
    return {member: (first + index, write) for index, (member, write) in enumerate(_IN_A_ROW)}


def methods(first: int, operation: Encode) -> Table:
    """The methods of a path, which both versions number in a row, from `first` on."""
    return {method: (first + index, one(operation)) for index, method in enumerate(METHODS)}


def schema_or_flag(encode: Encode) -> Write:
    """`additionalProperties`: a schema or a boolean."""
    return lambda number, value: lengthy(
        number, flag(2, value) if isinstance(value, bool) else lengthy(1, encode(value))
    )
