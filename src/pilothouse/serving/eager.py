"""Runs a coroutine at once, as far as it goes without waiting, and in a task from there on.

Most requests are answered without a single wait; a task for each would cost a tenth of the edge. A coroutine may still
use whatever needs a current task (asyncio.timeout, task groups): while it is stepped, the current task is a real one
that sleeps, and exactly that task carries the coroutine on if it has to wait. Afterwards it sleeps again and takes the
next: making a task for each costs more than passing on a short request. Python 3.12 has eager tasks, 3.11 none.
"""

from __future__ import annotations

import asyncio
from asyncio.tasks import _enter_task, _leave_task  # documented for other task implementations ("Extending asyncio")
from collections.abc import Coroutine, Generator
from contextvars import Context, copy_context
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")
Work = Coroutine[Any, Any, None]


class EagerRunner:
    """Starts coroutines that return None and raise nothing but CancelledError. One for each loop.

    `kept`: how many tasks wait for further work at most, after their first.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, kept: int = 0) -> None:
        self._loop = loop
        self._kept = kept
        self._idle: list[_Carrier] = []
        self._carriers: set[_Carrier] = set()

    def start(self, work: Work) -> asyncio.Task[None] | None:
        """Step `work`; None when that finished it, else the task that goes on with it. Not to be called in a task.

        Nobody may cancel the task after `work` ended: it may have other work then.
        """
        idle = self._idle
        while idle and idle[-1].task.done():
            idle.pop()
        if not idle:
            idle.append(_Carrier(self, self._loop, self._carriers))
        carrier = idle[-1]
        loop, task = self._loop, carrier.task
        _enter_task(loop, task)
        try:
            waits_for = carrier.context.run(work.send, None)
        except (StopIteration, asyncio.CancelledError):
            return None
        finally:
            _leave_task(loop, task)
        idle.pop()
        carrier.load.set_result((work, waits_for))
        return task

    def take_back(self, carrier: _Carrier) -> bool:
        """A carrier has done its work: shall it wait for more?"""
        if len(self._idle) >= self._kept or carrier.task.cancelling():
            return False
        carrier.load = self._loop.create_future()
        self._idle.append(carrier)
        return True

    def close(self) -> None:
        """End the sleeping tasks."""
        self._kept = 0
        for carrier in self._idle:
            carrier.task.cancel()
        self._idle.clear()


class _Carrier:
    """A task that sleeps until it is given a started coroutine and what that waits for."""

    __slots__ = ("_all", "_runner", "_taken", "context", "load", "task")

    def __init__(self, runner: EagerRunner, loop: asyncio.AbstractEventLoop, all_carriers: set[_Carrier]) -> None:
        self._runner = runner
        self._all = all_carriers  # so that nobody's task is lost to the garbage collector
        self._taken = False
        self.context: Context = copy_context()
        self.load: asyncio.Future[tuple[Work, Any]] = loop.create_future()
        self.task = loop.create_task(self._carry(), context=self.context)
        self.task.add_done_callback(self._finished)
        all_carriers.add(self)

    async def _carry(self) -> None:
        while True:
            cancelled: asyncio.CancelledError | None = None
            self._taken = False
            try:
                await self.load
            except asyncio.CancelledError as error:
                if not self.load.done() or self.load.cancelled():
                    raise
                cancelled = error  # it was meant for the work
            self._taken = True
            work, waits_for = self.load.result()
            await go_on(work, waits_for, cancelled)
            del work, waits_for
            if not self._runner.take_back(self):
                return

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._all.discard(self)
        if not self._taken and self.load.done() and not self.load.cancelled():
            self.load.result()[0].close()  # cancelled before the task ever ran


@coroutine
def go_on(work: Coroutine[Any, Any, T], waits_for: Any, error: BaseException | None = None) -> Generator[Any, Any, T]:
    """Carry on a coroutine that was stepped once and then waited. `error`: thrown in first. Returns its result."""
    try:
        while True:
            value = None
            if error is None:
                try:
                    value = yield waits_for
                except BaseException as thrown:  # whatever was thrown in is for the work to handle
                    error = thrown
            if error is None:
                waits_for = work.send(value)
            else:
                thrown_in, error = error, None
                waits_for = work.throw(thrown_in)
    except StopIteration as done:
        result: T = done.value
        return result
