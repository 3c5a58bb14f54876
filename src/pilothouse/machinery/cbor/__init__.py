"""CBOR as the original speaks it when its gate is on: objects, patches, and sequences of watch events.

`loads` gives the JSON form of what it reads, `dumps` takes it. Both want the type of a built-in object to know which
texts are bytes.
"""

from pilothouse.machinery.cbor.model import CONTENT_TYPE, SELF_DESCRIBED, SEQUENCE_TYPE, CBORError
from pilothouse.machinery.cbor.reader import loads, loads_sequence
from pilothouse.machinery.cbor.strict import unknown_field
from pilothouse.machinery.cbor.writer import dumps, watch_event

__all__ = [
    "CONTENT_TYPE",
    "SELF_DESCRIBED",
    "SEQUENCE_TYPE",
    "CBORError",
    "dumps",
    "loads",
    "loads_sequence",
    "unknown_field",
    "watch_event",
]
