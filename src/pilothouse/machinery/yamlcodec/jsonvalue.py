"""What was read as JSON, as YAML gives it: members by name, numbers as they are written."""

from __future__ import annotations

from typing import Any, Final

import orjson

from pilothouse.machinery import jsonexact, jsonpieces
from pilothouse.machinery.digits import has_digits, may_have_floats
from pilothouse.machinery.jsoncodec import plain_floats

_BEYOND: Final = 18  # digits of a number that may be none of int64


def ordered(value: Any, written: bytes | None = None) -> Any:
    """A value with its members by name. `written`: what orjson makes of it, if that is known."""
    try:
        text: bytes | None = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        text = jsonexact.compact(value, by_name=True)
    if text is None:
        return _ordered_slowly(value)
    if text != written:
        value = jsonpieces.loads(text)
    return plain_floats(value) if may_have_floats(text) or has_digits(text, _BEYOND) else value


def _ordered_slowly(value: Any) -> Any:
    if value.__class__ is dict:
        return {key: _ordered_slowly(value[key]) for key in sorted(value)}
    if value.__class__ is list:
        return [_ordered_slowly(item) for item in value]
    return plain_floats(value)
