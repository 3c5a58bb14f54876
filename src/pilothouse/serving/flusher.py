"""Sends what was written in one turn of the loop, and hands on what was read in it, at the end of that turn.

A socket write is the dearest step of a request, and it throws the interpreter out of the CPU's caches. So all requests
that came in one turn are answered first, and all their answers are sent then; and what is written to one connection
within a turn (a head and a first event, several events) leaves in one TLS record and one system call.

For the same reason all is read and deciphered first, and then requests begin, one after the other.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextvars import copy_context
from typing import Protocol

log = logging.getLogger("pilothouse.serving")

_PER_TURN = 128  # connections that are sent to before others get their turn; each takes about 20 us
_AT_LEAST = 32  # streams of them, however many answers there are


class Reading(Protocol):
    def deliver(self) -> None:
        """Hand on what was read."""
        ...

    def abort(self) -> None: ...


class Flushable(Protocol):
    def flush(self) -> None:
        """Send what was held."""
        ...


class Flusher:
    """Knows which connections hold something to send. One for each loop.

    Answers go before events: when one write wakes thousands of watchers, nobody else waits until all of them are told.
    """

    __slots__ = ("_context", "_loop", "_patient", "_read", "_scheduled", "_waiting")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._context = copy_context()  # requests begin in it, and not in that of whoever wrote something
        self._waiting: deque[Flushable] = deque()
        self._patient: deque[Flushable] = deque()
        self._read: list[Reading] = []
        self._scheduled = False

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._flush, context=self._context)

    def add_read(self, channel: Reading) -> None:
        """`channel` began to hold something that was read."""
        self._schedule()
        self._read.append(channel)

    def add(self, connection: Flushable) -> None:
        """`connection` began to hold something."""
        self._schedule()
        self._waiting.append(connection)

    def add_patient(self, connection: Flushable) -> None:
        """The same for a part of a stream, which lets answers go first."""
        self._schedule()
        self._patient.append(connection)

    def _flush(self) -> None:
        try:
            self._deliver()
            self._send()
        finally:
            self._scheduled = False
            if self._waiting or self._patient or self._read:
                self._schedule()

    def _deliver(self) -> None:
        read, self._read = self._read, []
        for channel in read:
            try:
                channel.deliver()
            except Exception:
                log.exception("what was read could not be handed on")  # a bug: it costs this connection, no other
                channel.abort()

    def _send(self) -> None:
        waiting, patient = self._waiting, self._patient
        first = min(len(waiting), _PER_TURN)
        for _ in range(first):
            waiting.popleft().flush()
        for _ in range(min(len(patient), max(_PER_TURN - first, _AT_LEAST))):
            patient.popleft().flush()
