"""Runs coroutines from the callbacks of the loop: at once, and on from each wait, without a task's own turns.

Most requests are answered without a single wait, and most others wait once: a task for each would cost a tenth of the
edge, and its turns half of what it costs to pass a request on. A coroutine may still use whatever needs a current task
(asyncio.timeout, task groups): while it is stepped, the current task is a real one that sleeps. To cancel that task
wakes it, and it carries the coroutine on from there. Python 3.12 has eager tasks, 3.11 none.
"""

from __future__ import annotations

import asyncio
from asyncio.tasks import _enter_task, _leave_task  # documented for other task implementations ("Extending asyncio")
from collections.abc import Coroutine, Generator
from contextvars import copy_context
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
        """Step `work`; None when that finished it, else its task, which may be cancelled. Not to be called in a task.

        Nobody may cancel the task after `work` ended: it may have other work then.
        """
        idle = self._idle
        while idle and idle[-1].task.done():
            idle.pop()
        if not idle:
            idle.append(_Carrier(self, self._loop, self._carriers))
        carrier = idle[-1]
        if carrier.begin(work):
            return None
        idle.pop()
        return carrier.task

    def take_back(self, carrier: _Carrier) -> bool:
        """A carrier has done its work: shall it wait for more?"""
        if len(self._idle) >= self._kept or carrier.task.cancelling():
            return False
        self._idle.append(carrier)
        return True

    def close(self) -> None:
        """End the sleeping tasks."""
        self._kept = 0
        for carrier in self._idle:
            carrier.task.cancel()
        self._idle.clear()


class _Carrier:
    """Steps one coroutine after another in the name of a task, which sleeps unless it is cancelled."""

    __slots__ = ("_all", "_context", "_handle", "_loop", "_runner", "_sleep", "_waits_for", "_work", "task")

    def __init__(self, runner: EagerRunner, loop: asyncio.AbstractEventLoop, all_carriers: set[_Carrier]) -> None:
        self._runner = runner
        self._loop = loop
        self._all = all_carriers  # so that nobody's task is lost to the garbage collector
        self._context = copy_context()
        self._work: Work | None = None  # while it is carried from callbacks, and waits
        self._waits_for: asyncio.Future[Any] | None = None  # None: only for its next turn, by `_handle`
        self._handle: asyncio.Handle | None = None
        self._sleep: asyncio.Future[None] = loop.create_future()  # ends when the task shall
        watch = self._watch()
        watch.send(None)  # begun: a task that is cancelled before its first turn must still tell the work
        self.task = loop.create_task(watch, context=self._context)
        self.task.add_done_callback(self._finished)
        all_carriers.add(self)

    def begin(self, work: Work) -> bool:
        """Step `work` for the first time. Did that end it?"""
        loop, task = self._loop, self.task
        _enter_task(loop, task)
        try:
            waits_for = self._context.run(work.send, None)
        except (StopIteration, asyncio.CancelledError):
            return True
        finally:
            _leave_task(loop, task)
        self._work = work
        self._wait(waits_for)
        return False

    def _wait(self, waits_for: asyncio.Future[Any] | None) -> None:
        self._waits_for = waits_for
        if waits_for is None:
            self._handle = self._loop.call_soon(self._resume, None, context=self._context)
        else:
            waits_for._asyncio_future_blocking = False  # it was heard, as a task would
            waits_for.add_done_callback(self._resume, context=self._context)

    def _resume(self, _: object) -> None:
        """What was waited for is there."""
        work = self._work
        if work is None:
            return
        loop, task = self._loop, self.task
        _enter_task(loop, task)
        try:
            waits_for = work.send(None)
        except (StopIteration, asyncio.CancelledError):
            self._work = self._waits_for = None
            if not self._runner.take_back(self) and not self._sleep.done():
                self._sleep.set_result(None)
            return
        finally:
            _leave_task(loop, task)
        self._wait(waits_for)

    async def _watch(self) -> None:
        """Sleep; once cancelled, carry on in the task itself what is carried."""
        begun = False
        while True:
            try:
                if not begun:
                    begun = True
                    await one_turn()
                await self._sleep
            except asyncio.CancelledError as error:
                work, waits_for, self._work = self._work, self._waits_for, None
                if work is None:
                    raise
                await self._cancelled(work, waits_for, error)
            else:
                return
            self._sleep = self._loop.create_future()
            if not self._runner.take_back(self):
                return

    async def _cancelled(
        self, work: Work, waits_for: asyncio.Future[Any] | None, error: asyncio.CancelledError
    ) -> None:
        if waits_for is None:
            assert self._handle is not None
            self._handle.cancel()
        else:
            waits_for.remove_done_callback(self._resume)
            if waits_for.cancel():  # it tells the work itself, and what else depends on it
                waits_for._asyncio_future_blocking = True
                await go_on(work, waits_for)
                return
        await go_on(work, waits_for, error)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._all.discard(self)


@coroutine
def one_turn() -> Generator[None, None, None]:
    """Wait for the next turn of whoever steps the coroutine."""
    yield


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
