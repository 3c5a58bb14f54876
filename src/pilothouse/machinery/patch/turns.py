"""How the compiled loops of patches let others have their turn, and how deep they go."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from pilothouse.kit.giveway import give_way

_VALUES: Final = 8_192  # that are looked at in a turn, which is less than half a millisecond


class Turns:
    """Counts what is looked at."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left: i64 = _VALUES

    def one_more(self) -> None:
        self._left -= 1
        if self._left <= 0:
            self._left = _VALUES
            give_way()


TURNS: Final = Turns()  # of all threads together: one runs at a time


def check_depth(level: i64, most: i64) -> None:
    """Interpreted code that calls itself too often gets a RecursionError, and so does compiled code here."""
    if level > most:
        raise RecursionError("nested too deeply")
