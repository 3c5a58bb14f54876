"""Lists and sets: sums, ends, places, parts; what holds what."""

from __future__ import annotations

from functools import cmp_to_key
from itertools import pairwise
from typing import Any, Final

from pilothouse.cel import work
from pilothouse.cel.declarations import Overload, overload
from pilothouse.cel.equality import contains, equal
from pilothouse.cel.operators import compare, int_add, uint_add
from pilothouse.cel.values import NONE, Duration, Fault, Meter, Optional, UInt

_LONGEST_RANGE: Final = 1_000_000
_ORDERED: Final = ("int", "uint", "double", "bool", "string", "bytes", "duration", "timestamp")


def is_sorted(items: list[Any]) -> bool:
    return all(compare(one, other) <= 0 for one, other in pairwise(items))


def least(items: list[Any]) -> Any:
    if not items:
        raise Fault("min called on empty list")
    found = items[0]
    for item in items[1:]:
        if compare(item, found) < 0:
            found = item
    return found


def most(items: list[Any]) -> Any:
    if not items:
        raise Fault("max called on empty list")
    found = items[0]
    for item in items[1:]:
        if compare(item, found) > 0:
            found = item
    return found


def _sum_ints(items: list[int]) -> int:
    found = 0
    for item in items:
        found = int_add(found, item)
    return found


def _sum_uints(items: list[UInt]) -> UInt:
    found = UInt(0)
    for item in items:
        found = uint_add(found, item)
    return found


def _sum_doubles(items: list[float]) -> float:
    found = 0.0
    for item in items:
        found += item
    return found


def _sum_durations(items: list[Duration]) -> Duration:
    return Duration(sum(item.nanos for item in items))


def index_of(items: list[Any], wanted: Any, meter: Meter) -> int:
    meter.spend(len(items))
    return next((place for place, item in enumerate(items) if equal(item, wanted, meter)), -1)


def last_index_of(items: list[Any], wanted: Any, meter: Meter) -> int:
    meter.spend(len(items))
    return next((place for place in range(len(items) - 1, -1, -1) if equal(items[place], wanted, meter)), -1)


def slice_of(items: list[Any], start: int, end: int) -> list[Any]:
    size = len(items)
    if start < 0 or end < 0:
        raise Fault(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise Fault(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if size < end:
        raise Fault(f"cannot slice({start}, {end}), list is length {size}")
    return items[start:end]


def flatten(items: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise Fault("level must be non-negative")
    found: list[Any] = []
    for item in items:
        if isinstance(item, list) and depth > 0:
            found += flatten(item, depth - 1)
        else:
            found.append(item)
    return found


def distinct(items: list[Any], meter: Meter) -> list[Any]:
    found: list[Any] = []
    seen: set[Any] = set()
    for item in items:
        if isinstance(item, str | bytes):
            if item in seen:
                continue
            seen.add(item)
        elif contains(found, item, meter):
            continue
        found.append(item)
    return found


def sort(items: list[Any]) -> list[Any]:
    return sort_by(items, items)


def _by_first(one: tuple[Any, Any], other: tuple[Any, Any]) -> int:
    return compare(one[0], other[0])


def sort_by(items: list[Any], keys: list[Any]) -> list[Any]:
    """Items in the order of their keys. Raises Fault where these have none."""
    first = keys[0].__class__ if keys else None
    if any(key.__class__ is not first for key in keys):
        raise Fault("list elements must have the same type")
    order: list[tuple[Any, Any]] = list(zip(keys, items, strict=True))
    order.sort(key=cmp_to_key(_by_first))
    return [item for _, item in order]


def numbers(end: int) -> list[int]:
    if end > _LONGEST_RANGE:
        raise Fault(f"range size exceeds limit: {end}")
    return list(range(end))


def first(items: list[Any]) -> Optional:
    return Optional(items[0]) if items else NONE


def last(items: list[Any]) -> Optional:
    return Optional(items[-1]) if items else NONE


def holds_all(items: list[Any], wanted: list[Any], meter: Meter) -> bool:
    return all(contains(items, item, meter) for item in wanted)


def _equivalent(one: list[Any], other: list[Any], meter: Meter) -> bool:
    return holds_all(one, other, meter) and holds_all(other, one, meter)


def _intersects(one: list[Any], other: list[Any], meter: Meter) -> bool:
    return any(contains(one, item, meter) for item in other)


_EACH: Final = work.elements()


def _ordered() -> list[Overload]:
    found = []
    for kind in _ORDERED:
        found.append(overload("isSorted", f"list({kind}).() -> bool", is_sorted, work=_EACH))
        found.append(overload("min", f"list({kind}).() -> {kind}", least, work=_EACH))
        found.append(overload("max", f"list({kind}).() -> {kind}", most, work=_EACH))
        found.append(overload("sort", f"list({kind}).() -> list({kind})", sort, work=_EACH, size=work.same()))
    return found


LISTS: Final = (
    *_ordered(),
    overload("sum", "list(int).() -> int", _sum_ints, work=_EACH),
    overload("sum", "list(uint).() -> uint", _sum_uints, work=_EACH),
    overload("sum", "list(double).() -> double", _sum_doubles, work=_EACH),
    overload("sum", "list(duration).() -> duration", _sum_durations, work=_EACH),
    overload("indexOf", "list(A).(A) -> int", index_of, work=_EACH, metered=True),
    overload("lastIndexOf", "list(A).(A) -> int", last_index_of, work=_EACH, metered=True),
    overload("slice", "list(A).(int, int) -> list(A)", slice_of, work=_EACH, size=work.up_to()),
    overload("flatten", "list(list(A)).() -> list(A)", flatten, work=_EACH),
    overload("flatten", "list(dyn).(int) -> list(dyn)", flatten, work=_EACH),
    overload("distinct", "list(A).() -> list(A)", distinct, work=work.crossed_self, size=work.up_to(), metered=True),
    overload("reverse", "list(A).() -> list(A)", lambda items: items[::-1], work=_EACH, size=work.same()),
    overload("first", "list(A).() -> optional(A)", first),
    overload("last", "list(A).() -> optional(A)", last),
    overload("lists.range", "(int) -> list(int)", numbers, work=work.counted, size=work.same()),
)

SETS: Final = (
    overload("sets.contains", "(list(A), list(A)) -> bool", holds_all, work=work.crossed, metered=True),
    overload("sets.equivalent", "(list(A), list(A)) -> bool", _equivalent, work=work.crossed_twice, metered=True),
    overload("sets.intersects", "(list(A), list(A)) -> bool", _intersects, work=work.crossed, metered=True),
)
