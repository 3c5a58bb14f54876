"""Typed decoding: a parsed JSON value becomes the object that a Go round trip of the same type would give back.

`compile_decoder(schema)` makes straight-line code for a struct once; `decode_json` takes the raw bytes and also
finds duplicates.
"""

from __future__ import annotations

from pilothouse.machinery.decode.document import (
    compile_decoder,
    decode_json,
    decode_once,
    decode_parsed,
    read_dense,
    read_json,
)
from pilothouse.machinery.decode.findings import DecodeError, Findings

__all__ = [
    "DecodeError",
    "Findings",
    "compile_decoder",
    "decode_json",
    "decode_once",
    "decode_parsed",
    "read_dense",
    "read_json",
]
