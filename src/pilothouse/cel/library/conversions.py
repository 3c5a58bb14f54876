"""From one type to another, with the original's words where that does not work."""

from __future__ import annotations

import math
import re
from typing import Any, Final, NoReturn

from pilothouse.cel.values import (
    NO_OVERLOAD,
    SECOND,
    Duration,
    Fault,
    Optional,
    Struct,
    Timestamp,
    TypeValue,
    UInt,
    duration_of,
    float_text,
    timestamp_of,
)

_INT: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
# Digits are not given back, else very many with something odd behind them would be tried in all ways.
_FLOAT: Final = re.compile(r"[+-]?((?:[0-9]++\.?[0-9]*+|\.[0-9]++)([eE][+-]?[0-9]++)?|[iI]nf|NaN)", re.ASCII)
_TRUE: Final = frozenset({"1", "t", "true", "TRUE", "True"})
_FALSE: Final = frozenset({"0", "f", "false", "FALSE", "False"})
_TYPES: Final[dict[type, str]] = {
    bool: "bool", int: "int", UInt: "uint", float: "double", str: "string", bytes: "bytes", type(None): "null_type",
    Timestamp: "google.protobuf.Timestamp", Duration: "google.protobuf.Duration", TypeValue: "type",
    Optional: "optional_type",
}  # fmt: skip


def type_name(value: Any) -> str:
    """The name of the type of a value at run time."""
    found = _TYPES.get(value.__class__)
    if found is not None:
        return found
    if isinstance(value, list):
        return "list"
    if isinstance(value, Struct):
        return value.type_name
    if isinstance(value, dict):
        return "map"
    return str(getattr(value, "type_name", value.__class__.__name__))


def type_value(value: Any) -> TypeValue:
    return TypeValue(type_name(value))


def _no_way(value: Any, wanted: str) -> NoReturn:
    raise Fault(f"type conversion error from '{type_name(value)}' to '{wanted}'")


def bool_of(value: Any) -> bool:
    if value.__class__ is bool:
        return bool(value)
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    return _no_way(value, "bool")


def bytes_of(value: Any) -> bytes:
    return value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")


def _within(value: int, *, signed: bool) -> int:
    if signed and not -(2**63) <= value < 2**63:
        raise Fault("integer overflow")
    if not signed and not 0 <= value < 2**64:
        raise Fault("unsigned integer overflow")
    return value


def _whole(value: float) -> int:
    if math.isnan(value) or math.isinf(value):
        raise Fault("integer overflow")
    return int(value)


def int_of(value: Any) -> int:
    if value.__class__ is str:
        if not _INT.fullmatch(value) or not -(2**63) <= (found := int(value[:40])) < 2**63 or len(value) > 40:
            _no_way(value, "int")
        return found
    if isinstance(value, float):
        if not -(2.0**63) < value < 2.0**63:
            raise Fault("integer overflow")
        return _whole(value)
    if isinstance(value, Timestamp):
        return value.nanos // SECOND
    if isinstance(value, Duration):
        return value.nanos
    if value.__class__ is bool or not isinstance(value, int):
        raise Fault(NO_OVERLOAD)
    return _within(int(value), signed=True)


def uint_of(value: Any) -> UInt:
    if value.__class__ is str:
        if not _INT.fullmatch(value) or value[0] in "+-" or len(value) > 40 or int(value) >= 2**64:
            _no_way(value, "uint")
        return UInt(int(value))
    if isinstance(value, float):
        if math.isnan(value) or not 0 <= value < 2.0**64:
            raise Fault("unsigned integer overflow")
        return UInt(int(value))
    if value.__class__ is bool or not isinstance(value, int):
        raise Fault(NO_OVERLOAD)
    return UInt(_within(int(value), signed=False))


def double_of(value: Any) -> float:
    if value.__class__ is str:
        if not _FLOAT.fullmatch(value):
            _no_way(value, "double")
        return float(value)
    if value.__class__ is bool or not isinstance(value, int | float):
        raise Fault(NO_OVERLOAD)
    return float(value)


def string_of(value: Any) -> str:
    kind = value.__class__
    if kind is str:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is float:
        return float_text(value)
    if kind is bytes:
        try:
            return str(value, "utf-8")
        except UnicodeDecodeError:
            raise Fault("invalid UTF-8 in bytes, cannot convert to string") from None
    if isinstance(value, int | Timestamp | Duration):
        return str(value)
    raise Fault(NO_OVERLOAD)


def timestamp_value(value: Any) -> Timestamp:
    if isinstance(value, Timestamp):
        return value
    if value.__class__ is str:
        return timestamp_of(value)
    if value.__class__ is bool or not isinstance(value, int):
        raise Fault(NO_OVERLOAD)
    return Timestamp(value * SECOND)


def duration_value(value: Any) -> Duration:
    if isinstance(value, Duration):
        return value
    if value.__class__ is str:
        return duration_of(value)
    if value.__class__ is bool or not isinstance(value, int):
        raise Fault(NO_OVERLOAD)
    return Duration(value)
