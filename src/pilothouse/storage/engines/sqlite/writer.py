"""The one thread that writes. It takes what waits, up to a limit, into one transaction: the disk is asked once a group.

The thread is woken when a round of the event loop brought no further write: so all that is there to be written goes
together, and while the disk works the loop mostly has nothing to do that would keep the interpreter from the thread.
Who writes alone goes at once: a write that nothing is outstanding beside, after one that had no company either.
Outcomes go back to the event loop in one call a commit: events first, then the acknowledgements.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

from pilothouse.storage.api import EngineEvent, Outcome
from pilothouse.storage.engines.hub import Hub
from pilothouse.storage.engines.sqlite.checkpoints import Checkpointer
from pilothouse.storage.engines.sqlite.commit import MOST_ROWS, Group, Write
from pilothouse.storage.engines.sqlite.files import as_storage_error, open_writer
from pilothouse.storage.engines.sqlite.index import Index
from pilothouse.storage.engines.sqlite.settings import SqliteSettings
from pilothouse.storage.engines.sqlite.turns import Turns
from pilothouse.storage.errors import StorageError, Unavailable

log = logging.getLogger("pilothouse.storage")

GATHER = 0.01  # seconds for which a write waits for others, at most; the loop never waits meanwhile
COMMIT_PAGES = 3  # the last pages of the tables, and the root, are written by each commit again

T = TypeVar("T")
P = ParamSpec("P")


class Job:
    """Something else to do in the writer's thread, between two commits (a step of compaction)."""

    __slots__ = ("future", "work")

    def __init__(self, work: Callable[[sqlite3.Connection], Any], future: asyncio.Future[Any]) -> None:
        self.work = work
        self.future = future


class Stop:
    """The last thing in the queue."""


Item = Write | Job | Stop


class Writer:
    """`submit` and `run` are called on the event loop; all else happens in the thread."""

    def __init__(
        self, path: str, settings: SqliteSettings, hub: Hub, index: Index, checkpointer: Checkpointer, turns: Turns
    ) -> None:
        self._path = path
        self._settings = settings
        self._hub = hub
        self._index = index
        self._loop = asyncio.get_running_loop()
        self._checkpointer = checkpointer
        self._turns = turns
        self._queue: queue.SimpleQueue[list[Item]] = queue.SimpleQueue()
        self._pending = 0
        self._gathered: list[Item] = []  # what the thread will be given next
        self._counted = 0  # how many they were a round ago
        self._last = 1  # how many it was given last
        self._until = 0.0  # when they are handed over even if more come
        self._taken: deque[Item] = deque()  # what it was given and has not begun
        self._closed = False
        self._connection = open_writer(path, settings)
        self._revision = hub.revision
        self._ahead: dict[
            str, tuple[int, int]
        ] = {}  # key -> (revision of its write, what stands): not in the index yet
        self._thread = threading.Thread(target=self._work, name="storage-writer", daemon=True)
        self._thread.start()

    def submit(self, key: str, value: bytes | None, expected: int, expires: float | None) -> asyncio.Future[Outcome]:
        """Queue a write. Raises Unavailable when closed or when too many wait."""
        future: asyncio.Future[Outcome] = self._loop.create_future()
        self._put(Write(key, value, expected, expires, future))
        return future

    def run(
        self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kw: P.kwargs
    ) -> asyncio.Future[T]:
        """Run `work` in the thread once all that was submitted before has been committed."""
        future: asyncio.Future[T] = self._loop.create_future()
        self._put(Job(lambda connection: work(connection, *args, **kw), future))
        return future

    def _put(self, item: Write | Job) -> None:
        if self._closed:
            raise Unavailable("the store is closed")
        if self._pending >= self._settings.max_pending:
            raise Unavailable(f"{self._pending} writes are waiting for the disk")
        self._pending += 1
        self._gathered.append(item)
        if self._pending == self._last == 1:
            self._hand_over()
        elif len(self._gathered) == 1:
            self._until = self._loop.time() + GATHER
            self._loop.call_soon(self._look)

    def _look(self) -> None:
        """Hand over what was gathered, unless the last round of the loop brought more: then the next may do so too."""
        count = len(self._gathered)
        if self._counted < count < self._settings.group and self._loop.time() < self._until:
            self._counted = count
            self._loop.call_soon(self._look)
        else:
            self._hand_over()

    def _hand_over(self) -> None:
        items, self._gathered, self._counted = self._gathered, [], 0
        if items:
            self._last = len(items)
            self._turns.begin(len(items))
            self._queue.put(items)

    async def close(self) -> None:
        """Commit what was submitted, then end the thread."""
        if not self._closed:
            self._closed = True
            self._hand_over()
            self._queue.put([Stop()])
        await asyncio.to_thread(self._thread.join)

    # In the thread.

    def _work(self) -> None:
        taken = self._taken
        while True:
            if not taken:
                taken.extend(self._queue.get())
            item = taken.popleft()
            self._turns.passed()
            if isinstance(item, Write):
                self._commit(self._gather(item))
            elif isinstance(item, Job):
                self._run_job(item)
            else:
                break
        self._connection.close()

    def _gather(self, first: Write) -> list[Write]:
        """The group that begins with `first`: the writes that wait behind it."""
        taken = self._taken
        group = [first]
        size = len(first.value or b"")
        limit = min(self._settings.group, MOST_ROWS)
        while len(group) < limit and size < self._settings.group_bytes:
            if not taken:
                try:
                    taken.extend(self._queue.get_nowait())
                except queue.Empty:
                    break
            item = taken[0]
            if not isinstance(item, Write):
                break
            group.append(item)
            size += len(item.value or b"")
            taken.popleft()
        return group

    def _commit(self, writes: Sequence[Write]) -> None:
        self._forget_delivered()
        group = Group(self._connection, self._revision, self._standing, self._hub.wanting > 0)
        try:
            size = group.apply(writes)
        except sqlite3.Error as error:
            self._recover(error)
            self._call_loop(self._refuse, writes, as_storage_error(self._path, error))
            return
        except Exception as error:
            log.exception("a commit failed")
            self._recover(error)
            self._call_loop(self._refuse, writes, Unavailable(f"{self._path}: {error}"))
            return
        self._revision = group.revision
        for event in group.events:
            self._ahead[event.key] = (event.revision, 0 if event.value is None else event.revision)
        self._call_loop(self._acknowledge, writes, group.events, group.revision)
        if group.events:
            self._checkpointer.committed(size + COMMIT_PAGES * self._settings.page_size, self._connection)

    def _standing(self, key: str) -> int:
        """The revision of a key after all that was committed, 0 where there is none."""
        ahead = self._ahead.get(key)
        return self._index.find(key, 0) if ahead is None else ahead[1]

    def _forget_delivered(self) -> None:
        """What the loop has taken into the index need not be remembered here. Looked up here first, so never missed."""
        delivered = self._hub.revision
        if self._ahead:
            self._ahead = {key: entry for key, entry in self._ahead.items() if entry[0] > delivered}

    def _run_job(self, job: Job) -> None:
        try:
            result = job.work(self._connection)
        except StorageError as error:
            self._recover(error)
            self._call_loop(self._fail, job, error)
        except sqlite3.Error as error:
            self._recover(error)
            self._call_loop(self._fail, job, as_storage_error(self._path, error))
        except Exception as error:
            log.exception("a job of the writer failed")
            self._recover(error)
            self._call_loop(self._fail, job, Unavailable(f"{self._path}: {error}"))
        else:
            self._call_loop(self._finish, job, result)

    def _recover(self, error: Exception) -> None:
        """Leave nothing half-written; after an I/O error go on with a fresh connection, which reads the file anew."""
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            code = getattr(error, "sqlite_errorcode", 0) or 0
            if code & 0xFF in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_CORRUPT):
                fresh = open_writer(self._path, self._settings)
                self._connection.close()
                self._connection = fresh
        except sqlite3.Error as again:
            log.error("the store could not recover yet: %s", again)

    def _call_loop(self, function: Callable[..., None], *arguments: object) -> None:
        self._turns.passed()
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:  # the loop was closed without closing the store: nobody waits any more
            log.debug("the event loop is gone")

    # On the loop again.

    def _settle(self, count: int) -> None:
        self._pending -= count
        self._turns.end(count)

    def _acknowledge(self, writes: Sequence[Write], events: Sequence[EngineEvent], revision: int) -> None:
        self._settle(len(writes))
        self._index.apply(events)
        self._hub.dispatch(events, revision)
        for write in writes:
            if not write.future.done() and write.outcome is not None:
                write.future.set_result(write.outcome)

    def _refuse(self, writes: Sequence[Write], error: StorageError) -> None:
        self._settle(len(writes))
        for write in writes:
            if not write.future.done():
                write.future.set_exception(error)

    def _finish(self, job: Job, result: object) -> None:
        self._settle(1)
        if not job.future.done():
            job.future.set_result(result)

    def _fail(self, job: Job, error: StorageError) -> None:
        self._settle(1)
        if not job.future.done():
            job.future.set_exception(error)
