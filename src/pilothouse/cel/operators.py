"""What operators do, for values of any class: order, arithmetic with its limits, access (equality: equality.py).

Generated code calls these where types are not known before, or where Python's own operators mean something else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final, NoReturn

from pilothouse.cel.values import (
    NO_OVERLOAD,
    NONE,
    BadData,
    Duration,
    Fault,
    Optional,
    Struct,
    Timestamp,
    UInt,
    float_text,
)

_MOST: Final = 2**63 - 1
_LEAST: Final = -(2**63)
_MOST_UINT: Final = 2**64 - 1
MISSING: Final = object()


def no_overload() -> NoReturn:
    raise Fault(NO_OVERLOAD)


def overflow() -> NoReturn:
    raise Fault("integer overflow")


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and value.__class__ is not bool


# -- order


def compare(one: Any, other: Any) -> int:
    """-1, 0 or 1. NaN is neither; that is `less` and its like are for."""
    if is_number(one) and is_number(other):
        return int(one > other) - int(one < other)
    if one.__class__ is not other.__class__ or one.__class__ not in _ORDERED:
        no_overload()
    return int(one > other) - int(one < other)


_ORDERED: Final = (str, bytes, bool, Timestamp, Duration)


def _ordered(one: Any, other: Any) -> None:
    if not (is_number(one) and is_number(other)) and (
        one.__class__ is not other.__class__ or one.__class__ not in _ORDERED
    ):
        no_overload()


def less(one: Any, other: Any) -> bool:
    _ordered(one, other)
    return bool(one < other)


def less_equal(one: Any, other: Any) -> bool:
    _ordered(one, other)
    return bool(one <= other)


def greater(one: Any, other: Any) -> bool:
    _ordered(one, other)
    return bool(one > other)


def greater_equal(one: Any, other: Any) -> bool:
    _ordered(one, other)
    return bool(one >= other)


# -- arithmetic


def checked(value: int) -> int:
    """An int within 64 bits."""
    if value > _MOST or value < _LEAST:
        overflow()
    return value


def unsigned(value: int) -> UInt:
    if value < 0 or value > _MOST_UINT:
        raise Fault("unsigned integer overflow")
    return UInt(value)


def int_add(one: int, other: int) -> int:
    return checked(one + other)


def int_subtract(one: int, other: int) -> int:
    return checked(one - other)


def int_multiply(one: int, other: int) -> int:
    return checked(one * other)


def int_divide(one: int, other: int) -> int:
    if other == 0:
        raise Fault("division by zero")
    found = abs(one) // abs(other)
    return checked(found if (one < 0) == (other < 0) else -found)


def int_modulo(one: int, other: int) -> int:
    if other == 0:
        raise Fault("modulus by zero")
    return one - int_divide(one, other) * other if one != _LEAST or other != -1 else overflow()


def int_negate(one: int) -> int:
    return checked(-one)


def uint_add(one: UInt, other: UInt) -> UInt:
    return unsigned(int(one) + int(other))


def uint_subtract(one: UInt, other: UInt) -> UInt:
    return unsigned(int(one) - int(other))


def uint_multiply(one: UInt, other: UInt) -> UInt:
    return unsigned(int(one) * int(other))


def uint_divide(one: UInt, other: UInt) -> UInt:
    if other == 0:
        raise Fault("division by zero")
    return UInt(int(one) // int(other))


def uint_modulo(one: UInt, other: UInt) -> UInt:
    if other == 0:
        raise Fault("modulus by zero")
    return UInt(int(one) % int(other))


def float_multiply(one: float, other: float) -> float:
    return one * other


def float_divide(one: float, other: float) -> float:
    if other != 0:
        return one / other
    if one == 0 or math.isnan(one):
        return math.nan
    return math.inf * math.copysign(1, one) * math.copysign(1, other)


def join_texts(one: Any, other: Any) -> Any:
    return one + other


def add_duration(moment: Timestamp, span: Duration) -> Timestamp:
    return Timestamp(moment.nanos + span.nanos)


def add_to_moment(span: Duration, moment: Timestamp) -> Timestamp:
    return Timestamp(moment.nanos + span.nanos)


def add_durations(one: Duration, other: Duration) -> Duration:
    return Duration(one.nanos + other.nanos)


def between(one: Timestamp, other: Timestamp) -> Duration:
    return Duration(one.nanos - other.nanos)


def subtract_duration(moment: Timestamp, span: Duration) -> Timestamp:
    return Timestamp(moment.nanos - span.nanos)


def subtract_durations(one: Duration, other: Duration) -> Duration:
    return Duration(one.nanos - other.nanos)


# -- access


def no_key(key: Any) -> NoReturn:
    raise Fault(f"no such key: {shown(key)}")


def shown(value: Any) -> str:
    if value.__class__ is bool:
        return "true" if value else "false"
    return float_text(value) if isinstance(value, float) else str(value)


def present(value: Any, key: str) -> Any:
    """A member's value, where it is one: missing and bad data fail."""
    if value is None:
        no_key(key)
    if value.__class__ is BadData:
        raise Fault(value.text)
    return value


def sound(value: Any) -> Any:
    if value.__class__ is BadData:
        raise Fault(value.text)
    return value


def item_at(items: list[Any], index: Any) -> Any:
    if index.__class__ is bool or not isinstance(index, int | float) or index != int(index):
        raise Fault(f"unsupported index type in list: {shown(index)}")
    place = int(index)
    if 0 <= place < len(items):
        return items[place]
    raise Fault(f"index out of bounds: {place}")


def held(entries: dict[Any, Any], key: Any) -> Any:
    """What a map has for a key, MISSING for nothing. Numbers of all kinds are one key, but true is no 1."""
    if not isinstance(key, str | int | float):
        return MISSING
    found = entries.get(key, MISSING)
    if found is MISSING or (key != 1 and key != 0):
        return found
    is_bool = key.__class__ is bool
    return found if any(one == key and (one.__class__ is bool) is is_bool for one in entries) else MISSING


def entry_of(entries: dict[Any, Any], key: Any) -> Any:
    found = held(entries, key)
    return no_key(key) if found is MISSING else found


def index(holder: Any, key: Any) -> Any:
    """`holder[key]`, whatever it is."""
    if isinstance(holder, list):
        return item_at(holder, key)
    if isinstance(holder, dict):
        return entry_of(holder, key)
    if holder.__class__ is Optional:
        return optional_index(holder, key)
    return no_overload()


def select(holder: Any, name: str) -> Any:
    """`holder.name`, whatever it is."""
    if isinstance(holder, dict):
        found = holder.get(name, MISSING)
        if found is MISSING:
            no_key(name)
        return sound(found)
    if holder.__class__ is Optional:
        return optional_select(holder, name)
    if holder is None:  # as if it were an object without members
        no_key(name)
    return no_overload()


def has(holder: Any, name: str) -> bool:
    """has(holder.name)."""
    if holder.__class__ is Optional:
        return holder.there and has(holder.held, name)
    if isinstance(holder, dict):
        return name in holder
    return False if holder is None else no_overload()


def optional_select(holder: Any, name: str) -> Optional:
    """`holder.?name`."""
    if holder.__class__ is Optional:
        if not holder.there:
            return NONE
        holder = holder.held
    if holder is None:
        return NONE
    if not isinstance(holder, dict):
        no_overload()
    found = holder.get(name, MISSING)
    return NONE if found is MISSING else Optional(sound(found))


def optional_index(holder: Any, key: Any) -> Optional:
    """`holder[?key]`."""
    if holder.__class__ is Optional:
        if not holder.there:
            return NONE
        holder = holder.held
    if isinstance(holder, list):
        if key.__class__ is not bool and isinstance(key, int) and 0 <= key < len(holder):
            return Optional(holder[key])
        return NONE
    if isinstance(holder, dict):
        found = held(holder, key)
        return NONE if found is MISSING else Optional(found)
    return no_overload()


def length(value: Any) -> int:
    """size(value)."""
    if isinstance(value, str | bytes | list | dict) and not isinstance(value, Struct):
        return len(value)
    return no_overload()


def walk(holder: Any) -> Iterable[Any]:
    """What a loop of one variable goes over."""
    if isinstance(holder, list | dict) and not isinstance(holder, Struct):
        return holder
    return no_overload()


def walk_pairs(holder: Any) -> Iterable[tuple[Any, Any]]:
    """What a loop of two variables goes over."""
    if isinstance(holder, list):
        return enumerate(holder)
    if isinstance(holder, dict) and not isinstance(holder, Struct):
        return holder.items()
    return no_overload()


def truth(value: Any) -> bool:
    """A value that must be a boolean."""
    if value is True or value is False:
        return value
    return no_overload()
