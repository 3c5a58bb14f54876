"""A clock that tests move by hand."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class _Call:
    def __init__(self, call: Callable[[], None]) -> None:
        self.call: Callable[[], None] | None = call

    def cancel(self) -> None:
        self.call = None


class ManualClock:
    def __init__(self) -> None:
        self._now = 0.0
        self._calls: list[tuple[float, int, _Call]] = []
        self._order = itertools.count()

    def now(self) -> float:
        return self._now

    def moment(self) -> datetime:
        return datetime(2026, 11, 29, tzinfo=UTC) + timedelta(seconds=self._now)

    def call_later(self, seconds: float, call: Callable[[], None]) -> _Call:
        planned = _Call(call)
        heapq.heappush(self._calls, (self._now + seconds, next(self._order), planned))
        return planned

    def due(self) -> list[float]:
        """When calls are planned, from now."""
        return sorted(when - self._now for when, _, planned in self._calls if planned.call is not None)

    def advance(self, seconds: float) -> None:
        until = self._now + seconds
        while self._calls and self._calls[0][0] <= until:
            self._now, _, planned = heapq.heappop(self._calls)
            if planned.call is not None:
                planned.call()
        self._now = until
