"""One time limit for much work: what is carried on shares a single timer, instead of having one each.

A timer of the loop costs as much as the parsing of a request. All work here has the same time, so what began first ends
first, and only the first needs a timer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from pilothouse.serving.eager import go_on

T = TypeVar("T")


class _Entry:
    """A piece of work: its task, when its time is over (seconds of the loop), and whether it was told so."""

    __slots__ = ("end", "over", "task")

    def __init__(self, task: asyncio.Task[Any], end: float) -> None:
        self.task = task
        self.end = end
        self.over = False


class TimeLimit:
    """`seconds` for each piece of work."""

    __slots__ = ("_loop", "_seconds", "_timer", "_waiting")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: dict[_Entry, None] = {}  # in the order of their ends

    async def carry_on(self, work: Coroutine[Any, Any, T], waits_for: Any) -> T:
        """Carry on a coroutine that was stepped once and then waited. Its time begins now.

        Raises TimeoutError after the work was cancelled.
        """
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        if loop is not self._loop:
            self._loop, self._timer, self._waiting = loop, None, {}
        before = task.cancelling()
        entry = _Entry(task, loop.time() + self._seconds)
        self._waiting[entry] = None
        if self._timer is None:
            self._timer = loop.call_at(entry.end, self._look, loop)
        try:
            return await go_on(work, waits_for)
        except asyncio.CancelledError as error:
            if entry.over and task.cancelling() <= before + 1:  # nobody else wanted it to end
                raise TimeoutError from error
            raise
        finally:
            self._waiting.pop(entry, None)
            if entry.over:
                task.uncancel()

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """End what had its time."""
        now = loop.time()
        self._timer = None
        for entry in list(self._waiting):
            if entry.end > now:
                self._timer = loop.call_at(entry.end, self._look, loop)
                break
            del self._waiting[entry]
            entry.over = True
            entry.task.cancel()
