"""Long values in flow style, `[a, {b: c}]`, which are JSON but for the quotes that their scalars want."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

import orjson

from pilothouse.machinery import jsonpieces
from pilothouse.machinery.digits import has_digits, may_have_floats
from pilothouse.machinery.jsoncodec import surely_unique
from pilothouse.machinery.yamlcodec.cuts import LEAST, NAME, Items, Read, Span, Whole, values_of

_LONG: Final = 2_000  # bytes; a line of twice as many is looked at
_FLOW: Final = re.compile(rb" {0,200}+(?:(?:- ){1,8}(?:%b: )?|%b: )(?=[\[{])" % (NAME, NAME))
_DEEP: Final = (b"[" * 32, b"{" * 32)  # levels that nobody writes in one line
_BARE: Final = re.compile(rb"[A-Za-z0-9_./+ ,:\[\]{}-]*+")
_JSON: Final = re.compile(rb"[ !#-\[\]-~\"]*+")  # without escapes
_LONG_TEXT: Final = re.compile(rb'"[^"]{1000}')
_BEYOND: Final = 18  # digits of a number that may be none of int64
_BETWEEN: Final = "between"  # an item that stands between two lines
_NO_ITEM: Final = (b"[,", b"{,", b",,", b", ,")
# What puts the quotes where scalars begin and end, and takes those away again that stand around lists and objects.
_QUOTING: Final = (
    (b", ", b","), (b",]", b"]"), (b",}", b"}"), (b": ", b":"),
    (b"[", b'["'), (b"]", b'"]'), (b"{", b'{"'), (b"}", b'"}'), (b",", b'","'), (b":", b'":"'),
    (b'"[', b"["), (b']"', b"]"), (b'"{', b"{"), (b'}"', b"}"), (b'[""]', b"[]"), (b'{""}', b"{}"),
)  # fmt: skip


def flow_spans(data: bytes, taken: Sequence[Span]) -> Iterator[Span]:
    """The values in flow style that fill long lines; not where most of it is in spans that were found already."""
    for start, end in _long_lines(data):
        known = sum(span.end - span.start for span in taken if start <= span.start < end)
        found = _FLOW.match(data, start) if 2 * known < end - start else None
        if found is not None:
            value = flow_value(data[found.end() : end])
            if value is not None:
                yield Span(found.end(), end, b"", b"", Whole(value))


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


class FlowLines:
    """Lists whose items are in flow style, each in a line of its own."""

    def __init__(self) -> None:
        one = rb"- [\[{][^\n]*+"
        self._begins = re.compile(rb"\n( *)%b(?:\n\1%b){%d}(?=\n)" % (one, one, LEAST))

    def at(self, data: bytes, at: int, aliases: bool, read: Read) -> tuple[Span | None, int] | None:
        """The run that begins with the sign at `at`, and where to look on; None where none begins."""
        found = self._begins.match(data, at)
        if found is None:
            return None
        between = b"\n%b- " % found[1]
        last = re.compile(rb"\n(?!%b- [\[{])" % found[1]).search(data, at)
        behind = len(data) if last is None else last.start()
        start = data.index(between, at + 1)
        end = data.rindex(between, start, behind)
        text = data[start + len(between) : end]
        if _BETWEEN.encode() in text:
            return None, behind
        lines = text.count(b"\n") + 1
        mark = b',"%b",' if b'"' in text else b",%b,"
        values = flow_value(b"[%b]" % text.replace(between, mark % _BETWEEN.encode()))
        whole = values is not None and len(values) == 2 * lines - 1 and values[1::2].count(_BETWEEN) == lines - 1
        return Span(start, end, between, b"", Items(values[::2])) if values is not None and whole else None, behind


def flow_value(text: bytes) -> Any:
    """The value, with its members by name; None where it is not simple enough."""
    if text.count(b"[") != text.count(b"]") or text.count(b"{") != text.count(b"}") or any(d in text for d in _DEEP):
        return None
    try:
        if b'"' in text:
            return _json(text)
        return _bare(text)
    except orjson.JSONDecodeError:
        return None


def _json(text: bytes) -> Any:
    if not _JSON.fullmatch(text) or may_have_floats(text) or has_digits(text, _BEYOND) or _LONG_TEXT.search(text):
        return None
    return _sorted(jsonpieces.loads(text), text)


def _sorted(value: Any, text: bytes) -> Any:
    if value.__class__ is not list and value.__class__ is not dict:
        return None
    if b"{" not in text:
        return value
    if not surely_unique(text, value):
        return None
    ordered = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return value if ordered == orjson.dumps(value) else jsonpieces.loads(ordered)


def _bare(text: bytes) -> Any:
    """Of a value whose scalars are plain words, none of which, as a name, means something else."""
    if not _BARE.fullmatch(text) or text.count(b":") != text.count(b": ") or any(sign in text for sign in _NO_ITEM):
        return None
    for sign, instead in _QUOTING:
        text = text.replace(sign, instead)
    if b" " in text or b'""' in text:
        return None
    value = jsonpieces.loads(text)
    parts = text.decode("ascii").split('"')
    scalars, behind = parts[1::2], parts[2::2]
    odd = _odd([*dict.fromkeys(scalars)])
    if not odd:
        return None if odd is None else _sorted(value, text)
    if any(scalar in odd and after[0] == ":" for scalar, after in zip(scalars, behind, strict=True)):
        return None
    shown = [odd.get(scalar) or f'"{scalar}"' for scalar in scalars]
    text = "".join(chain.from_iterable(zip(parts[::2], shown, strict=False))).encode() + parts[-1].encode()
    return _sorted(jsonpieces.loads(text), text)


def _odd(scalars: list[str]) -> dict[str, str] | None:
    """What scalars are in JSON that are no texts; None where one may be nothing that JSON has, or no scalar."""
    values = values_of(scalars, quoted=False) if scalars else []
    if values is None:
        return None
    odd: dict[str, str] = {}
    for scalar, value in zip(scalars, values, strict=True):
        if value.__class__ is str:
            if scalar[0] == "-":
                return None
        elif value is None or value.__class__ is bool or value.__class__ is int:
            odd[scalar] = orjson.dumps(value).decode()
        else:
            return None
    return odd
