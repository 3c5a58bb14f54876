"""What an engine does beside its readers and writers: expiry of keys and the forgetting of history."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from pilothouse.storage.errors import StorageError

log = logging.getLogger("pilothouse.storage")

Now = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]


class Ages:
    """Remembers which revision was the newest when, so that history can be forgotten by age (seconds)."""

    def __init__(self, keep: float, marks: int = 10) -> None:
        self._keep = keep
        self._step = keep / marks
        self._marks: deque[tuple[float, int]] = deque()

    def target(self, now: float, revision: int) -> int:
        """Note that `revision` is the newest at `now`; the revision to compact to, 0 for none."""
        marks = self._marks
        if not marks or now - marks[-1][0] >= self._step:
            marks.append((now, revision))
        reached = 0
        while marks and now - marks[0][0] >= self._keep:
            reached = marks.popleft()[1]
        return reached


class Housekeeper:
    """Runs `work` every `interval` seconds until closed. A failure is logged and tried again the next time."""

    def __init__(self, work: Callable[[], Awaitable[None]], interval: float, sleep: Sleep = asyncio.sleep) -> None:
        self._work = work
        self._interval = interval
        self._sleep = sleep
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="storage-housekeeping")

    async def close(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        failing = False
        while True:
            await self._sleep(self._interval)
            try:
                await self._work()
                failing = False
            except StorageError as error:
                if not failing:  # once, not every second of a full disk
                    log.warning("housekeeping of the store failed, and will be tried again: %s", error)
                failing = True
            except Exception:
                log.exception("housekeeping of the store failed, and will be tried again")
