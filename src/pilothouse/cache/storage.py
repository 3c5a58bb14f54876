"""The watch cache: a `Storage` that keeps its prefix in memory, fed by one watch of the engine.

It loads on first use. Reads cost a look-up and no I/O; each change is made into one `Change`, shared by all watchers.
Over an engine of this process the cache is never behind: events come before acknowledgements. Over a shared database
(`engine.shared`) a linearizable read asks for the newest revision and waits until the cache has come to it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from pilothouse.cache.contents import Contents, cut_page
from pilothouse.cache.history import History, HistoryLimits
from pilothouse.cache.metrics import CacheFamilies, CacheStats, Held
from pilothouse.cache.watchers import CacheSubscription, Watchers, watch_end
from pilothouse.kit.metrics import Unheard
from pilothouse.kit.turns import accepted
from pilothouse.storage.api import (
    Check,
    Deliver,
    Ended,
    Engine,
    EngineEvent,
    EngineSubscription,
    KeyValue,
    ListRequest,
    Page,
    Read,
    StoredObject,
    Subscription,
    Transform,
    prefix_end,
)
from pilothouse.storage.errors import Compacted, NotFound, StorageError, TooLarge, Unavailable
from pilothouse.storage.store import EngineStorage, watch_engine
from pilothouse.storage.writes import delete_object, update_object, write_new

T = TypeVar("T")

LOAD_CHUNK = 2_000  # so that no step of loading holds the loop for long
LOAD_TRIES = 5
REPLAY_CHUNK = 200  # changes told to a new watcher at once, before others have their turn
_SELECTIONS = 16  # results of selections that are kept till the next change
_LATEST, _ANY = Read.LATEST, Read.ANY


class _State:
    """What is loaded. Made anew when the watch of the engine breaks."""

    __slots__ = ("contents", "history", "selections", "stats", "subscription", "watchers")

    def __init__(self, contents: Contents, history: History, stats: CacheStats) -> None:
        self.contents = contents
        self.stats = stats
        self.history = history
        self.selections: dict[tuple[str, str], tuple[Sequence[StoredObject], Sequence[StoredObject]]] = {}
        self.subscription: EngineSubscription | None = None
        self.watchers = Watchers(lambda: self.revision)

    @property
    def revision(self) -> int:
        """How far the cache is: it holds the state of the whole prefix at this revision."""
        return self.history.floor if self.subscription is None else self.subscription.revision

    async def page(self, request: ListRequest) -> Page:
        """What is there now. Many clients ask for the same selection: it is made once for them all till a change."""
        items, revision = self.contents.within(request), self.revision
        if not request.same or request.limit or request.after:
            return await _page(items, request, revision)
        key = (request.prefix, request.same)
        known = self.selections.get(key)
        if known is not None and known[0] is items:
            return Page(known[1], revision)
        made = await _page(items, request, revision)
        if len(self.selections) < _SELECTIONS:
            self.selections[key] = items, made.items
        return made

    def take(self, events: Sequence[EngineEvent]) -> None:
        self.selections.clear()
        take = self.contents.take
        changes = [take(event) for event in events]
        began = self.history.add(changes)
        self.watchers.send(changes)
        stats = self.stats
        stats.events.value += len(changes)
        stats.sent(self.history.now() - began)


class CachedStorage:
    """A `Storage` over an engine. `wait`: seconds to wait for a revision; `now`: any clock, in seconds."""

    def __init__(
        self,
        engine: Engine,
        prefix: str,
        *,
        limits: HistoryLimits | None = None,
        wait: float = 3.0,
        now: Callable[[], float] = time.monotonic,
        stats: CacheStats | None = None,
    ) -> None:
        self._engine = engine
        self._prefix = prefix
        self._limits = limits or HistoryLimits()
        self._wait = wait
        self._now = now
        self._stats = stats or CacheStats(CacheFamilies(Unheard()), "")
        self._beyond = EngineStorage(engine, prefix, wait=wait)  # for what is older than our history
        self._state: _State | None = None
        self._objects: dict[str, StoredObject] | None = None  # set while a look-up is all that a read needs
        self._loading: asyncio.Task[_State] | None = None
        self._closed = False

    @property
    def prefix(self) -> str:
        return self._prefix

    def __len__(self) -> int:
        """How many objects are held; 0 before the first use."""
        return 0 if self._state is None else len(self._state.contents)

    @property
    def held(self) -> Held | None:
        """What is loaded; None before the first use."""
        state = self._state
        return (
            None if state is None else Held(len(state.contents), state.revision, state.contents.size, self._limits.most)
        )

    # Reading

    async def get(self, key: str, read: Read = Read.LATEST, revision: int = 0) -> StoredObject:
        objects = self._objects
        if objects is None or (read is not _LATEST and read is not _ANY):
            if read is Read.EXACT:
                return await self._get_past(key, revision)
            objects = (await self._fresh(read, revision)).contents.objects
        try:
            return objects[key]
        except KeyError:
            raise NotFound(key) from None

    async def _get_past(self, key: str, revision: int) -> StoredObject:
        state = await self._fresh(Read.AT_LEAST, revision)
        if revision < state.history.floor:
            return await self._beyond.get(key, Read.EXACT, revision)
        undone = state.history.undone(revision)
        found = undone[key] if key in undone else state.contents.objects.get(key)
        if found is None:
            raise NotFound(key)
        return found

    async def list(self, request: ListRequest) -> Page:
        state = self._state
        if request.read is _ANY and state is not None and not state.contents.objects:
            return Page((), state.revision)  # plug-ins ask on every write for kinds of which there are none
        if request.read is not Read.EXACT:
            state = await self._fresh(request.read, request.revision)
            return await state.page(request)
        revision = request.revision
        state = await self._fresh(Read.AT_LEAST, revision)
        if revision < state.history.floor:
            return await self._beyond.list(request)
        undone = state.history.undone(revision)
        items = state.contents.past(request, undone) if undone else state.contents.within(request)
        return await _page(items, request, revision)

    async def revision(self) -> int:
        return await self._engine.revision()

    # Writing

    async def create(self, key: str, value: bytes, ttl: float | None = None) -> StoredObject:
        revision = await write_new(self._engine, key, value, ttl)
        return self._known(StoredObject(key, value, revision))

    async def update(self, key: str, transform: Transform, *, ttl: float | None = None) -> StoredObject:
        async def attempt(current: StoredObject | None) -> StoredObject:
            return await update_object(self._engine, key, current, transform, ttl, self._to_object)

        return self._known(await self._first_cached(key, attempt, unchanged=lambda result, tried: result is tried))

    async def delete(self, key: str, check: Check | None = None) -> tuple[StoredObject, int]:
        async def attempt(current: StoredObject | None) -> tuple[StoredObject, int]:
            return await delete_object(self._engine, key, current, check, self._to_object)

        return await self._first_cached(key, attempt, unchanged=lambda result, tried: False)

    async def _first_cached(
        self,
        key: str,
        attempt: Callable[[StoredObject | None], Awaitable[T]],
        unchanged: Callable[[T, StoredObject | None], bool],
    ) -> T:
        """Try with the cached object. A shared database may hold a newer one: there, refusals are checked again."""
        state = await self._ready()
        tried = state.contents.objects.get(key)
        if not self._engine.shared:
            return await attempt(tried)
        try:
            result = await attempt(tried)
        except Exception:
            current = await self._stored(key)
            if _same(current, tried):
                raise
            return await attempt(current)
        if unchanged(result, tried):
            current = await self._stored(key)
            if not _same(current, tried):
                return await attempt(current)
        return result

    async def _stored(self, key: str) -> StoredObject | None:
        found = await self._engine.range(key, key + "\0", limit=1)
        return self._to_object(found.items[0]) if found.items else None

    def _to_object(self, item: KeyValue) -> StoredObject:
        return self._known(StoredObject(item.key, item.value, item.revision))

    def _known(self, written: StoredObject) -> StoredObject:
        """The cache's own instance of this version, so that what is derived from it is shared."""
        state = self._state
        if state is not None:
            held = state.contents.objects.get(written.key)
            if held is not None and held.revision == written.revision:
                return held
        return written

    # Watching

    async def watch(self, prefix: str, since: int, deliver: Deliver, ended: Ended) -> Subscription:
        end = watch_end(prefix)
        while True:
            state = await self._ready()
            if since < state.history.floor:
                since = await self._replay(state, prefix, since, deliver)
                continue
            missed = [change for change in state.history.after(since) if prefix <= change.key < end]
            if len(missed) <= REPLAY_CHUNK:
                break
            cut = REPLAY_CHUNK
            while cut < len(missed) and missed[cut].revision == missed[cut - 1].revision:
                cut += 1
            deliver(missed[:cut])
            since = missed[cut - 1].revision
            await asyncio.sleep(0)
        subscription = CacheSubscription(state.watchers, prefix, since, deliver, ended)
        state.watchers.add(subscription)
        if missed:
            subscription.receive(missed)
        return subscription

    async def _replay(self, state: _State, prefix: str, since: int, deliver: Deliver) -> int:
        """Deliver from the engine what is older than our history; how far that came. Raises Compacted."""
        until = state.history.floor
        failures: list[StorageError | None] = []
        subscription = await watch_engine(self._engine, prefix, since, deliver, failures.append)
        try:
            await self._within(subscription.reach(until), until)
            if failures:
                raise failures[0] or Unavailable("the store is closed")
            return subscription.revision
        finally:
            subscription.close()

    # Loading

    async def _fresh(self, read: Read, revision: int) -> _State:
        """The loaded state, as fresh as `read` asks for (EXACT aside). Raises TooLarge, Unavailable."""
        state = await self._ready()
        if read is Read.AT_LEAST:
            if revision > state.revision and state.subscription is not None:
                await self._within(state.subscription.reach(revision), revision)
        elif read is Read.LATEST and self._engine.shared and state.subscription is not None:
            newest = await self._engine.revision()
            if newest > state.revision:
                try:
                    await self._within(state.subscription.reach(newest), newest)
                except TooLarge:
                    raise Unavailable(f"{self._prefix}: the cache is behind its database") from None
        return state

    async def _within(self, reached: Awaitable[None], revision: int) -> None:
        began = self._now()
        try:
            async with asyncio.timeout(self._wait):
                await reached
        except TimeoutError:
            raise TooLarge(revision, 0 if self._state is None else self._state.revision) from None
        finally:
            self._stats.waited(self._now() - began)

    async def _ready(self) -> _State:
        state = self._state
        if state is not None:
            return state
        if self._closed:
            raise Unavailable("the store is closed")
        if self._loading is None:
            self._loading = asyncio.get_running_loop().create_task(self._load(), name=f"cache-load {self._prefix}")
            self._loading.add_done_callback(self._loaded)
        return await asyncio.shield(self._loading)

    def _loaded(self, task: asyncio.Task[_State]) -> None:
        self._loading = None
        if not task.cancelled():
            task.exception()  # those who waited have it; nobody else needs to hear of it

    async def _load(self) -> _State:
        failure: StorageError | None = None
        for _ in range(LOAD_TRIES):
            try:
                state = await self._load_once()
            except Compacted as error:
                failure = error
                continue
            if state is not None:
                return state
        raise Unavailable(f"{self._prefix}: the cache could not be loaded") from failure

    async def _load_once(self) -> _State | None:
        """List, then watch from there. None where the watch ended at once."""
        began = self._now()
        end = prefix_end(self._prefix)
        found = await self._engine.range(self._prefix, end, limit=LOAD_CHUNK)
        contents = Contents(self._prefix)
        contents.add(found.items)
        last = found
        while len(last.items) < last.count:
            after = last.items[-1].key + "\0"
            last = await self._engine.range(after, end, limit=LOAD_CHUNK, revision=found.revision)
            contents.add(last.items)
        state = _State(contents, History(found.revision, self._limits, self._now), self._stats)
        ended: list[StorageError | None] = []

        def finish(error: StorageError | None) -> None:
            ended.append(error)
            self._lost(state, error)

        state.subscription = await self._engine.watch(
            self._prefix, end, found.revision, state.take, finish, previous=False
        )
        if ended:
            return None
        if self._closed:
            state.subscription.close()
            raise Unavailable("the store is closed")
        self._state = state
        self._stats.loaded(self._now() - began, len(contents))
        self._objects = None if self._engine.shared else state.contents.objects
        return state

    def _lost(self, state: _State, error: StorageError | None) -> None:
        """The engine's watch is over: our watchers are told, and the next use loads anew."""
        if self._state is state:
            self._state = None
            self._objects = None
        state.watchers.finish(error)

    async def close(self) -> None:
        """End the watches. The engine is not ours to close."""
        self._closed = True
        if self._loading is not None:
            self._loading.cancel()
        state = self._state
        if state is not None:
            if state.subscription is not None:
                state.subscription.close()
            self._lost(state, None)


async def _page(items: Sequence[StoredObject], request: ListRequest, revision: int) -> Page:
    """`revision` is that of `items`: nothing may be awaited between them."""
    if request.accept is None:
        return cut_page(items, request.limit, revision)
    chosen, looked = await accepted(items, request.accept, request.limit)
    more = bool(request.limit) and len(chosen) == request.limit and looked < len(items)
    return Page(chosen, revision, chosen[-1].key + "\0" if more else None, looked=looked)


def _same(left: StoredObject | None, right: StoredObject | None) -> bool:
    if left is None or right is None:
        return left is right
    return left.revision == right.revision
