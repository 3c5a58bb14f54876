"""An engine that others write to as well: its events come late, as those of a database across a network do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pilothouse.storage.api import DeliverEvents, Ended, EngineEvent, Outcome, Range
from pilothouse.storage.engines.hub import HubSubscription
from pilothouse.storage.engines.memory import MemoryEngine
from pilothouse.storage.errors import Compacted


class LateSubscription:
    """Holds events back until the engine lets them go."""

    def __init__(self, engine: LaggingEngine, since: int, deliver: DeliverEvents) -> None:
        self._engine = engine
        self._deliver = deliver
        self._held: list[EngineEvent] = []
        self._moved = asyncio.Event()
        self._reached = since
        self.inner: HubSubscription | None = None

    def hold(self, events: Sequence[EngineEvent]) -> None:
        self._held.extend(events)
        if not self._engine.held:
            self.let_go()

    def let_go(self) -> None:
        events, self._held = self._held, []
        if events:
            self._deliver(events)
        if self.inner is not None:
            self._reached = self.inner.revision
        self._moved.set()

    @property
    def revision(self) -> int:
        return self._reached

    async def reach(self, revision: int) -> None:
        while self._reached < revision:
            self._moved.clear()
            if not self._engine.held:
                self.let_go()
                continue
            await self._moved.wait()

    def close(self) -> None:
        if self.inner is not None:
            self.inner.close()


class LaggingEngine:
    """`held`: whether events wait. `inner` is the database that the others use."""

    shared = True

    def __init__(self) -> None:
        self.inner = MemoryEngine()
        self.held = False
        self.reads = 0
        self._subscriptions: list[LateSubscription] = []
        self._ends: list[Ended] = []

    def let_go(self) -> None:
        self.held = False
        for subscription in self._subscriptions:
            subscription.let_go()

    def break_watches(self) -> None:
        """What a database does that has forgotten what a watch would need."""
        ends, self._ends = self._ends, []
        for subscription in self._subscriptions:
            subscription.close()
        self._subscriptions.clear()
        for ended in ends:
            ended(Compacted(1, 2))

    async def range(self, start: str, end: str, *, limit: int = 0, revision: int = 0) -> Range:
        self.reads += 1
        return await self.inner.range(start, end, limit=limit, revision=revision)

    async def put_if(self, key: str, value: bytes, expected: int, *, ttl: float | None = None) -> Outcome:
        return await self.inner.put_if(key, value, expected, ttl=ttl)

    async def delete_if(self, key: str, expected: int) -> Outcome:
        return await self.inner.delete_if(key, expected)

    async def watch(
        self, start: str, end: str, since: int, deliver: DeliverEvents, ended: Ended, *, previous: bool = True
    ) -> LateSubscription:
        subscription = LateSubscription(self, since, deliver)
        subscription.inner = await self.inner.watch(start, end, since, subscription.hold, ended, previous=previous)
        self._subscriptions.append(subscription)
        self._ends.append(ended)
        return subscription

    async def revision(self) -> int:
        return await self.inner.revision()

    async def compact(self, revision: int) -> None:
        await self.inner.compact(revision)

    async def close(self) -> None:
        await self.inner.close()
