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
_AT_LEAST = 32  # streams of them, however many answers there are


class Flushable(Protocol):
    def flush(self) -> None:
        """Send what was held."""
        ...


class Flusher:
    """Knows which connections hold something to send. One for each loop.

    Answers go before events: when one write wakes thousands of watchers, nobody else waits until all of them are told.
    """

    __slots__ = ("_loop", "_patient", "_waiting")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[Flushable] = deque()
        self._patient: deque[Flushable] = deque()

    def add(self, connection: Flushable) -> None:
        """`connection` began to hold something."""
        if not self._waiting and not self._patient:
            self._loop.call_soon(self._flush)
        self._waiting.append(connection)

    def add_patient(self, connection: Flushable) -> None:
        """The same for a part of a stream, which lets answers go first."""
        if not self._waiting and not self._patient:
            self._loop.call_soon(self._flush)
        self._patient.append(connection)

    def _flush(self) -> None:
        waiting, patient = self._waiting, self._patient
        first = min(len(waiting), _PER_TURN)
        for _ in range(first):
            waiting.popleft().flush()
        for _ in range(min(len(patient), max(_PER_TURN - first, _AT_LEAST))):
            patient.popleft().flush()
        if waiting or patient:
            self._loop.call_soon(self._flush)
