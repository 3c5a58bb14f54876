"""One task that waits for another part of the loop: readers of what comes in pieces."""

from __future__ import annotations

import asyncio


class OneWaiter:
    """What at most one task at a time waits for. Its maker sets `_waiter` to None. Wakes that find nobody are lost, so
    who waits looks first whether there is still something to wait for.
    """

    __slots__ = ("_waiter",)
    _waiter: asyncio.Future[None] | None

    def _wake(self) -> None:
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    async def _woken(self) -> None:
        """Until `_wake` is called."""
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None
