"""Which node ports are taken, as one integer: bit n is the n-th port of the range. No I/O.

It is kept as a core/v1 RangeAllocation: the integer in big-endian bytes without leading zeros.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Final

import orjson

from pilothouse.builtin.allocation.addressrange import Below
from pilothouse.kit.record import record
from pilothouse.machinery.jsoncodec import dumps

_LEAST_BAND: Final = 16
_MOST_BAND: Final = 128
_SHARE: Final = 32


class PortRefused(Exception):
    """A port cannot be had. `number` is 0 where any would have done; `position` is its place among those wanted."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__(why)
        self.number = number
        self.position = 0


@record
class PortRange:
    """`first` to `last`, both within. The lowest are left to those who ask for one by number."""

    first: int
    last: int

    @classmethod
    def parse(cls, text: str) -> PortRange:
        first, _, last = text.partition("-")
        return cls(int(first), int(last))

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"

    def __contains__(self, number: int) -> bool:
        return self.first <= number <= self.last

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    @property
    def band(self) -> int:
        return 0 if self.size < _LEAST_BAND else min(max(_LEAST_BAND, self.size // _SHARE), _MOST_BAND)

    def bits(self, numbers: Iterable[int]) -> int:
        """The map in which just these are taken; others are passed over."""
        found = 0
        for number in numbers:
            if number in self:
                found |= 1 << (number - self.first)
        return found


def take(ports: PortRange, bits: int, number: int) -> int:
    """The map with a port that was asked for. Raises PortRefused."""
    if number not in ports:
        raise PortRefused(number, f"provided port is not in the valid range. The range of valid ports is {ports}")
    bit = 1 << (number - ports.first)
    if bits & bit:
        raise PortRefused(number, "provided port is already allocated")
    return bits | bit


def take_any(ports: PortRange, bits: int, below: Below) -> tuple[int, int]:
    """(map, number) with any free port. Raises PortRefused where all are taken."""
    for start, count in ((ports.band, ports.size - ports.band), (0, ports.band)):
        offset = start + _first_free(bits >> start, count, below(count) if count else 0)
        if offset >= start:
            return bits | 1 << offset, ports.first + offset
    raise PortRefused(0, "range is full")


def _first_free(bits: int, count: int, first: int) -> int:
    """Of the lowest `count` bits the first that is 0, from `first` upwards and then from 0; -1 where all are 1."""
    free = ~bits & (1 << count) - 1
    upper = free >> first
    if upper:
        return first + _lowest(upper)
    return _lowest(free)


def _lowest(bits: int) -> int:
    """The number of the lowest bit that is 1; -1 of 0."""
    return (bits & -bits).bit_length() - 1


def encode(ports: PortRange, bits: int) -> bytes:
    data = base64.b64encode(bits.to_bytes((bits.bit_length() + 7) // 8, "big")).decode()
    return dumps(
        {"kind": "RangeAllocation", "apiVersion": "v1", "metadata": {}, "range": str(ports), "data": data or None}
    )


def decode(ports: PortRange, value: bytes) -> int | None:
    """The map; None where it is of another range."""
    obj = orjson.loads(value)
    if obj.get("range") != str(ports):
        return None
    return int.from_bytes(base64.b64decode(obj.get("data") or ""), "big")
