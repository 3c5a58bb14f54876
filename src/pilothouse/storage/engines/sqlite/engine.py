"""The SQLite engine: its writer, readers, checkpoints and housekeeping put together behind the `Engine` protocol."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from typing import TypeVar

from pilothouse.storage.api import FIRST_REVISION, DeliverEvents, Ended, KeyValue, Outcome, Range
from pilothouse.storage.engines.housekeeping import Ages, Housekeeper, Now, Sleep
from pilothouse.storage.engines.hub import Hub, HubSubscription
from pilothouse.storage.engines.sqlite import compaction, expiry
from pilothouse.storage.engines.sqlite.checkpoints import Checkpointer
from pilothouse.storage.engines.sqlite.files import FileLock, open_reader, prepare, translated
from pilothouse.storage.engines.sqlite.index import Undone, load_index
from pilothouse.storage.engines.sqlite.readers import Readers
from pilothouse.storage.engines.sqlite.rows import newest_revision, progress, read_events, read_undone, read_values
from pilothouse.storage.engines.sqlite.settings import SqliteSettings
from pilothouse.storage.engines.sqlite.turns import Turns
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
        connection = open_reader(path, settings)
        try:
            self._hub = Hub(newest_revision(connection))
            self._index = load_index(connection, self._hub.revision)
            self._compacted = progress(connection, "compacted")
        finally:
            connection.close()
        turns = Turns(asyncio.get_running_loop())
        self._checkpointer = Checkpointer(path, settings)
        self._writer = Writer(path, settings, self._hub, self._index, self._checkpointer, turns)
        self._readers = Readers(path, settings, turns)
        self._ages = Ages(settings.keep_history)
        self._housekeeper = Housekeeper(self.housekeep, settings.housekeeping, sleep)
        self._seen_commits = (0, now())  # how many commits there were, and when that last changed
        self._tidied_at = 0
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
        while True:
            newest = self._hub.revision
            if revision and revision != newest:
                undone = await self._undone(start, end, revision)
                newest = self._hub.revision
            else:
                undone = {}
            found, count = self._index.slice(start, end, limit, undone)
            if not found:
                self._readers.check_open()
                return Range((), count, newest)
            wanted = [at for _, at in found]
            values = await self._readers.run(read_values, wanted)
            if len(values) == len(wanted):
                return Range([KeyValue(key, values[at], at) for key, at in found], count, newest)
            # Compaction came between: for a read of the past that is the answer, else the index knows better now.
            if revision:
                self._check_revision(revision)

    async def _undone(self, start: str, end: str, at: int) -> Undone:
        """What stood at revision `at` for the keys that changed since; to be used before anything else happens."""
        self._check_revision(at)
        undone: Undone = {}
        reached = at
        while reached < self._index.floor:
            until = self._hub.revision
            older = await self._readers.run(read_undone, start, end, reached, until)
            undone = {**older, **undone}
            reached = until
        self._check_revision(at)
        return {**self._index.undone(start, end, reached), **undone}

    def _check_revision(self, revision: int) -> None:
        if revision > self._hub.revision:
            raise TooLarge(revision, self._hub.revision)
        if revision < self._compacted:
            raise Compacted(revision, self._compacted)

    async def revision(self) -> int:
        self._readers.check_open()
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
        while position < until:
            begin = max(position, FIRST_REVISION)
            events, more = await self._readers.run(read_events, start, end, begin, until, HISTORY_CHUNK, previous)
            # Forgetting begins only after `_compacted` has moved, so what was read is whole if it has not passed us.
            if position < self._compacted:
                raise Compacted(position, self._compacted)
            subscription.replay(events)
            position = events[-1].revision if more else until
        return position

    # Forgetting

    async def compact(self, revision: int) -> None:
        if revision > self._hub.revision:
            raise TooLarge(revision, self._hub.revision)
        await self._writer.run(compaction.mark, revision)
        self._compacted = max(self._compacted, revision)
        self._sweeping = True
        await self._sweep()

    async def _sweep(self) -> None:
        step = self._settings.compact_step
        while self._sweeping:
            self._sweeping = await self._writer.run(compaction.sweep, step)

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
            due, following = await self._writer.run(expiry.due, now, EXPIRED_AT_ONCE)
            standing = [(key, revision) for key, revision in due if key and self._index.find(key) == revision]
            await asyncio.gather(*(self.delete_if(key, revision) for key, revision in standing))
            if due:
                done = [revision for _, revision in due]
                await self._writer.run(expiry.forget, now, done)
            self._next_expiry = min(self._next_expiry, now if len(due) == EXPIRED_AT_ONCE else following)

    async def _tidy(self, now: float) -> None:
        """Empty the log when nothing was written for a while."""
        checkpointer = self._checkpointer
        commits, since = self._seen_commits
        if checkpointer.commits != commits:
            self._seen_commits = (checkpointer.commits, now)
        elif commits > self._tidied_at and now - since >= self._settings.idle:
            if await self._writer.run(checkpointer.tidy):
                self._tidied_at = commits

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
