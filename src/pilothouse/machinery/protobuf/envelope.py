"""What stands around messages: the `k8s` envelope of an object, the frames of a watch, lists of encoded items."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, cast

from pilothouse.machinery import schema as s
from pilothouse.machinery.protobuf import plan
from pilothouse.machinery.protobuf.absent import NOTHING
from pilothouse.machinery.protobuf.decoder import decode_message
from pilothouse.machinery.protobuf.encoder import encode_message
from pilothouse.machinery.protobuf.message import message
from pilothouse.machinery.protobuf.reader import Reader
from pilothouse.machinery.protobuf.wire import LENGTH, VARINTS, ProtobufError
from pilothouse.machinery.schema import Field, Schema

PREFIX: Final = b"k8s\x00"
CONTENT_TYPE: Final = "application/vnd.kubernetes.protobuf"
_TAIL: Final = b"\x1a\x00\x22\x00"  # contentEncoding and contentType, empty

_TYPE_META: Final = Schema(
    s.STRUCT,
    name="TypeMeta",
    fields=lambda: (Field("apiVersion", _string, number=1), Field("kind", _string, number=2)),
)
_UNKNOWN: Final = Schema(
    s.STRUCT,
    name="Unknown",
    fields=lambda: (
        Field("typeMeta", lambda: _TYPE_META, number=1),
        Field("raw", lambda: Schema(s.BYTES), number=2),
        Field("contentEncoding", _string, number=3),
        Field("contentType", _string, number=4),
    ),
)
_RAW: Final = Schema(s.STRUCT, name="RawExtension", fields=lambda: (Field("raw", lambda: Schema(s.BYTES), number=1),))
_WATCH_EVENT: Final = Schema(
    s.STRUCT,
    name="WatchEvent",
    fields=lambda: (Field("type", _string, number=1, omitempty=False), Field("object", lambda: _RAW, number=2)),
)


def _string() -> Schema:
    return Schema(s.STRING)


def _size(number: int) -> bytes:
    return VARINTS[number].encode("latin-1")


@lru_cache(1024)
def _head(api_version: str, kind: str) -> bytes:
    meta = encode_message(_TYPE_META, {"apiVersion": api_version, "kind": kind})
    return PREFIX + b"\x0a" + _size(len(meta)) + meta + b"\x12"


def wrap(api_version: str, kind: str, raw: bytes) -> bytes:
    """A message in its envelope, as bodies and stored values have it."""
    return b"".join((_head(api_version, kind), _size(len(raw)), raw, _TAIL))


def wrap_pieces(api_version: str, kind: str, raw: Sequence[bytes]) -> list[bytes]:
    """As `wrap`, of a message that is in pieces and too long to be copied."""
    return [_head(api_version, kind) + _size(sum(map(len, raw))), *raw, _TAIL]


def unwrap(data: bytes | memoryview) -> tuple[str, str, bytes]:
    """(apiVersion, kind, message) of an envelope; the first two may be empty. Raises ProtobufError."""
    data = bytes(data)
    if not data:
        raise ProtobufError("empty data")
    if not data.startswith(PREFIX):
        raise ProtobufError("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    if len(data) == len(PREFIX):
        raise ProtobufError("empty body")
    reader, kind = Reader(data, []), message(_UNKNOWN)
    meta, raw = reader.message(kind, len(PREFIX), len(data))[:2]
    told = {} if meta is NOTHING else reader.finished(message(_TYPE_META), cast("list[object]", meta), {})
    return told.get("apiVersion", ""), told.get("kind", ""), b"" if raw is NOTHING else cast(bytes, raw)


# Watches


def watch_event(kind: str, envelope: bytes) -> bytes:
    """A WatchEvent of an object in its envelope: a message of its own over WebSocket. `kind` is ADDED, MODIFIED, ..."""
    inner = b"\x0a" + _size(len(envelope))
    return b"".join((_event_head(kind), _size(len(inner) + len(envelope)), inner, envelope))


@lru_cache(16)
def _event_head(kind: str) -> bytes:
    return b"\x0a" + _size(len(kind)) + kind.encode() + b"\x12"


def watch_frame(kind: str, envelope: bytes) -> bytes:
    """The same with its length in front, as a `;stream=watch` body has it."""
    event = watch_event(kind, envelope)
    return len(event).to_bytes(4, "big") + event


def read_watch_event(event: bytes | memoryview) -> tuple[str, bytes]:
    """(type, envelope) of a WatchEvent without its length. Raises ProtobufError."""
    found = decode_message(_WATCH_EVENT, event)
    return found["type"], base64.b64decode(found["object"].get("raw", ""))


# Lists


def list_item(list_schema: Schema, item: bytes) -> bytes:
    """The head that stands before an item's message in a list of this type."""
    return _list_heads(list_schema)[1] + _size(len(item))


def list_pieces(list_schema: Schema, metadata: dict[str, Any], items: Iterable[bytes]) -> list[bytes]:
    """The message of a list in pieces: its metadata, then a head and the message of each item, not encoded again."""
    before, head = _list_heads(list_schema)
    slots = {slot.name: slot for slot in plan.slots(list_schema)}
    meta = encode_message(slots["metadata"].schema, metadata)
    written = before + _size(len(meta)) + meta
    pieces: list[bytes] = []
    sizes = VARINTS
    for item in items:
        pieces.append(head + sizes[len(item)].encode("latin-1"))
        pieces.append(item)
    if slots["metadata"].number < slots["items"].number:
        return [written, *pieces]
    return [*pieces, written]


def encode_list(list_schema: Schema, metadata: dict[str, Any], items: Iterable[bytes]) -> bytes:
    """The message of a list from its metadata and the messages of its items."""
    return b"".join(list_pieces(list_schema, metadata, items))


def _list_heads(list_schema: Schema) -> tuple[bytes, bytes]:
    """The tags of `metadata` and `items`."""
    made: tuple[bytes, bytes] | None = list_schema.compiled.get("protobuf.list")
    if made is None:
        numbers = {slot.name: slot.number for slot in plan.slots(list_schema)}
        made = _size(numbers["metadata"] << 3 | LENGTH), _size(numbers["items"] << 3 | LENGTH)
        list_schema.compiled["protobuf.list"] = made
    return made
