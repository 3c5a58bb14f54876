"""Sends what was written in one turn of the loop, at the end of that turn.

A socket write is the dearest step of a request, and it throws the interpreter out of the CPU's caches. So all requests
that came in one turn are answered first, and all their answers are sent then; and what is written to one connection
within a turn (a head and a first event, several events) leaves in one TLS record and one system call.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

_PER_TURN = 128  # connections that are sent to before others get their turn; each takes about 20 us


class Flushable(Protocol):
    def flush(self) -> None:
        """Send what was held."""
        ...


class Flusher:
    """Knows which connections hold something to send. One for each loop."""

    __slots__ = ("_loop", "_waiting")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[Flushable] = deque()

    def add(self, connection: Flushable) -> None:
        """`connection` began to hold something."""
        if not self._waiting:
            self._loop.call_soon(self._flush)
        self._waiting.append(connection)

    def _flush(self) -> None:
        waiting = self._waiting
        for _ in range(min(len(waiting), _PER_TURN)):
            waiting.popleft().flush()
        if waiting:
            self._loop.call_soon(self._flush)
