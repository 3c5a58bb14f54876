"""Reflects a collection: lists it once, then follows its changes; after a gap that cannot be filled it lists anew.

Everything a controller knows comes through here, so a restart needs nothing but the server.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from pilothouse.controllers.client import JSON, METADATA, METADATA_LIST, LoopbackClient, Refusal, refusal_of
from pilothouse.controllers.clock import Backoff, Clock, sleep
from pilothouse.controllers.streams import Event, Object, Watch
from pilothouse.kit.record import record

PAGE: Final = 500  # objects of one page of a list
_SHORTEST_WATCH: Final = 300  # seconds; up to twice that, so that they do not all end together
_FIRST_PAUSE: Final = 0.2
_LONGEST_PAUSE: Final = 30.0
_log = logging.getLogger(__name__)


class Sink(Protocol):
    """What is told of a collection. A list is `begin`, a `put` for each object, `end`: what was not put is gone."""

    def begin(self) -> None: ...

    def put(self, obj: Object) -> None: ...

    def remove(self, obj: Object) -> None: ...

    def end(self) -> None: ...


@record
class Source:
    """A collection: its path, and which objects of it. `metadata`: only their metadata. `gather`: seconds for which
    changes may be held back to be dealt with together.
    """

    path: str
    field_selector: str = ""
    metadata: bool = True
    gather: float = 0.0

    def parameters(self) -> dict[str, str]:
        return {"fieldSelector": self.field_selector} if self.field_selector else {}


class Reflector:
    """One collection followed. `random`: 0 to 1."""

    def __init__(
        self, client: LoopbackClient, source: Source, sink: Sink, clock: Clock, random: Callable[[], float]
    ) -> None:
        self._client = client
        self._source = source
        self._sink = sink
        self._clock = clock
        self._random = random
        self._pauses = Backoff(_FIRST_PAUSE, _LONGEST_PAUSE)
        self._revision = ""
        self._running: Watch | None = None
        self._following = asyncio.Event()  # set while `_running` is
        self.synced = asyncio.Event()  # the first list is in the sink

    async def run(self) -> None:
        """For ever."""
        while True:
            try:
                if not self._revision:
                    await self._list()
                await self._watch()
            except Refusal as refusal:
                if refusal.code == 410:
                    self._revision = ""
                    continue
                _log.log(
                    logging.WARNING if refusal.code == 403 else logging.DEBUG, "%s: %s", self._source.path, refusal
                )
                await sleep(self._clock, max(self._pauses.take(), refusal.retry_after))

    async def caught_up(self) -> None:
        """Until the sink has what the watch told by now: every answered write, over a store of this process."""
        while True:
            await self._following.wait()
            watch = self._running
            if watch is not None:
                await watch.emptied()
                if watch is self._running:
                    return

    async def read_out(self) -> None:
        """Until what the running watch has told by now is in the sink; at once where none runs."""
        if self._running is not None:
            await self._running.emptied()

    async def _list(self) -> None:
        client, source, sink = self._client, self._source, self._sink
        accept = METADATA_LIST if source.metadata else JSON
        parameters = {**source.parameters(), "limit": str(PAGE)}
        sink.begin()
        while True:
            page = await client.get(source.path, parameters, accept)
            for obj in page.get("items") or ():
                sink.put(obj)
            metadata = page.get("metadata") or {}
            if not metadata.get("continue"):
                break
            parameters["continue"] = metadata["continue"]
        sink.end()
        self._revision = metadata["resourceVersion"]
        self.synced.set()

    async def _watch(self) -> None:
        seconds = int(_SHORTEST_WATCH * (1.0 + self._random()))
        parameters = {
            **self._source.parameters(),
            "resourceVersion": self._revision,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(seconds),
        }
        began = self._clock.now()
        source, clock = self._source, self._clock
        later = partial(clock.call_later, source.gather) if source.gather else None
        watch = await self._client.watch(source.path, parameters, METADATA if source.metadata else JSON, later)
        try:
            await asyncio.sleep(0)  # it begins in its own task
            self._running = watch
            self._following.set()
            async for events in watch.batches():
                self._pauses.reset()
                for event in events:
                    self._take(event)
        finally:
            self._running = None
            self._following.clear()
            await watch.close()
        if self._clock.now() - began < 1.0:  # a server that ends watches at once shall not be asked in a loop
            await sleep(self._clock, self._pauses.take())

    def _take(self, event: Event) -> None:
        kind, obj = event
        if kind == "ERROR":
            raise refusal_of(obj)
        if kind == "DELETED":
            self._sink.remove(obj)
        elif kind != "BOOKMARK":
            self._sink.put(obj)
        self._revision = obj["metadata"]["resourceVersion"]
