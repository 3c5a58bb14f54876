"""The engine that keeps everything in this process: for tests and for servers that need to remember nothing."""

from __future__ import annotations

import asyncio
import heapq
import time
from collections import deque
from collections.abc import Iterator

from sortedcontainers import SortedDict

from pilothouse.storage.api import FIRST_REVISION, DeliverEvents, Ended, EngineEvent, KeyValue, Outcome, Range
from pilothouse.storage.engines.housekeeping import Ages, Housekeeper, Now, Sleep
from pilothouse.storage.engines.hub import Hub, HubSubscription
from pilothouse.storage.engines.slices import slice_of
from pilothouse.storage.errors import Compacted, TooLarge, Unavailable, ValueTooLarge


class MemoryEngine:
    """An `Engine` in dictionaries. `keep_history` in seconds; `start()` begins expiry and compaction."""

    shared = False

    def __init__(
        self,
        *,
        now: Now = time.time,
        sleep: Sleep = asyncio.sleep,
        keep_history: float = 300.0,
        max_value: int = 1_572_864,
        interval: float = 1.0,
    ) -> None:
        self._now = now
        self._max_value = max_value
        self._current: SortedDict[str, KeyValue] = SortedDict()
        self._log: deque[EngineEvent] = deque()
        self._compacted = FIRST_REVISION
        self._revision = FIRST_REVISION
        self._hub = Hub(FIRST_REVISION)
        self._expiry: list[tuple[float, int, str]] = []
        self._ages = Ages(keep_history)
        self._housekeeper = Housekeeper(self.housekeep, interval, sleep)
        self._closed = False

    def start(self) -> None:
        self._housekeeper.start()

    async def range(self, start: str, end: str, *, limit: int = 0, revision: int = 0) -> Range:
        self._open()
        if revision > self._revision:
            raise TooLarge(revision, self._revision)
        if revision and revision < self._compacted:
            raise Compacted(revision, self._compacted)
        undone = self._undone(start, end, revision or self._revision)
        found, count = slice_of(self._current, start, end, limit, undone)
        return Range([item for _, item in found], count, self._revision)

    def _undone(self, start: str, end: str, revision: int) -> dict[str, KeyValue | None]:
        """What stood at `revision` for the keys that changed since."""
        undone: dict[str, KeyValue | None] = {}
        for event in reversed(self._log):
            if event.revision <= revision:
                break
            if start <= event.key < end:
                undone[event.key] = event.previous
        return undone

    async def put_if(self, key: str, value: bytes, expected: int, *, ttl: float | None = None) -> Outcome:
        self._open()
        if len(value) > self._max_value:
            raise ValueTooLarge(f"{key}: {len(value)} bytes, at most {self._max_value} can be stored")
        previous = self._current.get(key)
        if (previous.revision if previous is not None else 0) != expected:
            return Outcome(False, self._revision, previous)
        self._revision += 1
        self._current[key] = KeyValue(key, value, self._revision)
        if ttl is not None:
            heapq.heappush(self._expiry, (self._now() + ttl, self._revision, key))
        self._written(EngineEvent(key, value, previous, self._revision))
        return Outcome(True, self._revision)

    async def delete_if(self, key: str, expected: int) -> Outcome:
        self._open()
        previous = self._current.get(key)
        if previous is None or previous.revision != expected:
            return Outcome(False, self._revision, previous)
        self._revision += 1
        del self._current[key]
        self._written(EngineEvent(key, None, previous, self._revision))
        return Outcome(True, self._revision, previous)

    def _written(self, event: EngineEvent) -> None:
        self._log.append(event)
        self._hub.dispatch((event,), event.revision)

    async def watch(
        self, start: str, end: str, since: int, deliver: DeliverEvents, ended: Ended, *, previous: bool = True
    ) -> HubSubscription:
        self._open()
        if since < self._compacted:
            raise Compacted(since, self._compacted)
        subscription = HubSubscription(self._hub, start, end, deliver, ended, previous)
        subscription.attach()
        subscription.replay(list(self._history(start, end, since)))
        subscription.go_live(max(since, self._revision))
        return subscription

    def _history(self, start: str, end: str, since: int) -> Iterator[EngineEvent]:
        if since < self._revision:
            for event in self._log:
                if event.revision > since and start <= event.key < end:
                    yield event

    async def revision(self) -> int:
        self._open()
        return self._revision

    async def compact(self, revision: int) -> None:
        self._open()
        if revision > self._revision:
            raise TooLarge(revision, self._revision)
        self._compacted = max(self._compacted, revision)
        while self._log and self._log[0].revision <= self._compacted:
            self._log.popleft()

    async def housekeep(self) -> None:
        """Delete what has expired and forget history that is old enough."""
        now = self._now()
        while self._expiry and self._expiry[0][0] <= now:
            _, revision, key = heapq.heappop(self._expiry)
            await self.delete_if(key, revision)
        target = self._ages.target(now, self._revision)
        if target:
            await self.compact(target)

    async def close(self) -> None:
        if not self._closed:
            await self._housekeeper.close()
            self._closed = True
            self._hub.finish(None)

    def _open(self) -> None:
        if self._closed:
            raise Unavailable("the store is closed")
