"""Runs of items in flow style that are lists or objects themselves, `[{a: b}, {a: c},`.

An odd one among them costs only what is near it.
"""

from __future__ import annotations

import re
from typing import Final

from pilothouse.machinery.yamlcodec.cuts import Items, Read, Span
from pilothouse.machinery.yamlcodec.flowjson import flow_values
from pilothouse.machinery.yamlcodec.flows import parts

_BETWEEN: Final = re.compile(rb"\},[ \n]*+\{|\],[ \n]*+\[")
_SAMPLE: Final = 4 << 10  # bytes that tell whether a list is worth a look
_OFTEN: Final = 16  # items in them
_LONG: Final = 64 << 10  # bytes that are read together
_FAR: Final = 4 << 10  # bytes of a run: what is behind it is surely too far away to be a name with what is before it


class Listed:
    """Lists or objects, a comma before each."""

    def at(self, data: bytes, at: int, aliases: bool, read: Read) -> tuple[Span | None, int] | None:
        """The run that begins with the sign at `at`, and where to look on; None where none begins."""
        found = None if aliases else _BETWEEN.match(data, at - 1)
        if found is None:
            return None
        between = found[0]
        inner = at + len(between) - 1
        sample = data[inner : inner + _SAMPLE].split(between, _OFTEN)
        if len(sample) <= _OFTEN or flow_values(_bracketed(sample[:2], between)) is None:
            return None
        texts = data[inner : inner + _LONG].split(between)
        del texts[-1]
        for first, behind, values in parts(_bracketed(texts, between)):
            start = at + sum(map(len, texts[:first])) + first * len(between)
            end = start + sum(map(len, texts[first:behind])) + (behind - first) * len(between)
            if end - start >= _FAR:
                return Span(start, end, b", ", b"\n", Items(values)), end
        return None, inner + _LONG


def _bracketed(texts: list[bytes], between: bytes) -> list[bytes]:
    return [b"%b%b%b" % (between[-1:], text, between[:1]) for text in texts]
