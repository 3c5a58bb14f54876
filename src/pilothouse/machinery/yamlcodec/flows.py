"""Where long values in flow style are in a document: in one line, in several, or in each line of a list."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, Final

from pilothouse.machinery.jsonpieces import STEPS, unquoted, without_texts
from pilothouse.machinery.yamlcodec.cuts import LEAST, NAME, Items, Span, Stride, Whole
from pilothouse.machinery.yamlcodec.flowjson import flow_values

_LONG: Final = 2_000  # bytes of a value; a line of twice as many is looked at
_FLOW: Final = re.compile(rb" {0,200}+(?:(?:- ){1,8}(?:%b: )?|%b: )(?=[\[{])" % (NAME, NAME))
_GOES_ON: Final = (b"[\n", b"{\n", b",\n")
_BEHIND: Final = re.compile(rb" *+(?:(?<= )#[^\n]*+)?(?=\n|\Z)")
NO_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")
_FEW: Final = 256  # bytes that are looked through one by one
_STEP: Final = 512  # bytes between places where a run is looked for
_FARTHEST: Final = 8 << 10
_ITEM: Final = rb"- [\[{][^\n]*+(?:\n\1 [^\n]*+)*"
_BEGINS: Final = re.compile(rb"\n( *)%b(?:\n\1%b){%d}(?=\n)" % (_ITEM, _ITEM, LEAST))
_PARTS: Final = 8  # of a run, if not all of it can be read
_MOST_BAD: Final = 8  # smallest parts that cannot


def flow_spans(data: bytes, taken: Sequence[Span]) -> Iterator[Span]:
    """The values in flow style; not where most of a line is in spans that were found already."""
    for start, end in _long_lines(data):
        found = None if _is_known(taken, start, end) else _FLOW.match(data, start)
        if found is not None:
            values = flow_values([data[found.end() : end]])
            if values is not None:
                yield Span(found.end(), end, b"", b"", Whole(values[0]))
    yield from _torn(data, taken)
    yield from _lists(data)


def _long_lines(data: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(data):
        if data.find(b"\n", at, at + _LONG) >= 0:
            at += _LONG
            continue
        end = data.find(b"\n", at)
        end = end if end >= 0 else len(data)
        yield data.rfind(b"\n", 0, at) + 1, end
        at = end + 1


def _is_known(taken: Sequence[Span], start: int, end: int) -> bool:
    """Whether most of a value is in spans that were found already."""
    return 2 * sum(span.end - span.start for span in taken if start <= span.start < end) > end - start


def _torn(data: bytes, taken: Sequence[Span]) -> Iterator[Span]:
    """Long values that go on in the next line."""
    ahead = {sign: at for sign in _GOES_ON if (at := data.find(sign)) >= 0}
    at = min(ahead.values(), default=-1)
    stride = Stride(_STEP, _FARTHEST)
    while at >= 0:
        found = _FLOW.match(data, data.rfind(b"\n", 0, at) + 1, at + 1)
        behind = at + stride.missed()
        if found is not None:
            end = _end(data, found.end())
            if end < 0:
                return
            behind = max(behind, end)
            is_new = end - found.end() >= _LONG and not _is_known(taken, found.end(), end)
            if is_new and _BEHIND.match(data, end):
                text = data[found.end() : end]
                values = flow_values([text])
                if values is not None:
                    stride.found()
                    # The mark stands in the last line, where a value is told that is there twice.
                    before = b"\n" * text.count(b"\n") + b" " * len(found[0])
                    yield Span(found.end(), end, before, b"", Whole(values[0]))
        for sign in [sign for sign in ahead if ahead[sign] < behind]:
            ahead[sign] = data.find(sign, behind)
            if ahead[sign] < 0:
                del ahead[sign]
        at = min(ahead.values(), default=-1)


def _end(data: bytes, at: int) -> int:
    """Where the list or object that begins there ends, but for brackets in texts; -1 if that is not found."""
    size = _LONG
    while True:
        part = without_texts(unquoted(data[at : at + size]))
        levels = accumulate(array("b", part.translate(STEPS, NO_BRACKETS)))
        closing = next((place for place, level in enumerate(levels) if not level), -1)
        if closing >= 0:
            return at + place_of(part, closing, NO_BRACKETS) + 1
        if at + size >= len(data):
            return -1
        size *= 8


def place_of(part: bytes, count: int, others: bytes) -> int:
    """The place of the byte before which there are so many that are none of the others."""
    low, high = 0, len(part)
    while high - low > _FEW:
        middle = (low + high) // 2
        before = len(part[low:middle].translate(None, others))
        low, high, count = (middle, high, count - before) if before <= count else (low, middle, count)
    places = [place for place in range(low, high) if part[place] not in others]
    return places[count]


def _lists(data: bytes) -> Iterator[Span]:
    """Lists whose items are in flow style, each in a line of its own, or in several."""
    at = data.find(b"\n")
    stride = Stride(_STEP, _FARTHEST)
    while at >= 0:
        found = _BEGINS.match(data, at)
        if found is None:
            at = data.find(b"\n", at + stride.missed())
            continue
        stride.found()
        between = b"\n%b- " % found[1]
        last = re.compile(rb"\n(?!%b(?:- [\[{]| ))" % found[1]).search(data, at)
        behind = len(data) if last is None else last.start()
        start = data.index(between, at + 1)
        yield from _items(data, start, data.rindex(between, start, behind), between)
        at = data.find(b"\n", behind)


def _items(data: bytes, start: int, end: int, between: bytes) -> Iterator[Span]:
    """The items of a list that are read together: all of them, or part by part."""
    texts = data[start + len(between) : end].split(between)
    for first, behind, values in parts(texts):
        begins = start + sum(map(len, texts[:first])) + first * len(between)
        ends = begins + sum(map(len, texts[first:behind])) + (behind - first) * len(between)
        yield Span(begins, ends, between, b"", Items(values))


def parts(texts: list[bytes]) -> Iterator[tuple[int, int, list[Any]]]:
    """Which of some texts can be read together, from which one to which, and their values."""
    bad = 0
    todo = [(0, len(texts))]
    while todo and bad < _MOST_BAD:
        first, behind = todo.pop()
        values = flow_values(texts[first:behind])
        if values is not None:
            yield first, behind, values
        elif behind - first >= LEAST:
            step = -(-(behind - first) // _PARTS)
            todo += [(at, min(at + step, behind)) for at in range(first, behind, step)][::-1]
        else:
            bad += 1
