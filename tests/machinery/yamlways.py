"""The ways of reading YAML, which have to tell the same of every document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pilothouse.machinery.yamlcodec import YAMLError, read
from pilothouse.machinery.yamlcodec.events import built


def outcome(reads: Callable[[bytes], Any], data: bytes) -> Any:
    """What one of them makes of a document: the value and what is to be told of it, or what is wrong."""
    try:
        return repr(reads(data))
    except YAMLError as wrong:
        return str(wrong)


def same(data: bytes) -> Any:
    """The same of all of them."""
    told = by_events(data)
    assert outcome(read.loads_noting, data) == told, data
    return told


def by_events(data: bytes) -> Any:
    """What the parser's events say, which the fast reader has to say too. JSON may be read otherwise."""
    told = outcome(built, data)
    assert outcome(read.fast, data) == told, data
    return told
