"""Documents that go deeper than the fast parser: cut into parts that do not, which it reads one by one.

A few calls find out how many brackets are open at each byte. Containers that begin at every 512th level, and go deeper
than to the next, are read on their own, the innermost first. In the text around them a mark stands in their place.
"""

from __future__ import annotations

from array import array
from itertools import accumulate
from typing import Any, Final, NamedTuple

import orjson

from pilothouse.machinery.jsonpieces import AFTER, PIECE, STEPS, unquoted, without_texts

DEEPEST: Final = 10_000  # levels, as in the original
_STEP: Final = 512  # levels; the fast parser reads twice as many
_MARK: Final = b"~"


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
    read = []
    at = 0
    for start, end in places:
        first = at
        while at < len(parts) and parts[at].start < end:
            at += 1
        read.append(_Part(start, end, _read(data, start, end, parts[first:at], mark)))
    return read


def _read(data: bytes, start: int, end: int, parts: list[_Part], mark: bytes) -> Any:
    inner: dict[str, Any] = {}
    text: list[bytes] = []
    for number, part in enumerate(parts):
        name = b"%b%d" % (mark, number)
        inner[name.decode()] = part.value
        text += (data[start : part.start], b'"', name, b'"')
        start = part.end
        if AFTER.match(data, start) is None:  # it may not be the name of a member
            raise OddError
    text.append(data[start:end])
    value = orjson.loads(b"".join(text))
    if inner:
        _put(value, inner)
    return value


def _put(value: Any, inner: dict[str, Any]) -> None:
    """Puts the parts that were read into their places."""
    todo = [value]
    while todo:
        container = todo.pop()
        for place, item in container.items() if container.__class__ is dict else enumerate(container):
            if item.__class__ is str:
                if item in inner:
                    container[place] = inner.pop(item)
            elif item.__class__ is dict or item.__class__ is list:
                todo.append(item)
    if inner:
        raise OddError


def as_many_members(data: bytes, value: Any) -> bool:
    """Whether the objects in a value have all members that its document tells, so that none repeats one."""
    members = 0
    todo = [value]
    while todo:
        container = todo.pop()
        if container.__class__ is dict:
            members += len(container)
            container = container.values()
        elif container.__class__ is not list:
            continue
        todo += [item for item in container if item.__class__ is dict or item.__class__ is list]
    return members == b"".join(unquoted(data).split(b'"')[::2]).count(b":")
