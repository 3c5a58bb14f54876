"""The SQLite engine: its writer, readers, checkpoints and housekeeping put together behind the `Engine` protocol."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from typing import TypeVar

from pilothouse.storage.api import DeliverEvents, Ended, EngineEvent, Outcome, Range
from pilothouse.storage.engines.housekeeping import Ages, Housekeeper, Now, Sleep
from pilothouse.storage.engines.hub import Hub, HubSubscription
from pilothouse.storage.engines.sqlite import compaction, expiry
from pilothouse.storage.engines.sqlite.checkpoints import Checkpointer
from pilothouse.storage.engines.sqlite.files import FIRST_REVISION, FileLock, prepare, translated
from pilothouse.storage.engines.sqlite.readers import Readers
from pilothouse.storage.engines.sqlite.rows import newest_revision, progress, read_count, read_events, read_range
from pilothouse.storage.engines.sqlite.settings import SqliteSettings
from pilothouse.storage.engines.sqlite.writer import Writer
from pilothouse.storage.errors import Compacted, StorageError, TooLarge, ValueTooLarge

T = TypeVar("T")
HISTORY_CHUNK = 500  # events read at once for a watch that begins in the past
EXPIRED_AT_ONCE = 500


class SqliteEngine:
    """An `Engine` in one file. Made by `open`; `start()` begins expiry and compaction; `close()` ends it."""

    shared = False

    def __init__(self, path: str, settings: SqliteSettings, lock: FileLock, now: Now, sleep: Sleep) -> None:
        """Use `open`."""
        self._path = path
        self._settings = settings
        self._lock = lock
        self._now = now
        self._hub = Hub(0)
        self._checkpointer = Checkpointer(path, settings)
        self._writer = Writer(path, settings, self._hub, self._checkpointer.written)
        self._hub.revision = self._writer.revision
        self._readers = Readers(path, settings)
        self._ages = Ages(settings.keep_history)
        self._housekeeper = Housekeeper(self.housekeep, settings.housekeeping, sleep)
        self._seen_commits = (0, now())  # how many commits there were, and when that last changed
        self._truncated_at = 0
        self._sweeping = True  # a sweep may have been cut short by the last stop
        self._next_expiry = 0.0  # nothing expires before; 0 means unknown
        self._closed = False

    @classmethod
    async def open(
        cls,
        path: str,
        settings: SqliteSettings | None = None,
        *,
        now: Now = time.time,
        sleep: Sleep = asyncio.sleep,
    ) -> SqliteEngine:
        """Open the file, or make it. Raises Corrupt (not ours, newer, damaged) and Unavailable (in use, I/O)."""
        settings = settings or SqliteSettings()
        lock = FileLock(path)
        with translated(path):
            lock.acquire()
        try:
            await asyncio.to_thread(prepare, path, settings)
            with translated(path):
                return cls(path, settings, lock, now, sleep)
        except BaseException:
            lock.release()
            raise

    def start(self) -> None:
        self._housekeeper.start()

    # Reading

    async def range(self, start: str, end: str, *, limit: int = 0, revision: int = 0) -> Range:
        def work(connection: sqlite3.Connection) -> Range:
            if not _storable(start):  # no such key can have been written
                return Range((), 0, newest_revision(connection))
            newest = newest_revision(connection)
            at: int | None = None
            if revision:
                self._check_revision(connection, revision, newest)
                at = revision if revision < newest else None
            items = read_range(connection, start, end, limit, at)
            whole = not limit or len(items) < limit
            return Range(items, len(items) if whole else read_count(connection, start, end, at), newest)

        return await self._readers.run(work)

    @staticmethod
    def _check_revision(connection: sqlite3.Connection, revision: int, newest: int) -> None:
        if revision > newest:
            raise TooLarge(revision, newest)
        compacted = progress(connection, "compacted")
        if revision < compacted:
            raise Compacted(revision, compacted)

    async def revision(self) -> int:
        # All acknowledged writes have been delivered, so this is linearizable without asking the file.
        return self._hub.revision

    # Writing

    async def put_if(self, key: str, value: bytes, expected: int, *, ttl: float | None = None) -> Outcome:
        if len(value) > self._settings.max_value:
            raise ValueTooLarge(f"{key}: {len(value)} bytes, at most {self._settings.max_value} can be stored")
        if not key.isprintable() and not _storable(key):
            raise StorageError(f"{key!r}: not a key that can be stored")
        expires = None
        if ttl is not None:
            expires = self._now() + ttl
            self._next_expiry = min(self._next_expiry, expires)
        return await self._writer.submit(key, value, expected, expires)

    async def delete_if(self, key: str, expected: int) -> Outcome:
        if not key.isprintable() and not _storable(key):
            return Outcome(False, self._hub.revision)
        return await self._writer.submit(key, None, expected, None)

    # Watching

    async def watch(
        self, start: str, end: str, since: int, deliver: DeliverEvents, ended: Ended, *, previous: bool = True
    ) -> HubSubscription:
        subscription = HubSubscription(self._hub, start, end, deliver, ended, previous)
        position = since
        while (until := self._hub.revision) - position > HISTORY_CHUNK:
            position = await self._replay(subscription, position, until)
        subscription.attach()
        try:
            if previous:  # once the writer knows that a watch wants `previous`, all later events have it
                await self._writer.run(_nothing)
            position = await self._replay(subscription, position, until := self._hub.revision)
        except BaseException:
            subscription.close()
            raise
        subscription.go_live(position)
        return subscription

    async def _replay(self, subscription: HubSubscription, since: int, until: int) -> int:
        """Deliver history after `since`, up to `until`; how far that came. Raises Compacted."""
        position = since
        start, end, previous = subscription.start, subscription.end, subscription.previous

        def work(connection: sqlite3.Connection) -> tuple[list[EngineEvent], bool]:
            if position < (compacted := progress(connection, "compacted")):
                raise Compacted(position, compacted)
            begin = max(position, FIRST_REVISION)
            return read_events(connection, start, end, begin, until, HISTORY_CHUNK, previous)

        while position < until:
            events, more = await self._readers.run(work)
            subscription.replay(events)
            position = events[-1].revision if more else until
        return position

    # Forgetting

    async def compact(self, revision: int) -> None:
        await self._writer.run(lambda connection: compaction.mark(connection, revision))
        self._sweeping = True
        await self._sweep()

    async def _sweep(self) -> None:
        step = self._settings.compact_step
        while self._sweeping:
            self._sweeping = await self._writer.run(lambda connection: compaction.sweep(connection, step))

    async def housekeep(self) -> None:
        """Delete what has expired, forget history that is old enough, give disk space back when idle."""
        now = self._now()
        await self._expire(now)
        target = self._ages.target(now, self._hub.revision)
        if target:
            await self.compact(target)
        elif self._sweeping:
            await self._sweep()
        await self._tidy(now)

    async def _expire(self, now: float) -> None:
        """Delete the keys whose time has come, as ordinary deletes with events of their own."""
        while now >= self._next_expiry:
            self._next_expiry = float("inf")  # writes submitted from here on lower it; the others are in the file below
            due, following = await self._writer.run(lambda connection: expiry.due(connection, now, EXPIRED_AT_ONCE))
            await asyncio.gather(*(self.delete_if(key, revision) for key, revision in due))
            await self._writer.run(lambda connection: expiry.forget(connection, now))
            self._next_expiry = min(self._next_expiry, now if len(due) == EXPIRED_AT_ONCE else following)

    async def _tidy(self, now: float) -> None:
        """Empty the log when nothing was written for a while, or when writers never let a checkpoint finish."""
        checkpointer = self._checkpointer
        commits, since = self._seen_commits
        if checkpointer.commits != commits:
            self._seen_commits = (checkpointer.commits, now)
            if checkpointer.overgrown:
                await self._writer.run(checkpointer.finish)
        elif commits > self._truncated_at and now - since >= self._settings.idle_truncate:
            if await self._writer.run(lambda connection: checkpointer.finish(connection, truncate=True)):
                self._truncated_at = commits

    async def close(self) -> None:
        """Finish what was submitted, end the watches, and leave one clean file."""
        if self._closed:
            return
        self._closed = True
        await self._housekeeper.close()
        await self._writer.close()
        await asyncio.sleep(0)  # let the last acknowledgements, which the thread has left on the loop, come first
        self._hub.finish(None)
        await self._readers.close()
        await asyncio.to_thread(self._checkpointer.close)
        self._lock.release()


def _nothing(connection: sqlite3.Connection) -> None:
    """Wait for what was submitted before."""


def _storable(key: str) -> bool:
    """Whether a key can be in the file: no NUL, no lone surrogates."""
    return key.isprintable() or ("\0" not in key and not any("\ud800" <= letter <= "\udfff" for letter in key))
