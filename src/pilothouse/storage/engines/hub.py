"""Delivers what was written to those who watch it. Shared by the engines that live in this process.

The writer tells the hub of each commit, on the event loop, before it acknowledges the writes of it. So whoever was
told of a write finds that all watchers know of it.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections.abc import Callable, Sequence
from itertools import count

from pilothouse.storage.api import DeliverEvents, Ended, EngineEvent
from pilothouse.storage.dispatch import Dispatch
from pilothouse.storage.errors import StorageError, Unavailable

log = logging.getLogger("pilothouse.storage")


class HubSubscription:
    """One watch of a range. While history is still being read for it, what comes live waits in `_waiting`."""

    __slots__ = ("_attached", "_closed", "_deliver", "_ended", "_hub", "_since", "_waiting", "end", "previous", "start")

    def __init__(self, hub: Hub, start: str, end: str, deliver: DeliverEvents, ended: Ended, previous: bool) -> None:
        self.start = start
        self.end = end
        self.previous = previous
        self._hub = hub
        self._deliver = deliver
        self._ended = ended
        self._since = 0
        self._waiting: list[EngineEvent] | None = []
        self._closed = False
        self._attached = False

    @property
    def revision(self) -> int:
        return self._since if self._waiting is not None else max(self._since, self._hub.revision)

    @property
    def closed(self) -> bool:
        return self._closed

    def attach(self) -> None:
        """Begin to keep what comes, until `go_live`."""
        self._attached = True
        self._hub.attach(self)

    async def reach(self, revision: int) -> None:
        await self._hub.reach(revision)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._waiting = None
            if self._attached:
                self._hub.detach(self)

    def go_live(self, since: int) -> None:
        """History up to `since` has been delivered: deliver what waited, and from now on at once."""
        waiting, self._waiting = self._waiting, None
        self._since = since
        if waiting and not self._closed:
            self.receive(waiting)

    def replay(self, events: Sequence[EngineEvent]) -> None:
        """Deliver out of history, ahead of what waits."""
        if events and not self._closed:
            self._call(events)

    def receive(self, events: Sequence[EngineEvent]) -> None:
        if self._waiting is not None:
            self._waiting.extend(events)
        elif not self._closed:
            if events[0].revision <= self._since:
                events = [event for event in events if event.revision > self._since]
            if events:
                self._call(events)

    def _call(self, events: Sequence[EngineEvent]) -> None:
        try:
            self._deliver(events)
        except Exception:
            # A reader's bug must neither stop the writer nor be forgotten: this watch ends, the others go on.
            log.exception("a watch of %s failed to take its events", self.start)
            self.finish(StorageError("the watch could not take its events"))

    def finish(self, error: StorageError | None) -> None:
        if not self._closed:
            self.close()
            self._ended(error)


class Hub:
    """The watches of one engine. `revision`: everything up to it has been delivered. Lives on the event loop."""

    def __init__(self, revision: int) -> None:
        self.revision = revision
        self.wanting = 0  # how many watches need `previous`; the writer's thread reads it
        self._watches: Dispatch[HubSubscription] = Dispatch()
        self._waiters: list[tuple[int, int, asyncio.Future[None]]] = []
        self._order = count()

    def attach(self, subscription: HubSubscription) -> None:
        self._watches.add(subscription.start, subscription.end, subscription)
        self.wanting += subscription.previous

    def detach(self, subscription: HubSubscription) -> None:
        self._watches.remove(subscription.start, subscription.end, subscription)
        self.wanting -= subscription.previous

    def dispatch(self, events: Sequence[EngineEvent], revision: int) -> None:
        """Deliver the events of one commit; `revision` is that of its last write."""
        if events:
            self._watches.send(events, _receive)
        if revision > self.revision:
            self.revision = revision
        waiters = self._waiters
        while waiters and waiters[0][0] <= revision:
            future = heapq.heappop(waiters)[2]
            if not future.done():
                future.set_result(None)

    async def reach(self, revision: int) -> None:
        """Return once everything up to `revision` has been delivered."""
        if revision <= self.revision:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiters, (revision, next(self._order), future))
        await future

    def finish(self, error: StorageError | None) -> None:
        """End all watches, and those who wait for a revision."""
        for subscription in self._watches.all():
            subscription.finish(error)
        for _, _, future in self._waiters:
            if not future.done():
                future.set_exception(error or Unavailable("the store is closed"))
        self._waiters.clear()


_receive: Callable[[HubSubscription, Sequence[EngineEvent]], None] = HubSubscription.receive
