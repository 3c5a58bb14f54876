"""CBOR as the original speaks it when its gate is on: objects, patches, and sequences of watch events.

`loads` gives the JSON form of what it reads, `dumps` takes it. Both want the type of a built-in object to know which
texts are bytes.
"""

from pilothouse.machinery.cbor.model import CONTENT_TYPE, SELF_DESCRIBED, SEQUENCE_TYPE, CBORError, CBORTooLong
from pilothouse.machinery.cbor.reader import loads, loads_applied, loads_body, loads_sequence
from pilothouse.machinery.cbor.strict import unknown_field
from pilothouse.machinery.cbor.typemeta import type_mismatch
from pilothouse.machinery.cbor.writer import Members, dumps, joined, list_head, members, watch_event

__all__ = [
    "CONTENT_TYPE",
    "SELF_DESCRIBED",
    "SEQUENCE_TYPE",
    "CBORError",
    "CBORTooLong",
    "Members",
    "dumps",
    "joined",
    "list_head",
    "loads",
    "loads_applied",
    "loads_body",
    "loads_sequence",
    "members",
    "type_mismatch",
    "unknown_field",
    "watch_event",
]
