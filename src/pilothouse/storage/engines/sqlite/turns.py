"""Lets the store's threads have the interpreter when the event loop is busy.

A busy loop gives up the interpreter's lock for a moment at each of its rounds, and takes it back before a waiting
thread has woken up. Because that moment also restarts the thread's patience (the switch interval), a thread can wait
for seconds. So the loop looks after it: while work of the threads is outstanding and none of it gets done, the loop
pauses until a thread has had its turn, for a fifth of a millisecond at most.
"""

from __future__ import annotations

import asyncio
import threading

FIRST = 0.001  # seconds until the loop looks whether anything got done
LONGEST = 0.016  # between two pauses: when it is the disk that is slow, pausing does not help
PAUSE = 0.0002


class Turns:
    """`begin` and `end` are called on the loop, around each piece of work; `passed` in the threads."""

    __slots__ = ("_delay", "_done", "_lock", "_loop", "_outstanding", "_seen", "_timer", "_waiting")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lock = threading.Lock()
        self._lock.acquire()
        self._waiting = False
        self._outstanding = 0
        self._done = 0  # how often a thread has had its turn
        self._seen = 0
        self._delay = FIRST
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, count: int = 1) -> None:
        """`count` pieces of work have been given to a thread."""
        self._outstanding += count
        if self._timer is None:
            self._seen = self._done
            self._delay = FIRST
            self._timer = self._loop.call_later(FIRST, self._look)

    def end(self, count: int = 1) -> None:
        """`count` pieces of work have come back."""
        self._outstanding -= count
        if not self._outstanding and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def passed(self) -> None:
        """In a thread: it has the interpreter."""
        self._done += 1
        if self._waiting:
            self._waiting = False
            self._lock.release()

    def _look(self) -> None:
        if self._done == self._seen:
            self._waiting = True
            self._lock.acquire(timeout=PAUSE)
            self._delay = FIRST if self._done != self._seen else min(self._delay * 2, LONGEST)
        else:
            self._delay = 2 * FIRST
        self._seen = self._done
        self._timer = self._loop.call_later(self._delay, self._look)
