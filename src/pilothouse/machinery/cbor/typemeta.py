"""Kind and version of an object, which the original reads by themselves before the rest: what fails there has other
words than what fails in the rest.
"""

from __future__ import annotations

from typing import Any, Final

from pilothouse.machinery.cbor.model import MAP, TAG, CBORError
from pilothouse.machinery.cbor.reader import key_at
from pilothouse.machinery.cbor.wellformed import end_of, head

_NAMES: Final = ("apiVersion", "kind")


def readable_type(data: bytes) -> bool:
    """Whether kind and version can be had of a body that cannot be read as a whole."""
    try:
        if end_of(data, 0) != len(data):
            return False
        major, count, at = head(data, 0)
        while major == TAG:
            major, count, at = head(data, at)
        return major == MAP and _has_single_names(data, at, count)
    except (CBORError, IndexError):
        return False


def _has_single_names(data: bytes, at: int, count: int) -> bool:
    """Whether each of an object's names is there once. `count` is -1 where its end is marked."""
    seen: set[str] = set()
    while (count < 0 and data[at] != 0xFF) or count > len(seen):
        name, at = key_at(data, at)
        if name in seen:
            return False
        seen.add(name)
        at = end_of(data, at)
    return True


def type_mismatch(value: Any) -> str:
    """What keeps a value that was read from having a kind and a version; "" if nothing does."""
    if value is None:
        return ""
    if not isinstance(value, dict):
        return f"cbor: cannot unmarshal {_kind(value)} into Go value of type v1.TypeMeta"
    for name in _NAMES:
        said = value.get(name)
        if said is not None and not isinstance(said, str):
            return f"cbor: cannot unmarshal {_kind(said)} into Go struct field v1.TypeMeta.{name} of type string"
    return ""


def _kind(value: Any) -> str:
    """The word for a value in errors."""
    if isinstance(value, dict):
        return "map"
    if isinstance(value, list):
        return "array"
    if isinstance(value, str):
        return "byte string"
    if isinstance(value, int) and not isinstance(value, bool):
        return "positive integer" if value >= 0 else "negative integer"
    return "primitives"
