"""The garbage collector as a controller: graph, watches, workers, and a look at what is served now and then."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from pilothouse.controllers.client import Refusal
from pilothouse.controllers.clock import sleep
from pilothouse.controllers.context import Context
from pilothouse.controllers.events import Recorder
from pilothouse.controllers.gc.collector import Collector
from pilothouse.controllers.gc.graph import Graph
from pilothouse.controllers.gc.monitors import Monitors
from pilothouse.controllers.gc.owners import OwnerCheck
from pilothouse.controllers.tasks import together
from pilothouse.controllers.workqueue import WorkQueue, work

IDENTITY: Final = "generic-garbage-collector"
_QUEUE: Final = "garbage_collector_attempt_to"
_COMPONENT: Final = "garbage-collector-controller"
_WORKERS: Final = 8
_LETTING_GO: Final = 2
_FIRST_LISTS: Final = 30.0  # seconds to wait for them
_LAG: Final = 5.0  # seconds to wait for watches that are behind
_LOOK_ANEW: Final = 30.0  # seconds between looks at what is served
_SOON: Final = (
    0.1,
    0.4,
    1.0,
    2.5,
    6.0,
)  # pauses between looks after a definition changed: serving follows it shortly after
_log = logging.getLogger(__name__)


class GarbageCollector:
    """`run` until it is cancelled. Everything it knows it learns anew each time."""

    def __init__(self, context: Context) -> None:
        self._clock = context.clock
        client = context.client(IDENTITY)
        self._queue: WorkQueue[str] = WorkQueue(context.clock, f"{_QUEUE}_delete", context.queues)
        self._orphans: WorkQueue[str] = WorkQueue(context.clock, f"{_QUEUE}_orphan", context.queues)
        self.graph = Graph(self._queue.add, self._orphans.add)
        self._discovery = context.discovery
        owners = OwnerCheck(client, self._discovery, self.graph, Recorder(client, _COMPONENT, context.clock))
        self._collector = Collector(client, self.graph, owners, self._queue, self._caught_up)
        self._changed = asyncio.Event()
        self._monitors = Monitors(
            client, self.graph, context.clock, context.random, self._collector.gone, self._changed.set
        )

    async def run(self) -> None:
        try:
            await self._monitors.sync(await self._discovery.catalog())
            await self._monitors.synced(_FIRST_LISTS)
            lookers = [work(self._queue, self._collector.look, "garbage collection of") for _ in range(_WORKERS)]
            orphaners = [work(self._orphans, self._collector.let_go, "orphaning of") for _ in range(_LETTING_GO)]
            await together(*lookers, *orphaners, self._follow_kinds())
        finally:
            self._queue.close()
            self._orphans.close()
            await self._monitors.stop()

    async def _caught_up(self) -> None:
        """The watches of an extension server may lag for ever, and must not hold up all others."""
        if not await self._monitors.caught_up(_LAG):
            _log.warning("garbage collection goes on without what some watches have not told yet")

    async def _follow_kinds(self) -> None:
        """Watch what is served, and what is not any more."""
        while True:
            timer = self._clock.call_later(_LOOK_ANEW, self._changed.set)
            try:
                await self._changed.wait()
            finally:
                timer.cancel()
            self._changed.clear()
            for pause in _SOON:
                await sleep(self._clock, pause)
                try:
                    await self._monitors.sync(await self._discovery.catalog())
                except Refusal as refusal:
                    _log.warning("what is served cannot be told: %s", refusal)
