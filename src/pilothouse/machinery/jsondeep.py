"""Documents that go deeper than the fast parser: cut into parts that do not, which it reads one by one.

A few calls find out how many brackets are open at each byte. Containers that begin at every 512th level, and go deeper
than to the next, are read on their own, the innermost first. In the text around them a mark stands in their place.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import accumulate, chain
from typing import Any, Final, NamedTuple

import orjson

from pilothouse.machinery.jsonpieces import AFTER, PIECE, STEPS, unquoted, without_texts

DEEPEST: Final = 10_000  # levels, as in the original
_STEP: Final = 512  # levels; the fast parser reads twice as many
_MARK: Final = b"~"
_LISTS: Final = {list}


class OddError(Exception):
    """This is no JSON, or goes too deep: something else has to tell what is wrong."""


class _Part(NamedTuple):
    start: int
    end: int  # behind it
    value: Any


def loads(data: bytes) -> Any:
    """The value of a document. The last of repeated members counts. Raises OddError, orjson.JSONDecodeError."""
    levels = _levels(data)
    mark = _MARK
    while mark in data:
        mark += _MARK
    parts: list[_Part] = []
    for level in range(max(levels) // _STEP * _STEP, 0, -_STEP):
        parts = _read_all(data, _deep_containers(levels, level), parts, mark)
    return _read_all(data, [(0, len(data))], parts, mark)[0].value


def _levels(data: bytes) -> array[int]:
    """How many brackets are open behind each byte. Raises OddError."""
    steps = without_texts(unquoted(data)).translate(STEPS)
    levels = array("i")
    last = 0
    for start in range(0, len(steps), PIECE):
        window = array("i", accumulate(array("b", steps[start : start + PIECE]), initial=last))
        last = window[-1]
        if max(window) > DEEPEST or min(window) < 0:
            raise OddError
        levels += window[1:]
    if last:
        raise OddError
    return levels


def _deep_containers(levels: array[int], level: int) -> list[tuple[int, int]]:
    """The containers that stand in `level` others and go deeper than to the next step: where they begin and end."""
    found: list[tuple[int, int]] = []
    backwards = levels[::-1]
    last = len(levels) - 1
    at = 0
    while True:
        try:
            deep = levels.index(level + _STEP + 1, at)
        except ValueError:
            return found
        start = last - backwards.index(level, last - deep) + 1
        at = levels.index(level, deep) + 1
        found.append((start, at))


def _read_all(data: bytes, places: list[tuple[int, int]], parts: list[_Part], mark: bytes) -> list[_Part]:
    """Reads what stands at some places, in which some parts have been read already. Both are in order."""
    inner: dict[str, Any] = {}
    texts = []
    at = 0
    for start, end in places:
        text: list[bytes] = []
        while at < len(parts) and parts[at].start < end:
            part = parts[at]
            name = b"%b%d" % (mark, at)
            inner[name.decode()] = part.value
            text += (data[start : part.start], b'"', name, b'"')
            start = part.end
            if AFTER.match(data, start) is None:  # it may not be the name of a member
                raise OddError
            at += 1
        texts.append(b"".join((*text, data[start:end])))
    values = orjson.loads(b"[%b]" % b",".join(texts))
    if len(values) != len(places):
        raise OddError
    if inner:
        _put(values, inner)
    return [_Part(*place, value) for place, value in zip(places, values, strict=True)]


def _put(value: Any, inner: dict[str, Any]) -> None:
    """Puts the parts that were read into their places."""
    above: list[Any] = []
    for kinds, level in levels(value):
        if str in kinds:
            for container in above:
                if container.__class__ is dict or container.__class__ is list:
                    _put_into(container, inner)
        above = level
    if inner:
        raise OddError


def _put_into(container: Any, inner: dict[str, Any]) -> None:
    for place, item in container.items() if container.__class__ is dict else enumerate(container):
        if item.__class__ is str and item in inner:
            container[place] = inner.pop(item)


def levels(value: Any) -> Iterator[tuple[set[type], list[Any]]]:
    """What is in a value, level by level: itself, what is in that, and so on; and of which classes it is.

    Deep values are narrow, or have levels that are alike: so this is faster than a look into each container.
    """
    level = [value]
    while level:
        kinds = set(map(type, level))
        yield kinds, level
        if kinds != _LISTS:
            level = [
                item.values() if item.__class__ is dict else item
                for item in level
                if item.__class__ is dict or item.__class__ is list
            ]
        level = list(chain.from_iterable(level))


def as_many_members(data: bytes, value: Any) -> bool:
    """Whether the objects in a value have all members that its document tells, so that none repeats one."""
    members = sum(
        len(item) for kinds, level in levels(value) if dict in kinds for item in level if item.__class__ is dict
    )
    return members == b"".join(unquoted(data).split(b'"')[::2]).count(b":")
