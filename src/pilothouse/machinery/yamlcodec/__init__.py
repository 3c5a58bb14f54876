"""YAML in and out as the original does it: YAML 1.1 as Go reads it, made of and into JSON values.

`loads` reads the first document; `dumps` writes what `loads` and any other YAML 1.1 reader take for the same value.
The parser is loaded when the first document comes: a server that speaks JSON starts without it.
"""

from __future__ import annotations

from typing import Any

from pilothouse.machinery.yamlcodec.errors import YAMLError

__all__ = ["YAMLError", "dumps", "duplicates_text", "loads", "loads_noting"]


def loads(data: bytes) -> Any:
    """The value of the first document, None for an empty one. Raises YAMLError."""
    from pilothouse.machinery.yamlcodec import read

    return read.loads(data)


def loads_noting(data: bytes) -> tuple[Any, list[str]]:
    """The same, and what strict decoding finds: `line 7: key "k" already set in map`. Raises YAMLError."""
    from pilothouse.machinery.yamlcodec import read

    return read.loads_noting(data)


def duplicates_text(notes: list[str]) -> str:
    """How an error shows the repeated keys in `notes`."""
    from pilothouse.machinery.yamlcodec import read

    return read.duplicates_text(notes)


def dumps(value: Any) -> bytes:
    """YAML text of a JSON value, with a newline at the end. Raises YAMLError."""
    from pilothouse.machinery.yamlcodec import write

    return write.dumps(value)
