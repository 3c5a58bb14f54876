"""Objects that a function makes, as a `Storage`: reading calls the function, watching calls it again and again.

The revision grows whenever the function is found to answer otherwise than before.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final

import orjson

from pilothouse.storage.api import (
    FIRST_REVISION,
    Change,
    Check,
    Deliver,
    Ended,
    ListRequest,
    Page,
    Read,
    StoredObject,
    Subscription,
    Transform,
)
from pilothouse.storage.errors import Compacted, NotFound, StorageError

Object = dict[str, Any]
Compute = Callable[[], Awaitable[Iterable[Object]]]
_log: Final = logging.getLogger(__name__)


class ComputedStorage:
    """`head`: apiVersion and kind of all. `key` gives an object's key. `every`: seconds between looks of a watch."""

    def __init__(self, prefix: str, head: Object, compute: Compute, key: Callable[[Object], str], every: float) -> None:
        self._prefix = prefix
        self._head = head
        self._compute = compute
        self._key = key
        self._every = every
        self._known: dict[str, StoredObject] = {}
        self._revision = FIRST_REVISION
        self._watches: set[_Watch] = set()
        self._looking: asyncio.Task[None] | None = None

    @property
    def prefix(self) -> str:
        return self._prefix

    async def refresh(self) -> None:
        """Ask the function, and tell the watches what is other than before."""
        found = {self._key(obj): orjson.dumps({**self._head, **obj}) for obj in await self._compute()}
        before = self._known
        changes: list[Change] = []
        for key in sorted(before.keys() | found.keys()):
            old, value = before.get(key), found.get(key)
            if old is not None and old.value == value:
                continue
            self._revision += 1
            new = StoredObject(key, value, self._revision) if value is not None else None
            changes.append(Change(key, new, old, self._revision))
        if changes:
            self._known = dict(before)
            for change in changes:
                if change.object is None:
                    del self._known[change.key]
                else:
                    self._known[change.key] = change.object
            for watch in list(self._watches):
                watch.tell(changes)

    async def get(self, key: str, read: Read = Read.LATEST, revision: int = 0) -> StoredObject:
        await self.refresh()
        try:
            return self._known[key]
        except KeyError:
            raise NotFound(key) from None

    async def list(self, request: ListRequest) -> Page:
        if request.read is Read.EXACT and request.revision != self._revision:
            raise Compacted(request.revision, self._revision)
        if request.read is not Read.EXACT:
            await self.refresh()
        wanted = [
            self._known[key]
            for key in sorted(self._known)
            if key.startswith(request.prefix) and (request.after is None or key >= request.after)
        ]
        if request.accept is not None:
            wanted = [item for item in wanted if request.accept(item)]
        if not request.limit or len(wanted) <= request.limit:
            return Page(wanted, self._revision)
        rest = wanted[request.limit :]
        return Page(wanted[: request.limit], self._revision, rest[0].key, len(rest))

    async def watch(self, prefix: str, since: int, deliver: Deliver, ended: Ended) -> Subscription:
        if since < self._revision:
            raise Compacted(since, self._revision)  # what was before is not kept: the watcher lists again
        watch = _Watch(self, prefix, deliver)
        self._watches.add(watch)
        if self._looking is None:
            self._looking = asyncio.get_running_loop().create_task(self._look(), name=f"watch of {self._prefix}")
        return watch

    async def _look(self) -> None:
        while self._watches:
            await asyncio.sleep(self._every)
            try:
                await self.refresh()
            except Exception:  # the program's function may raise anything; a watch goes on
                _log.exception("%s could not be computed", self._prefix)
        self._looking = None

    def forget(self, watch: _Watch) -> None:
        self._watches.discard(watch)

    def close(self) -> None:
        """End the watches."""
        self._watches.clear()
        if self._looking is not None:
            self._looking.cancel()

    @property
    def newest(self) -> int:
        return self._revision

    async def revision(self) -> int:
        return self._revision

    # What a function makes cannot be written.

    async def create(self, key: str, value: bytes, ttl: float | None = None) -> StoredObject:
        raise StorageError("computed objects cannot be written")

    async def update(self, key: str, transform: Transform, *, ttl: float | None = None) -> StoredObject:
        raise StorageError("computed objects cannot be written")

    async def delete(self, key: str, check: Check | None = None) -> tuple[StoredObject, int]:
        raise StorageError("computed objects cannot be written")


class _Watch:
    def __init__(self, storage: ComputedStorage, prefix: str, deliver: Deliver) -> None:
        self._storage = storage
        self._prefix = prefix
        self._deliver = deliver

    @property
    def revision(self) -> int:
        return self._storage.newest

    def tell(self, changes: list[Change]) -> None:
        concerned = [change for change in changes if change.key.startswith(self._prefix)]
        if concerned:
            self._deliver(concerned)

    def close(self) -> None:
        self._storage.forget(self)
