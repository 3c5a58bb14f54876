"""Documents that go deeper than the fast parser: cut into parts that do not, which it reads one by one.

A few calls find out how many brackets are open behind each. Containers that begin at steps of 256 levels, and go
deeper than to the next, are read on their own, the innermost first. In the text around them, a mark stands for each.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, chain
from sys import byteorder
from typing import Any, Final, NamedTuple

import orjson

from pilothouse.machinery.jsonpieces import AFTER, PIECE, STEPS, unquoted, without_texts

DEEPEST: Final = 10_000  # levels, as in the original
_NONE: Final = 40 * 256 - 1 - DEEPEST  # what no level is counted as, so that what is too deep begins a step
_TOO_DEEP: Final = 40
_RUN: Final = 256  # bytes
_NO_STEP: Final = bytes((0,))
_MARK: Final = b"~"
_MARKS: Final = range(0xE000, 0xF900)  # signs that are of no use to anybody
_ESCAPED: Final = re.compile(rb"\\u([0-9a-fA-F]{4})")
_LISTS: Final = {list}
_OBJECTS: Final = {dict}
_CONTAINERS: Final = {dict, list}


class OddError(Exception):
    """This is no JSON, or goes too deep: something else has to tell what is wrong."""


class _Part(NamedTuple):
    start: int
    end: int  # behind it
    value: Any


def loads(data: bytes) -> Any:
    """The value of a document. The last of repeated members counts. Raises OddError, orjson.JSONDecodeError."""
    return _read(data, keep=True)


def is_sound(data: bytes) -> bool:
    """Whether `loads` surely reads a document."""
    try:
        _read(data, keep=False)
    except (OddError, orjson.JSONDecodeError):
        return False
    return True


def _read(data: bytes, *, keep: bool) -> Any:
    """The value, or something else if it is not to be kept."""
    brackets = _Brackets(data)
    mark = _mark(data)
    parts: list[_Part] = []
    for step in range(brackets.deepest, 0, -1):
        parts = _read_all(data, brackets.containers(step), parts, mark, keep=keep)
    return _read_all(data, [(0, len(data))], parts, mark, keep=keep)[0].value


def _mark(data: bytes) -> bytes:
    """A sign that begins no text in the document."""
    if _MARK not in data and b"\\u" not in data:
        return _MARK
    used = set(data.decode("utf-8", "replace"))
    used.update(chr(int(code, 16)) for code in set(_ESCAPED.findall(data)))
    for sign in map(chr, _MARKS):
        if sign not in used:
            return sign.encode()
    raise OddError


class _Brackets:
    """The brackets that open and close something in a document, and how deep they are. Raises OddError.

    Only the steps of 256 levels are kept, a byte for each bracket: so those of one step are found by the fastest search
    there is.
    """

    def __init__(self, data: bytes) -> None:
        self._steps = without_texts(unquoted(data)).translate(STEPS)
        self._before = [0]  # how many brackets are before each run of bytes
        for start in range(0, len(data), _RUN):
            self._before.append(self._before[-1] + len(self._steps[start : start + _RUN].translate(None, _NO_STEP)))
        self._depths = _depths(self._steps.translate(None, _NO_STEP))
        self.deepest = max(self._depths, default=0) - 2

    def containers(self, step: int) -> list[tuple[int, int]]:
        """The containers that begin at a step and go deeper than to the next: where they begin, and end."""
        found: list[tuple[int, int]] = []
        above, below = bytes((step,)), bytes((step + 2,))
        last = 0
        while (deep := self._depths.find(below, last)) >= 0:
            first = self._depths.rfind(above, 0, deep) + 1
            last = self._depths.find(above, deep)
            if last < 0:
                raise OddError
            found.append((self._place(first), self._place(last) + 1))
        return found

    def _place(self, number: int) -> int:
        """Where a bracket is in the document."""
        run = bisect_right(self._before, number) - 1
        start, end = run * _RUN, (run + 1) * _RUN
        left = number - self._before[run]  # of the brackets in this run, those before
        while end - start > 1:
            middle = (start + end) // 2
            here = len(self._steps[start:middle].translate(None, _NO_STEP))
            if left < here:
                end = middle
            else:
                start, left = middle, left - here
        return start


def _depths(brackets: bytes) -> bytes:
    """At which step the levels behind each bracket are, from 0 on; each is of 256 levels, but for the first."""
    depths = []
    last = _NONE
    for start in range(0, len(brackets), PIECE):
        try:
            levels = array("h", accumulate(array("b", brackets[start : start + PIECE]), initial=last))
        except OverflowError:
            raise OddError from None
        last = levels[-1]
        if byteorder == "big":
            levels.byteswap()
        depths.append(levels[1:].tobytes()[1::2])
        if _TOO_DEEP in depths[-1]:
            raise OddError
    return b"".join(depths)


def _read_all(
    data: bytes, places: list[tuple[int, int]], parts: list[_Part], mark: bytes, *, keep: bool
) -> list[_Part]:
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
    if not keep:
        values = places  # they are let go at once
    elif inner:
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
        if kinds == _OBJECTS:
            level = list(map(dict.values, level))
        elif kinds.isdisjoint(_CONTAINERS):
            return
        elif kinds != _LISTS:
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
