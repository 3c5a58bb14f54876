"""The `Storage` that asks its engine for everything: no memory, so no cost for what is seldom read (events, leases)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pilothouse.kit.turns import accepted
from pilothouse.storage.api import (
    Change,
    Check,
    Deliver,
    Ended,
    Engine,
    EngineEvent,
    EngineSubscription,
    KeyValue,
    ListRequest,
    Page,
    Range,
    Read,
    StoredObject,
    Subscription,
    Transform,
    prefix_end,
)
from pilothouse.storage.errors import NotFound, TooLarge
from pilothouse.storage.writes import delete_object, update_object, write_new

FIRST_CHUNK = 500  # keys read at once for a page whose objects must be asked one by one
CHUNK = 2000  # keys read at once where all are wanted
LONGEST_PAUSE = 0.1


class EngineStorage:
    """Straight over an engine. `wait`: seconds to wait for a revision of the future."""

    def __init__(self, engine: Engine, prefix: str, *, wait: float = 3.0) -> None:
        self._engine = engine
        self._prefix = prefix
        self._wait = wait

    @property
    def prefix(self) -> str:
        return self._prefix

    async def get(self, key: str, read: Read = Read.LATEST, revision: int = 0) -> StoredObject:
        found = await self._range(key, key + "\0", read, revision, 1)
        if not found.items:
            raise NotFound(key)
        return stored(found.items[0])

    async def list(self, request: ListRequest) -> Page:
        end = prefix_end(request.prefix)
        start = max(request.prefix, request.after or "")
        if request.limit and request.accept is None:
            return await self._page(request, start, end)
        return await self._chosen(request, start, end)

    async def _page(self, request: ListRequest, start: str, end: str) -> Page:
        """So many objects as asked for, whatever they are."""
        found = await self._range(start, end, request.read, request.revision, request.limit)
        items = [stored(item) for item in found.items]
        at = request.revision if request.read is Read.EXACT else found.revision
        if found.count <= len(items):
            return Page(items, at)
        return Page(items, at, found.items[-1].key + "\0", found.count - len(items))

    async def _chosen(self, request: ListRequest, start: str, end: str) -> Page:
        """A page of accepted objects only, or all of them. Reads on, at the revision of the first read, in chunks: so
        the loop has its turns, however many there are.
        """
        accept, limit = request.accept or _any, request.limit
        chunk = max(limit, FIRST_CHUNK) if limit else CHUNK
        items: list[StoredObject] = []
        found = await self._range(start, end, request.read, request.revision, chunk)
        at = request.revision if request.read is Read.EXACT else found.revision
        while True:
            chosen, looked = await accepted(map(stored, found.items), accept, limit - len(items) if limit else 0)
            items += chosen
            if limit and len(items) == limit:
                return Page(items, at, chosen[-1].key + "\0" if found.count > looked else None)
            if found.count <= len(found.items):
                return Page(items, at)
            start = found.items[-1].key + "\0"
            found = await self._engine.range(start, end, limit=chunk, revision=at)

    async def _range(self, start: str, end: str, read: Read, revision: int, limit: int) -> Range:
        if read is Read.AT_LEAST:
            await self._wait_for(revision)
        if read is not Read.EXACT:
            return await self._engine.range(start, end, limit=limit)
        try:
            return await self._engine.range(start, end, limit=limit, revision=revision)
        except TooLarge:
            await self._wait_for(revision)
            return await self._engine.range(start, end, limit=limit, revision=revision)

    async def _wait_for(self, revision: int) -> None:
        """Return once the store has come to `revision`. Raises TooLarge."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._wait
        pause = 0.005
        while (current := await self._engine.revision()) < revision:
            left = deadline - loop.time()
            if left <= 0:
                raise TooLarge(revision, current)
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 2, LONGEST_PAUSE)

    async def create(self, key: str, value: bytes, ttl: float | None = None) -> StoredObject:
        revision = await write_new(self._engine, key, value, ttl)
        return StoredObject(key, value, revision)

    async def update(self, key: str, transform: Transform, *, ttl: float | None = None) -> StoredObject:
        return await update_object(self._engine, key, await self._current(key), transform, ttl, stored)

    async def delete(self, key: str, check: Check | None = None) -> tuple[StoredObject, int]:
        return await delete_object(self._engine, key, await self._current(key), check, stored)

    async def _current(self, key: str) -> StoredObject | None:
        found = await self._engine.range(key, key + "\0", limit=1)
        return stored(found.items[0]) if found.items else None

    async def watch(self, prefix: str, since: int, deliver: Deliver, ended: Ended) -> Subscription:
        return await watch_engine(self._engine, prefix, since, deliver, ended)

    async def revision(self) -> int:
        return await self._engine.revision()


def _any(_: StoredObject) -> bool:
    return True


def stored(item: KeyValue) -> StoredObject:
    return StoredObject(item.key, item.value, item.revision)


async def watch_engine(engine: Engine, prefix: str, since: int, deliver: Deliver, ended: Ended) -> EngineSubscription:
    """Watch a folder or a key of an engine as `Storage.watch` does."""

    def convert(events: Sequence[EngineEvent]) -> None:
        deliver([change_of(event) for event in events])

    end = prefix_end(prefix) if prefix.endswith("/") else prefix + "\0"
    return await engine.watch(prefix, end, since, convert, ended)


def change_of(event: EngineEvent) -> Change:
    """The change that an event tells of, in objects of its own."""
    current = None if event.value is None else StoredObject(event.key, event.value, event.revision)
    previous = None if event.previous is None else stored(event.previous)
    return Change(event.key, current, previous, event.revision)
