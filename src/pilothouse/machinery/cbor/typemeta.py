"""Kind and version of an object, which the original reads by themselves before the rest: what fails there has other
words than what fails in the rest.
"""

from __future__ import annotations

from typing import Any, Final

_NAMES: Final = ("apiVersion", "kind")


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
