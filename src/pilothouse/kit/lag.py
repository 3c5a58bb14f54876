"""Tells when the loop was blocked: a timer that fires late was kept waiting by something that held the loop.

In production a warning; in tests the list of lags is looked at, and a test fails.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

log = logging.getLogger("pilothouse.lag")


class LagWatch:
    """Measures how late timers fire on a running loop.

    `interval`: seconds between looks; a block shorter than that may pass unseen. `limit`: seconds of lateness that are
    reported, to `report` (seconds late); by default a line in the log.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        interval: float = 0.1,
        limit: float = 0.05,
        report: Callable[[float], None] | None = None,
    ) -> None:
        self._loop = loop
        self._interval = interval
        self._limit = limit
        self._report = report or _warn
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.worst = 0.0  # seconds; the greatest lateness so far

    def start(self) -> None:
        self._due = self._loop.time() + self._interval
        self._timer = self._loop.call_later(self._interval, self._look)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        late = self._loop.time() - self._due
        self.worst = max(self.worst, late)
        if late > self._limit:
            self._report(late)
        self.start()


def _warn(late: float) -> None:
    log.warning("the event loop was blocked for %d ms", round(late * 1000))
