"""Random identifiers: UUIDs from the system's randomness, read in blocks.

A read of 16 bytes lets go of the interpreter's lock each time, which costs more than all else that a small request
does.
"""

from __future__ import annotations

import os
from collections.abc import Callable

_BLOCK = 4096  # bytes


class UuidSource:
    """`source()` is a new random UUID (RFC 9562, version 4). For one thread."""

    __slots__ = ("_at", "_block", "_read")

    def __init__(self, read: Callable[[int], bytes] = os.urandom) -> None:
        self._read = read
        self._block = ""
        self._at = 0

    def __call__(self) -> str:
        at = self._at
        if at >= len(self._block):
            self._block = self._read(_BLOCK).hex()
            at = 0
        self._at = at + 32
        digits = self._block[at : at + 32]
        variant = "89ab"[int(digits[16], 16) & 3]
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
