"""Profiles in pprof's format (gzipped protobuf, message perftools.profiles.Profile), which the usual viewers read.

Pure: stacks in, bytes out.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pilothouse.kit.protowire import integer, lengthy, varint

Line = tuple[str, str, int, int]  # function, file, first line of the function, line
Stack = tuple[Line, ...]  # innermost first
ValueType = tuple[str, str]  # name, unit


@dataclass
class Profile:
    """`kinds` of the values of each sample; `period` in the unit of the last kind. Times in nanoseconds."""

    kinds: tuple[ValueType, ...]
    samples: Mapping[Stack, tuple[int, ...]]
    began: int = 0
    took: int = 0
    period: int = 0
    labels: Mapping[Stack, str] = field(default_factory=dict)  # what a viewer shows beside a stack

    def encode(self) -> bytes:
        return gzip.compress(_Writer(self).write(), 6, mtime=0)


class _Writer:
    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._strings: dict[str, int] = {"": 0}
        self._functions: dict[tuple[str, str, int], int] = {}
        self._locations: dict[Line, int] = {}

    def write(self) -> bytes:
        profile = self._profile
        kinds = b"".join(lengthy(1, self._kind(kind)) for kind in profile.kinds)
        samples = b"".join(lengthy(2, self._sample(stack, values)) for stack, values in profile.samples.items())
        locations = b"".join(
            lengthy(4, integer(1, ident) + lengthy(4, integer(1, self._function(line)) + integer(2, line[3])))
            for line, ident in self._locations.items()
        )
        functions = b"".join(
            lengthy(
                5,
                integer(1, ident) + integer(2, self._string(name)) + integer(4, self._string(file)) + integer(5, first),
            )
            for (name, file, first), ident in self._functions.items()
        )
        period = lengthy(11, self._kind(profile.kinds[-1])) + integer(12, profile.period)
        times = integer(9, profile.began) + integer(10, profile.took)
        strings = b"".join(lengthy(6, text.encode()) for text in self._strings)
        return kinds + samples + locations + functions + strings + times + period

    def _kind(self, kind: ValueType) -> bytes:
        return integer(1, self._string(kind[0])) + integer(2, self._string(kind[1]))

    def _sample(self, stack: Stack, values: Iterable[int]) -> bytes:
        ids = [self._locations.setdefault(line, len(self._locations) + 1) for line in stack]
        message = _packed(1, ids) + _packed(2, values)
        label = self._profile.labels.get(stack)
        if label is not None:
            message += lengthy(3, integer(1, self._string("name")) + integer(2, self._string(label)))
        return message

    def _function(self, line: Line) -> int:
        return self._functions.setdefault(line[:3], len(self._functions) + 1)

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))


def _packed(number: int, values: Iterable[int]) -> bytes:
    return lengthy(number, b"".join(map(varint, values)))
