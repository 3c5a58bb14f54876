"""Random identifiers: UUIDs from the system's randomness, read in blocks.

A read of 16 bytes lets go of the interpreter's lock each time, which costs more than all else that a small request
does.
"""

from __future__ import annotations

import os
from collections.abc import Callable

_BLOCK = 4096  # bytes


class UuidSource:
    """`source()` is a new random UUID (RFC 9562, version 4). For any thread."""

    __slots__ = ("_read", "_ready")

    def __init__(self, read: Callable[[int], bytes] = os.urandom) -> None:
        self._read = read
        self._ready: list[str] = []

    def __call__(self) -> str:
        while True:
            try:
                digits = self._ready.pop()  # one step, whatever other threads do
                break
            except IndexError:
                block = self._read(_BLOCK).hex()
                self._ready.extend(block[at : at + 32] for at in range(0, len(block), 32))
        variant = "89ab"[int(digits[16], 16) & 3]
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
