"""Knows which requests are running, so that a shutdown can wait for them."""

from __future__ import annotations

import asyncio

from pilothouse.serving.http import Answer, Filter, Handler, Request


class WaitGroup:
    """Counts running requests. Streams count until their answer began; the edge ends them itself."""

    def __init__(self) -> None:
        self.running = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def enter(self) -> None:
        self.running += 1
        self._idle.clear()

    def leave(self) -> None:
        self.running -= 1
        if not self.running:
            self._idle.set()

    async def wait(self) -> None:
        """Until no request is running."""
        await self._idle.wait()


def wait_group(group: WaitGroup) -> Filter:
    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            group.enter()
            try:
                return await inner(request)
            finally:
                group.leave()

        return handle

    return build
