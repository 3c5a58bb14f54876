"""How much the compiled walks of this package have done since other threads last had their turn. All of them count
here: many short loops within each other hold others up as long as one long loop does.

Compiled (docs/designs/compiled.md).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from pilothouse.kit.giveway import give_way

DEEPEST: Final = 3_000  # levels that a compiled walk goes down: as many calls as a server's plain Python may make
_ITEMS: Final = 1_000


class _Turns:
    """`left`: items until the next turn of others; who works on one counts it, and calls `over` when none is left."""

    def __init__(self) -> None:
        self.left: i64 = _ITEMS

    def over(self) -> None:
        self.left = _ITEMS
        give_way()


TURNS: Final = _Turns()
