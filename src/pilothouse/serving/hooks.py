"""Post-start hooks: named steps that run once the server answers. Readiness waits for all of them.

A step that fails is tried again, later each time, and its check fails meanwhile: a store that is slow to come must not
end the server. Steps run side by side; one that needs another says so with `done`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from pilothouse.serving.health import Check, CheckFailed

Step = Callable[[], Awaitable[None]]
PREFIX: Final = "poststarthook/"
_FIRST_PAUSE: Final = 0.1  # seconds until a failed step is tried again
_LONGEST_PAUSE: Final = 5.0
_log = logging.getLogger(__name__)


class Hooks:
    """The steps of one server. `names`: all there may be, in the order in which their checks are shown."""

    def __init__(self, names: Sequence[str]) -> None:
        self._steps: dict[str, list[Step]] = {name: [] for name in names}
        self._done: dict[str, asyncio.Event] = {name: asyncio.Event() for name in names}
        self._tasks: list[asyncio.Task[None]] = []
        self._ends: list[Step] = []

    def at_end(self, step: Step) -> None:
        """Do this when the server stops, after the last request; the last one given comes first."""
        self._ends.append(step)

    def add(self, name: str, step: Step) -> None:
        """Do `step` under this name; several of one name run in turn. Raises KeyError for an unknown name."""
        self._steps[name].append(step)

    def finished(self, name: str) -> bool:
        return self._done[name].is_set()

    def all_finished(self, *names: str) -> Callable[[], bool]:
        """A question for hot paths: whether all of these are through. Once they are, they stay so."""
        waited_for = [self._done[name] for name in names]

        def finished() -> bool:
            while waited_for and waited_for[-1].is_set():
                waited_for.pop()
            return not waited_for

        return finished

    async def done(self, name: str) -> None:
        """Wait until the hook is through."""
        await self._done[name].wait()

    def checks(self, late: frozenset[str] = frozenset()) -> list[Check]:
        """One check for each name. `late`: those that liveness forgives while its grace period runs."""
        return [Check(PREFIX + name, self._probe(name), name in late, self._done[name].is_set) for name in self._steps]

    def _probe(self, name: str) -> Step:
        done = self._done[name]

        async def probe() -> None:
            if not done.is_set():
                raise CheckFailed("not finished")

        return probe

    async def start(self) -> None:
        """Run everything; returns when the last hook is through."""
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._run(name), name=f"hook {name}") for name in self._steps]
        await asyncio.gather(*self._tasks)

    async def _run(self, name: str) -> None:
        for step in self._steps[name]:
            await _until_it_works(name, step)
        self._done[name].set()

    async def stop(self) -> None:
        """Give up what still runs, then end what was begun."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for step in reversed(self._ends):
            try:
                await step()
            except Exception:
                _log.exception("a step of the shutdown failed")


async def _until_it_works(name: str, step: Step) -> None:
    pause = _FIRST_PAUSE
    while True:
        try:
            await step()
        except Exception:
            _log.exception("hook %s failed; next try in %.1f s", name, pause)
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        else:
            return
