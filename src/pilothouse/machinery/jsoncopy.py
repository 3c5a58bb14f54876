"""Copies of JSON values: as if they were written and read again, but faster, as most containers hold only scalars."""

from __future__ import annotations

from itertools import chain, islice
from typing import Any, Final

import orjson

from pilothouse.machinery import jsondeep
from pilothouse.machinery.digits import has_digits, may_have_odd_floats
from pilothouse.machinery.jsoncodec import MOST_LEVELS, TooDeep, dumps

_CONTAINERS: Final = frozenset((dict, list))
_DICT: Final = {dict}
_FEW: Final = 16  # members of a container that is looked into one by one
_READABLE: Final = 1_000  # levels that the fast parser reads
_LONG: Final = 19  # digits of a number that may be read otherwise than it was


def copied(value: Any) -> Any:
    """The value in containers of its own. Raises TooDeep for what could be read no more."""
    try:
        text = orjson.dumps(value)
    except TypeError:  # deep, or with numbers that Go writes otherwise
        if next(islice(jsondeep.levels(value), _READABLE, None), None) is not None:
            raise TooDeep(f"nested more than {MOST_LEVELS} levels deep") from None
        return orjson.loads(dumps(value))
    return orjson.loads(text) if has_digits(text, _LONG) else in_own_containers(value)


def is_plain(value: Any) -> bool:
    """Whether the value surely is what it would be read as if it were written: not deep, and of plain numbers."""
    try:
        text = orjson.dumps(value)
    except TypeError:
        return False
    return not may_have_odd_floats(text) and not has_digits(text, _LONG)


def in_own_containers(value: Any) -> Any:
    """The value in containers of its own. It is no deeper than the fast writer goes."""
    if value.__class__ is dict:
        if len(value) > _FEW:
            made = value.copy()
            if not _CONTAINERS.isdisjoint(map(type, value.values())):
                made.update(
                    [(name, in_own_containers(item)) for name, item in value.items() if item.__class__ in _CONTAINERS]
                )
            return made
        return {
            name: in_own_containers(item) if item.__class__ in _CONTAINERS else item for name, item in value.items()
        }
    if value.__class__ is not list:
        return value
    if len(value) > _FEW:
        kinds = set(map(type, value))
        if kinds.isdisjoint(_CONTAINERS):
            return value.copy()
        if kinds == _DICT and _CONTAINERS.isdisjoint(map(type, chain.from_iterable(map(dict.values, value)))):
            return list(map(dict.copy, value))
    return [in_own_containers(item) if item.__class__ in _CONTAINERS else item for item in value]
