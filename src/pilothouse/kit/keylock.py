"""One at a time for each key: writers of the same object queue instead of undoing each other's work."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable


class KeyLock:
    """`await lock.enter(key)` ... `lock.leave(key)`. Free keys cost nothing;
    waiters go in the order in which they came.
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: dict[Hashable, deque[asyncio.Future[None]]] = {}

    async def enter(self, key: Hashable) -> None:
        """Returns at once where nobody holds the key. A waiter that is cancelled loses its place."""
        waiting = self._held.get(key)
        if waiting is None:
            self._held[key] = deque()
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave(key)  # the turn came at the same moment: hand it on
            raise

    def leave(self, key: Hashable) -> None:
        waiting = self._held[key]
        while waiting:
            turn = waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        del self._held[key]
