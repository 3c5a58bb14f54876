"""Lists by key and sets: whether each of their items may be there, and is there once. Many are asked at once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain, repeat
from typing import Any, Final

from pilothouse.kit.record import record
from pilothouse.machinery.typed.shape import KEYED, Shape

_NO_KEYS: Final = "k:{}"
_FEW: Final = 16  # what is bad mostly is so from the beginning
_MORE: Final = 4096
_PART: Final = 512


@record
class Fault:
    """What is wrong in a list: `repeated`, which items are there a second time, as far as the original looks: up to
    `end`, where an item stands that may not be there, and `why`, or the list ends.
    """

    end: int
    why: str
    repeated: list[int]


def apart(shape: Shape, lists: Sequence[list[Any]]) -> bool:
    """Whether all items of some lists (SET or KEYED) surely may be there, each once."""
    if len(lists) == 1:
        (items,) = lists
        if len(items) == 1 and not shape.needs_key:
            return not _wrong_kinds(shape, frozenset((type(items[0]),)))
        if len(items) > _FEW and not apart(shape, [items[:_FEW]]):
            return False
    else:
        items = list(chain.from_iterable(lists))
    end, keys = _read(shape, items)
    if end < len(items):
        return False
    if len(lists) > 1:
        owners = chain.from_iterable(map(repeat, range(len(lists)), map(len, lists)))
        keys = list(zip(owners, keys, strict=True))
    return len(set(keys)) == len(items)


def fault(shape: Shape, items: list[Any], most: int) -> Fault | None:
    """What is wrong in a list, with the first `most` repeated items."""
    if len(items) > _MORE:
        found = _fault(shape, items[:_MORE], most)
        if found is not None and (found.why or len(found.repeated) == most):
            return found
    return _fault(shape, items, most)


def _fault(shape: Shape, items: list[Any], most: int) -> Fault | None:
    end, keys = _read(shape, items)
    repeated = _repeated(keys, most)
    if len(repeated) == most:
        return Fault(repeated[-1] + 1, "", repeated)
    if not repeated and end == len(items):
        return None
    return Fault(end, _wrong(shape, items[end]) if end < len(items) else "", repeated)


_NO_SCALARS: Final = frozenset({dict, list, type(None)})
_MAPS: Final = frozenset({dict})


def _wrong_kinds(shape: Shape, kinds: frozenset[type]) -> frozenset[type]:
    """Those of some types that no item may have."""
    return kinds - _MAPS if shape.kind == KEYED else kinds & _NO_SCALARS


def _read(shape: Shape, items: list[Any]) -> tuple[int, Sequence[Hashable]]:
    """Where the first item stands that may not be there, and what tells the items before it from each other."""
    kinds = frozenset(map(type, items))
    wrong = _wrong_kinds(shape, kinds)
    end = next(at for at, item in enumerate(items) if type(item) in wrong) if wrong else len(items)
    keys, elements = shape.identities(items[:end] if wrong else items, kinds)
    if elements and shape.needs_key and _NO_KEYS in keys:
        end = keys.index(_NO_KEYS)
        keys = keys[:end]
    return end, keys


def _repeated(keys: Sequence[Hashable], most: int) -> list[int]:
    """Which keys were there before, as far as there are no more than `most` of them."""
    ahead = set(keys)  # those that were not met yet
    left = min(len(keys) - len(ahead), most)
    found: list[int] = []
    start = 0
    while len(found) < left:
        part = keys[start : start + _PART]
        fresh = ahead.intersection(part)
        ahead -= fresh
        if len(fresh) < len(part):
            for at, key in enumerate(part, start):
                if key in fresh:
                    fresh.discard(key)
                else:
                    found.append(at)
        start += _PART
    return found[:left]


def _wrong(shape: Shape, item: Any) -> str:
    """Why an item may not be there."""
    if shape.kind == KEYED:
        if item is None:
            return "associative list with keys may not have a null element"
        if not isinstance(item, dict):
            return "associative list with keys may not have non-map elements"
        keys = " ".join(f'"{name}"' for name in shape.schema.list_keys)
        why = f"associative list with keys has an element that omits all key fields [{keys}]"
        return f"{why} (and doesn't have default values for any key fields)"
    if item is None:
        return "associative list without keys has an element that's an explicit null"
    if isinstance(item, dict):
        return "associative list without keys has an element that's a map type"
    return "not supported: associative list with lists as elements"
