"""Protobuf as the original speaks it: messages from and to the JSON form of objects, envelopes, watch frames, lists.

`encode_message` and `decode_message` compile themselves for each type from its Schema; the rest is what stands around
messages.
"""

from pilothouse.machinery.protobuf.decoder import decode_message
from pilothouse.machinery.protobuf.encoder import encode_message
from pilothouse.machinery.protobuf.envelope import (
    CONTENT_TYPE,
    PREFIX,
    encode_list,
    list_item,
    list_pieces,
    read_watch_event,
    unwrap,
    watch_event,
    watch_frame,
    wrap,
    wrap_pieces,
)
from pilothouse.machinery.protobuf.plan import has_protobuf
from pilothouse.machinery.protobuf.prepare import prepare
from pilothouse.machinery.protobuf.wire import ProtobufError, TooLong

__all__ = [
    "CONTENT_TYPE",
    "PREFIX",
    "ProtobufError",
    "TooLong",
    "decode_message",
    "encode_list",
    "encode_message",
    "has_protobuf",
    "list_item",
    "list_pieces",
    "prepare",
    "read_watch_event",
    "unwrap",
    "watch_event",
    "watch_frame",
    "wrap",
    "wrap_pieces",
]
