"""Whether values are the same, and lists made of two: sets without order, keyed lists by their keys.

How much there is to look at depends on what values hold, which the count of units does not know; a meter does.
"""

from __future__ import annotations

from typing import Any

from pilothouse.cel.operators import MISSING, held, no_overload
from pilothouse.cel.values import MapList, Meter, Optional, SetList


def equal(one: Any, other: Any, meter: Meter) -> bool:
    """Whether two values are the same; numbers of all kinds compare by value, true is no 1."""
    kind = one.__class__
    if kind is str or kind is int:
        return bool(one == other) and other.__class__ is not bool
    if kind is bool or other.__class__ is bool:
        return one is other
    if isinstance(one, list):
        return isinstance(other, list) and _same_lists(one, other, meter)
    if isinstance(one, dict):
        if not isinstance(other, dict) or len(one) != len(other):
            return False
        meter.spend(len(one))
        return all(equal(value, held(other, key), meter) for key, value in one.items())
    if kind is Optional:
        if other.__class__ is not Optional or one.there != other.there:
            return False
        return not one.there or equal(one.held, other.held, meter)
    return bool(one == other)


def _same_lists(one: list[Any], other: list[Any], meter: Meter) -> bool:
    if len(one) != len(other):
        return False
    meter.spend(len(one))
    if one.__class__ is SetList:
        return all(contains(other, item, meter) for item in one)
    if one.__class__ is MapList:
        return all(contains(one, item, meter) for item in other)
    return all(equal(left, right, meter) for left, right in zip(one, other, strict=True))


def unequal(one: Any, other: Any, meter: Meter) -> bool:
    return not equal(one, other, meter)


def contains(items: Any, wanted: Any, meter: Meter) -> bool:
    """`wanted in items`: an item of a list, a key of a map."""
    if isinstance(items, list):
        meter.spend(len(items))
        return any(equal(item, wanted, meter) for item in items)
    if isinstance(items, dict):
        return held(items, wanted) is not MISSING
    return no_overload()


def within(wanted: Any, items: Any, meter: Meter) -> bool:
    return contains(items, wanted, meter)


def join_lists(one: list[Any], other: list[Any], meter: Meter) -> list[Any]:
    """Sets unite, keyed lists take over items of the same key, other lists append."""
    meter.spend(len(one) + len(other))
    if one.__class__ is SetList:
        united = SetList(one)
        for item in other:
            if not contains(united, item, meter):
                united.append(item)
        return united
    if isinstance(one, MapList):
        return _merge(one, other)
    return [*one, *other]


def _merge(one: MapList, other: list[Any]) -> MapList:
    merged = MapList(one)
    merged.keys = one.keys
    places = {_key_of(item, one.keys): index for index, item in enumerate(one)}
    for item in other:
        key = _key_of(item, one.keys)
        if key in places:
            merged[places[key]] = item
        else:
            places[key] = len(merged)
            merged.append(item)
    return merged


def _key_of(item: Any, keys: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(item.get(key) for key in keys)
