"""What the first byte of an item says by itself, for each of the 256."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pilothouse.machinery.cbor import model, runs

_NUMBERS: Final = bytes(range(24))  # which are their own first bytes
SIMPLE: Final = {20: False, 21: True, 22: None}
OTHER: Final = object()
_ONE_BYTE: Final[dict[int, Any]] = {
    **{number: number for number in range(24)},
    **{0x20 + number: -1 - number for number in range(24)},
    0x40: "",
    0x60: "",
    **{model.SIMPLE << 5 | info: value for info, value in SIMPLE.items()},
}
# The value of an item of one byte that is no container, else OTHER.
TINY: Final = tuple(_ONE_BYTE.get(first, OTHER) for first in range(256))
SMALL: Final = bytes(first in _ONE_BYTE or first in runs.EMPTY for first in range(256))
# Strings whose length is in their first byte: how long they are with it, else 0. Bytes may have to be encoded later.
SHORT: Final = bytes(
    (first & 31) + 1 if first >> 5 in (model.BYTES, model.TEXT) and first & 31 < 24 else 0 for first in range(256)
)
SHORT_BYTES: Final = bytes(size if first >> 5 == model.BYTES else 0 for first, size in enumerate(SHORT))
SHORT_TEXT: Final = bytes(size if first >> 5 == model.TEXT else 0 for first, size in enumerate(SHORT))
# Strings whose length is in so many bytes behind the first one, else 0; longer ones are few.
LONGER: Final = bytes({0x58: 1, 0x59: 2, 0x78: 1, 0x79: 2}.get(first, 0) for first in range(256))
# How many items, or pairs, a container has whose count is in its first byte; -1 where their end is marked.
COUNTS: Final = tuple(
    (-1 if first & 31 == model.INDEFINITE else first & 31)
    if first >> 5 in (model.ARRAY, model.MAP) and (first & 31 < 24 or first & 31 == model.INDEFINITE)
    else None
    for first in range(256)
)
# The same of those that are neither empty nor have a marked end, else 0.
SHORT_COUNTS: Final = bytes(max(count or 0, 0) for count in COUNTS)


def small_values(firsts: bytes) -> Iterable[Any]:
    """The values of SMALL items."""
    if not firsts.translate(None, _NUMBERS):
        return firsts
    if any(empty in firsts for empty in runs.EMPTY):
        return [[] if first == 0x80 else {} if first == 0xA0 else TINY[first] for first in firsts]
    return map(TINY.__getitem__, firsts)
