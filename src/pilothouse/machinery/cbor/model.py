"""What reader and writer share: names of the major types, tags, limits, the error."""

from __future__ import annotations

from typing import Final

CONTENT_TYPE: Final = "application/cbor"
SEQUENCE_TYPE: Final = "application/cbor-seq"
SELF_DESCRIBED: Final = b"\xd9\xd9\xf7"  # tag 55799

UNSIGNED: Final = 0
NEGATIVE: Final = 1
BYTES: Final = 2
TEXT: Final = 3
ARRAY: Final = 4
MAP: Final = 5
TAG: Final = 6
SIMPLE: Final = 7
TYPES: Final = (
    "positive integer", "negative integer", "byte string", "UTF-8 text string", "array", "map", "tag", "primitives",
)  # fmt: skip

INDEFINITE: Final = 31
BREAK: Final = 0xFF
MAX_DEPTH: Final = 64  # of arrays, maps and tags inside each other
TOO_DEEP: Final = f"cbor: exceeded max nested level {MAX_DEPTH}"

TIME_TEXT: Final = 0
TIME_NUMBER: Final = 1
AS_BASE64URL: Final = 21
AS_BASE64: Final = 22
AS_BASE16: Final = 23

REFUSED: Final = "cbor: data item of cbor type {} is not accepted by protocol: {}"
BIGNUM: Final = REFUSED.format("tag", "bignum")  # tags 2 and 3


class CBORError(ValueError):
    """Bytes that are no acceptable CBOR, or a value that has no CBOR form. The text is the original's where known.

    `readable`: whether kind and version of the object can be had all the same.
    """

    readable = False


class CBORTooLong(Exception):
    """More than the reader wants."""
