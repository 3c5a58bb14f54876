"""From protobuf to an object in its JSON form."""

from __future__ import annotations

from typing import Any

from pilothouse.machinery.protobuf.message import message
from pilothouse.machinery.protobuf.reader import Reader
from pilothouse.machinery.schema import Schema
from pilothouse.machinery.unordered import Unordered, put_in_order


def decode_message(
    schema: Schema, data: bytes | memoryview, api_version: str = "", kind: str = "", unordered: Unordered | None = None
) -> dict[str, Any]:
    """The object in a message of a STRUCT type, without an envelope; `kind` and `api_version` come first where given.

    `unordered`: long maps that are not by key are left so, and added to it, for `put_all_in_order`. Raises
    ProtobufError with the original's words.
    """
    obj: dict[str, Any] = {}
    if kind:
        obj["kind"] = kind
    if api_version:
        obj["apiVersion"] = api_version
    found: Unordered = []
    reader, walked = Reader(bytes(data), found), message(schema)
    reader.finished(walked, reader.message(walked, 0, len(data)), obj)
    if unordered is None:
        put_in_order(found)
    else:
        unordered += found
    return obj
