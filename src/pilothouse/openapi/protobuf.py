"""The protobuf form of the documents, that of the gnostic models (openapi.v2.Document, openapi.v3.Document).

A message is a table: member of the JSON form -> (field number, writer). Members that the models do not know are left
out, those that begin with `x-` become named YAML texts (JSON is YAML).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson

Write = Callable[[int, Any], bytes]  # (field number, JSON value) -> the whole field, b"" for a zero value
Encode = Callable[[Any], bytes]  # JSON value -> the message without tag and length
Table = Mapping[str, tuple[int, Write]]

_NAME: Final = 1
_VALUE: Final = 2


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, payload: bytes) -> bytes:
    """A field that has a length: text or a message."""
    return _varint(number << 3 | 2) + _varint(len(payload)) + payload


def text(number: int, value: Any) -> bytes:
    return field(number, value.encode()) if value else b""


def texts(number: int, value: Any) -> bytes:
    return b"".join(field(number, item.encode()) for item in value)


def flag(number: int, value: Any) -> bytes:
    return _varint(number << 3) + b"\x01" if value else b""


def integer(number: int, value: Any) -> bytes:
    return _varint(number << 3) + _varint(int(value) & 0xFFFFFFFFFFFFFFFF) if value else b""


def double(number: int, value: Any) -> bytes:
    return _varint(number << 3 | 1) + struct.pack("<d", value) if value else b""


def yaml(number: int, value: Any) -> bytes:
    """An Any that holds its value as YAML."""
    return field(number, field(2, orjson.dumps(value) + b"\n"))


def yamls(number: int, value: Any) -> bytes:
    return b"".join(yaml(number, item) for item in value)


def one(encode: Encode) -> Write:
    return lambda number, value: field(number, encode(value))


def many(encode: Encode) -> Write:
    return lambda number, value: b"".join(field(number, encode(item)) for item in value)


def named(inner: int, encode: Encode) -> Write:
    """A map: a message whose field `inner` holds (name, value) pairs in the order of the JSON."""
    return lambda number, value: field(
        number,
        b"".join(
            field(inner, field(_NAME, name.encode()) + field(_VALUE, encode(item))) for name, item in value.items()
        ),
    )


def inside(number: int, encode: Encode) -> Encode:
    """The one choice of a oneof that is ever needed."""
    return lambda value: field(number, encode(value))


def message(table: Table, extensions: int = 0) -> Encode:
    """The encoder of a message; `extensions`: field number of its `x-` members."""
    fields = sorted((number, member, write) for member, (number, write) in table.items())

    def encode(value: Any) -> bytes:
        out = [write(number, value[member]) for number, member, write in fields if member in value]
        if extensions:
            out.extend(
                field(extensions, field(_NAME, member.encode()) + yaml(_VALUE, found))
                for member, found in value.items()
                if member.startswith("x-")
            )
        return b"".join(out)

    return encode


_BOUNDS: Final = (
    ("multipleOf", double), ("maximum", double), ("exclusiveMaximum", flag), ("minimum", double), ("exclusiveMinimum",
    flag), ("maxLength", integer), ("minLength", integer), ("pattern", text), ("maxItems", integer), ("minItems",
    integer), ("uniqueItems", flag), ("maxProperties", integer), ("minProperties", integer),
)  # fmt: skip


def bounds(first: int) -> dict[str, tuple[int, Write]]:
    """The members of a schema that both versions number in a row."""
    return {member: (first + index, write) for index, (member, write) in enumerate(_BOUNDS)}


def schema_or_flag(encode: Encode) -> Write:
    """`additionalProperties`: a schema or a boolean."""
    return lambda number, value: field(number, flag(2, value) if isinstance(value, bool) else field(1, encode(value)))
