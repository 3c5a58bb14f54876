"""A long list that a JSON Patch changes: ten thousand operations at its front must not move all of it each time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

LONG: Final = 8_192  # items; moving less than that costs nothing that counts
_PIECE: Final = 4_096  # items of a piece when it is made; a patch has too few operations to make one much longer


class LongList:
    """What the operations need of a list. Positions are as those of a list, and within it."""

    __slots__ = ("_pieces", "_size")

    def __init__(self, items: list[Any]) -> None:
        self._pieces = [items[at : at + _PIECE] for at in range(0, len(items), _PIECE)]
        self._size = len(items)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self._pieces)

    def __getitem__(self, at: int) -> Any:
        piece, at = self._found(at)
        return piece[at]

    def __setitem__(self, at: int, value: Any) -> None:
        piece, at = self._found(at)
        piece[at] = value

    def insert(self, at: int, value: Any) -> None:
        """Before the item at `at`, which is not negative here; at the end where there is none."""
        if at < self._size:
            piece, at = self._found(at)
            piece.insert(at, value)
        else:
            self._pieces[-1].append(value)
        self._size += 1

    def append(self, value: Any) -> None:
        self.insert(self._size, value)

    def pop(self, at: int) -> Any:
        piece, at = self._found(at)
        self._size -= 1
        return piece.pop(at)

    def _found(self, at: int) -> tuple[list[Any], int]:
        """The piece that holds the item, and where in it."""
        if at < 0:
            at += self._size
        for piece in self._pieces:
            if at < len(piece):
                return piece, at
            at -= len(piece)
        raise IndexError(at)
