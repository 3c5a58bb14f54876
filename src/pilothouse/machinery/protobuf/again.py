"""The same few fields over and over: what hostile bodies are made of. They are read once, and then counted."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.machinery.protobuf.wire import run

_EACH: Final = 256  # bytes that are read field by field between two looks
_LONGEST: Final = 512  # bytes of fields that are looked for
_KEY: Final = 16  # bytes that must come again for a closer look


class Again:
    """Watches a loop over the fields of a message, which calls `step` when it comes to a field at `look` or later."""

    __slots__ = ("begun", "counts", "look")

    def __init__(self, at: int) -> None:
        self.look = at + _EACH
        self.begun = -1  # where the fields begin of which the next ones seem to be copies
        self.counts: dict[int, int] = {}  # of values in each list, there

    def step(self, data: bytes, at: int, end: int, found: dict[int, Any]) -> int:
        """The place to go on from, behind copies of what was read. `found` may hold lists, to which those add."""
        begun, self.begun = self.begun, -1
        if begun >= 0 and at == self.look:
            behind = run(data, begun, at, end)
            copies = (behind - at) // (at - begun)
            for number, there in found.items():
                if there.__class__ is list and copies:
                    there += there[self.counts.get(number, 0) :] * copies
            self.look = behind + _EACH
            return behind
        coming = data.find(data[at : at + _KEY], at + 1, min(at + _LONGEST + _KEY, end))
        if coming < 0:
            self.look = at + _EACH
        else:
            self.begun, self.look = at, coming
            self.counts = {number: len(there) for number, there in found.items() if there.__class__ is list}
        return at
