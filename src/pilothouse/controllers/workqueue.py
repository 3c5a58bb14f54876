"""The keys a controller still has to look at: each once, never two workers on one, failures later and later."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

from pilothouse.controllers.client import Refusal
from pilothouse.controllers.clock import Clock, Timer
from pilothouse.controllers.queuemetrics import QueueMetrics

K = TypeVar("K")
FIRST_PAUSE: Final = 0.005  # seconds before a failed key is tried again; doubles with each failure
LONGEST_PAUSE: Final = 60.0
_MOST_DOUBLINGS: Final = 30
_log = logging.getLogger(__name__)


class Later(Exception):
    """Nothing is wrong, but it cannot be done yet. `seconds`: try again then; None: later and later."""

    def __init__(self, why: str, seconds: float | None = None) -> None:
        super().__init__(why)
        self.seconds = seconds


class WorkQueue(Generic[K]):
    """Keys are anything hashable. A key that is added while it is worked on is given out again afterwards.

    `name`: in `metrics`.
    """

    def __init__(
        self,
        clock: Clock,
        name: str = "",
        metrics: QueueMetrics | None = None,
        *,
        first: float = FIRST_PAUSE,
        longest: float = LONGEST_PAUSE,
    ) -> None:
        self._clock = clock
        self._first = first
        self._longest = longest
        self._ready: deque[K] = deque()
        self._waiting: dict[K, float] = {}  # in `_ready`, or to be given out again when done; since when
        self._working: dict[K, float] = {}  # since when
        self._later: dict[K, tuple[float, Timer]] = {}
        self._failures: dict[K, int] = {}
        self._takers: deque[asyncio.Future[None]] = deque()
        self._metrics = (metrics or QueueMetrics()).of(name, self)

    @property
    def depth(self) -> int:
        """Keys that wait to be worked on."""
        return len(self._ready)

    def running(self) -> list[float]:
        """For how many seconds each key has been worked on."""
        now = self._clock.now()
        return [now - since for since in list(self._working.values())]

    def __len__(self) -> int:
        """Keys that are waiting, worked on or due later."""
        return len(self._waiting.keys() | self._working.keys() | self._later.keys())

    def add(self, key: K) -> None:
        """Now."""
        if key in self._waiting:
            return
        self._drop_timer(key)
        self._waiting[key] = self._clock.now()
        self._metrics.adds.value += 1
        if key not in self._working:
            self._ready.append(key)
            self._wake()

    def add_after(self, key: K, seconds: float) -> None:
        """In a while, or earlier if it is due earlier already."""
        if seconds <= 0:
            self.add(key)
            return
        if key in self._waiting:
            return
        due = self._clock.now() + seconds
        planned = self._later.get(key)
        if planned is not None:
            if planned[0] <= due:
                return
            planned[1].cancel()
        self._later[key] = due, self._clock.call_later(seconds, lambda: self._due(key))

    def retry(self, key: K, at_least: float = 0.0) -> None:
        """After a failure: the pause grows with each until `forget`."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        self._metrics.retries.value += 1
        pause = min(self._first * 2.0 ** min(failures, _MOST_DOUBLINGS), self._longest)
        self.add_after(key, max(pause, at_least))

    def forget(self, key: K) -> None:
        """It went well: the next failure is the first again."""
        self._failures.pop(key, None)

    async def get(self) -> K:
        """The next key; tell `done` when it has been worked on."""
        while not self._ready:
            taker: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._takers.append(taker)
            try:
                await taker
            except asyncio.CancelledError:
                if taker.done() and not taker.cancelled():
                    self._wake()  # the call was for us: pass it on
                raise
        key = self._ready.popleft()
        now = self._clock.now()
        self._metrics.queued(now - self._waiting.pop(key, now))
        self._working[key] = now
        return key

    def done(self, key: K) -> None:
        began = self._working.pop(key, None)
        if began is not None:
            self._metrics.worked(self._clock.now() - began)
        if key in self._waiting:
            self._ready.append(key)
            self._wake()

    def close(self) -> None:
        """Stop the timers."""
        for _, timer in self._later.values():
            timer.cancel()
        self._later.clear()

    def _due(self, key: K) -> None:
        self._later.pop(key, None)
        self.add(key)

    def _drop_timer(self, key: K) -> None:
        planned = self._later.pop(key, None)
        if planned is not None:
            planned[1].cancel()

    def _wake(self) -> None:
        while self._takers:
            taker = self._takers.popleft()
            if not taker.done():
                taker.set_result(None)
                return


async def work(queue: WorkQueue[K], handle: Callable[[K], Awaitable[None]], what: str) -> None:
    """Handle keys one after the other, for ever. What fails is tried again later; `what` names it in the log."""
    while True:
        key = await queue.get()
        try:
            await handle(key)
        except Later as later:
            _log.debug("%s %s waits: %s", what, key, later)
            if later.seconds is None:
                queue.retry(key)
            else:
                queue.add_after(key, later.seconds)
        except Refusal as refusal:
            _log.log(logging.DEBUG if refusal.conflict else logging.INFO, "%s %s: %s", what, key, refusal)
            queue.retry(key, refusal.retry_after)
        except Exception:
            _log.exception("%s %s failed", what, key)
            queue.retry(key)
        else:
            queue.forget(key)
        finally:
            queue.done(key)
