"""Custom objects in one version, whatever they were stored as: a `Storage` around the one that all versions share.

What this server wrote under the present schema is shown as it is. Other bytes (of an older schema, another version,
another server) are read once, pruned and defaulted, and what comes of it is kept beside the stored object.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pilothouse.kit.turns import in_turns
from pilothouse.storage.api import (
    Change,
    Check,
    Deliver,
    Ended,
    ListRequest,
    Page,
    Read,
    Storage,
    StoredObject,
    Subscription,
    Transform,
)
from pilothouse.storage.errors import StorageError

Reshape = Callable[[bytes], bytes]


class VersionStorage:
    """`shown` makes this version's form of stored bytes, `stored` the bytes to store of this version's form (None: the
    same bytes). Both raise StorageError for what cannot be read.
    """

    def __init__(self, inner: Storage, shown: Reshape, stored: Reshape | None) -> None:
        self._inner = inner
        self._reshape = shown
        self._to_stored = stored
        self._watches: dict[_Watch, None] = {}
        self._settled = False
        self._form = object()  # under which objects keep what was made of them; outlives us in them, and is small

    @property
    def prefix(self) -> str:
        return self._inner.prefix

    def _shown(self, item: StoredObject) -> StoredObject:
        found: StoredObject | bool | None = item.forms.get(self._form)
        if found is True:
            return item
        if isinstance(found, StoredObject):
            return found
        value = self._reshape(item.value)
        if value == item.value:
            item.forms[self._form] = True
            return item
        made = item.forms[self._form] = StoredObject(item.key, value, item.revision)
        return made

    # Reading

    async def get(self, key: str, read: Read = Read.LATEST, revision: int = 0) -> StoredObject:
        item = await self._inner.get(key, read, revision)
        return item if item.forms.get(self._form) is True else self._shown(item)

    async def list(self, request: ListRequest) -> Page:
        await self._settle()
        accept = request.accept
        if accept is not None:
            request = ListRequest(
                request.prefix,
                request.read,
                request.revision,
                request.after,
                request.limit,
                lambda item: accept(self._shown(item)),
            )
        page = await self._inner.list(request)
        shown = [self._shown(item) for item in page.items]
        return Page(shown, page.revision, page.next_key, page.remaining, page.looked)

    async def _settle(self) -> None:
        """Before the first list: bring what was stored before into this form, in turns with other work."""
        if not self._settled:
            page = await self._inner.list(ListRequest(self.prefix, Read.ANY))
            await in_turns(page.items, self._shown)
            self._settled = True

    async def revision(self) -> int:
        return await self._inner.revision()

    # Writing

    async def create(self, key: str, value: bytes, ttl: float | None = None) -> StoredObject:
        if self._to_stored is not None:
            return self._shown(await self._inner.create(key, self._to_stored(value), ttl))
        item = await self._inner.create(key, value, ttl)
        item.forms[self._form] = True
        return item

    async def update(self, key: str, transform: Transform, *, ttl: float | None = None) -> StoredObject:
        written = b""

        async def changed(current: StoredObject | None) -> bytes:
            nonlocal written
            value = await transform(None if current is None else self._shown(current))
            written = value if self._to_stored is None else self._to_stored(value)
            return written

        item = await self._inner.update(key, changed, ttl=ttl)
        if self._to_stored is None and item.value is written:
            item.forms[self._form] = True
        return self._shown(item)

    async def delete(self, key: str, check: Check | None = None) -> tuple[StoredObject, int]:
        async def checked(current: StoredObject) -> None:
            if check is not None:
                await check(self._shown(current))

        item, revision = await self._inner.delete(key, checked)
        return self._shown(item), revision

    # Watching

    async def watch(self, prefix: str, since: int, deliver: Deliver, ended: Ended) -> Subscription:
        watch = _Watch(self, deliver, ended)
        self._watches[watch] = None
        try:
            watch.inner = await self._inner.watch(prefix, since, watch.take, watch.end)
        except BaseException:
            self._watches.pop(watch, None)
            raise
        if watch.closed:  # while it began
            watch.inner.close()
        return watch

    def change(self, change: Change) -> Change:
        """A change in this version; the same for all watchers."""
        found: Change | None = change.forms.get(self._form)
        if found is None:
            new = None if change.object is None else self._shown(change.object)
            old = None if change.previous is None else self._shown(change.previous)
            if new is change.object and old is change.previous:
                return change
            found = change.forms[self._form] = Change(change.key, new, old, change.revision)
        return found

    def forget(self, watch: _Watch) -> None:
        self._watches.pop(watch, None)

    def close(self) -> None:
        """End the watches: the version is no longer served like this."""
        for watch in list(self._watches):
            watch.end(None)
            watch.close()


class _Watch:
    """One watch of a version."""

    def __init__(self, storage: VersionStorage, deliver: Deliver, ended: Ended) -> None:
        self._storage = storage
        self._deliver = deliver
        self._ended = ended
        self.inner: Subscription | None = None
        self.closed = False

    @property
    def revision(self) -> int:
        return self.inner.revision if self.inner is not None else 0

    def take(self, changes: Sequence[Change]) -> None:
        if not self.closed:
            self._deliver([self._storage.change(change) for change in changes])

    def end(self, error: StorageError | None) -> None:
        if not self.closed:
            self.closed = True
            self._storage.forget(self)
            self._ended(error)

    def close(self) -> None:
        self.closed = True
        self._storage.forget(self)
        if self.inner is not None:
            self.inner.close()
