"""Owners of tasks: what is started here ends with its owner, and what fails is started again, later and later."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

from pilothouse.controllers.clock import Backoff, Clock, sleep

_FIRST: Final = 0.5  # seconds until a failed task is started again
_LONGEST: Final = 60.0
_log = logging.getLogger(__name__)


class TaskOwner:
    """Tasks with names. `stop` ends all of them and waits for their end."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, name: str, run: Callable[[], Awaitable[None]]) -> None:
        """Run for ever: begin anew when it ends in an error. A name that is running is not started twice."""
        if name not in self._tasks:
            self._tasks[name] = asyncio.get_running_loop().create_task(self._keep(name, run), name=name)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._tasks)

    async def end(self, name: str) -> None:
        task = self._tasks.pop(name, None)
        if task is not None:
            await _end([task])

    async def stop(self) -> None:
        tasks = list(self._tasks.values())
        self._tasks.clear()
        await _end(tasks)

    async def _keep(self, name: str, run: Callable[[], Awaitable[None]]) -> None:
        pauses = Backoff(_FIRST, _LONGEST)
        while True:
            began = self._clock.now()
            try:
                await run()
                return
            except Exception:
                _log.exception("%s failed and will be started again", name)
            if self._clock.now() - began > _LONGEST:
                pauses.reset()
            await sleep(self._clock, pauses.take())


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def together(*parts: Coroutine[Any, Any, None]) -> None:
    """Run all until one fails or all have ended; then the others are ended too. Raises the first error by itself."""
    try:
        async with asyncio.TaskGroup() as group:
            for part in parts:
                group.create_task(part)
    except* Exception as errors:
        raise _first(errors) from None


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
