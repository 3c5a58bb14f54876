"""Lists of many items of which only few differ: each of those is read once."""

from __future__ import annotations

import re
from typing import Any, Final

from pilothouse.machinery.yamlcodec.alike import copier
from pilothouse.machinery.yamlcodec.cuts import LEAST, Items, Read, Span
from pilothouse.machinery.yamlcodec.errors import YAMLError

_SAMPLE: Final = 4 << 10  # bytes of a list that tell whether it is worth a look
_LAST: Final = b"last"  # an item that shows that none before it ended the list
_OFTEN: Final = 8  # times that an item comes again, on average


_BEGINS: Final = re.compile(rb"\n( *)- ")


class Few:
    """Items in any order, each in a line of its own or in several."""

    def at(self, data: bytes, at: int, aliases: bool, read: Read) -> tuple[Span | None, int] | None:
        """The run that begins with the sign at `at`, and where to look on; None where none begins."""
        found = _BEGINS.match(data, at)
        if found is None or aliases:
            return None
        between = found[0]
        sample = data[at : at + _SAMPLE].split(between)
        if len(sample) < LEAST or len(set(sample)) * _OFTEN > len(sample):
            return None
        end = _end(data, at, between)
        items = data[at:end].split(between)[2:-1]
        distinct = [*dict.fromkeys(items)]
        if not items or len(distinct) * _OFTEN > len(items):
            return None
        values = _values(distinct, between, read)
        if values is None:
            return None, end
        start = data.index(between, at + 1)
        copied = {item: copier(value) for item, value in values.items() if isinstance(value, dict | list)}
        made = [copied[item]() if item in copied else values[item] for item in items]
        return Span(start, data.rindex(between, start, end), between, b"", Items(made)), end


def _end(data: bytes, at: int, between: bytes) -> int:
    """Where the last item surely ends."""
    last = re.compile(rb"\n(?!%b|%b )" % (between[1:], between[1:-2])).search(data, at)
    return len(data) if last is None else last.start()


def _values(distinct: list[bytes], between: bytes, read: Read) -> dict[bytes, Any] | None:
    try:
        value, repeated = read(between.join((b"", *distinct, _LAST)) + b"\n")
    except YAMLError:
        return None
    if repeated or value.__class__ is not list or len(value) != len(distinct) + 1 or value[-1] != _LAST.decode():
        return None
    return dict(zip(distinct, value[:-1], strict=True))
