"""Time as controllers know it: seconds that only grow, calls that come later, moments to write into objects.

It is given from outside, so that tests move time by hand and never wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol


class Timer(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    def now(self) -> float:
        """Seconds; only differences mean something."""
        ...

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer: ...

    def moment(self) -> datetime:
        """The wall clock, in UTC."""
        ...


class LoopClock:
    """The time of the running event loop."""

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, call)

    def moment(self) -> datetime:
        return datetime.now(UTC)


async def sleep(clock: Clock, seconds: float) -> None:
    """Wait. `seconds` of 0 or less is a turn for others."""
    if seconds <= 0:
        await asyncio.sleep(0)
        return
    over = asyncio.get_running_loop().create_future()
    timer = clock.call_later(seconds, lambda: None if over.done() else over.set_result(None))
    try:
        await over
    finally:
        timer.cancel()


class Backoff:
    """Pauses that double from `first` to `longest` seconds, until `reset`."""

    __slots__ = ("_first", "_longest", "_next")

    def __init__(self, first: float, longest: float) -> None:
        self._first = self._next = first
        self._longest = longest

    def take(self) -> float:
        pause = self._next
        self._next = min(pause * 2, self._longest)
        return pause

    def reset(self) -> None:
        self._next = self._first
