"""Moves what was written from SQLite's log (WAL) into the main file, in a thread of its own so that no commit waits.

SQLite before 3.51.3 can damage a file when a checkpoint begins just as a commit resets the log that an earlier
checkpoint had emptied. So a checkpoint here begins only once a commit that came after the one before is complete: that
commit has reset the log or added to it, and no reset can happen until this checkpoint has ended.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading

from pilothouse.storage.engines.sqlite.settings import BUSY, SqliteSettings

log = logging.getLogger("pilothouse.storage")

OVERGROWN = 2  # times the usual size of the log, from when on it must be emptied even if writers never pause
REMAINDER = 256  # pages that the writer itself may be asked to move, so that the log can begin anew


READERS_MAY_TAKE = 30  # milliseconds to wait for reads that still use the log; then it is tried again later


class Checkpointer:
    """Told of each commit by the writer; checkpoints when enough has been written.

    Writers that never pause always leave a few pages behind, and a log with pages left in it can't begin anew. So
    when it has grown too long, checkpoints that each leave less behind follow each other, and the writer moves the
    rest.
    """

    def __init__(self, path: str, settings: SqliteSettings) -> None:
        self._settings = settings
        self._path = path
        self._connection = settings.connect(path)
        self._connection.execute("PRAGMA wal_autocheckpoint = 0")
        self._written = 0
        self._commits = 0  # changed by the writer's thread only
        self._floor = 0  # a checkpoint may begin once there are more commits than this
        self._again = False  # the log is too long: another checkpoint is to follow at once
        self._finish = False  # the writer is asked to move the rest
        self._busy = threading.Lock()
        self._wake = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="storage-checkpoint", daemon=True)
        self._thread.start()

    @property
    def commits(self) -> int:
        """How many commits there have been since the start."""
        return self._commits

    def committed(self, size: int, connection: sqlite3.Connection) -> None:
        """A commit of about `size` bytes is complete on `connection`. In the writer's thread."""
        self._commits += 1
        self._written += size
        if self._finish:
            try:
                self.finish(connection)
            except sqlite3.Error as error:
                log.warning("%s: a checkpoint failed: %s", self._path, error)
        elif self._commits > self._floor and (self._again or self._written >= self._settings.checkpoint_bytes):
            self._wake.set()

    def finish(self, connection: sqlite3.Connection, truncate: bool = False) -> bool:
        """Checkpoint in the writer's thread, where no commit can come between; whether nothing was left."""
        with self._busy:
            self._finish = False
            self._written = 0
            self._floor = self._commits
            mode = "TRUNCATE" if truncate else "RESTART"
            connection.execute(f"PRAGMA busy_timeout = {READERS_MAY_TAKE}")
            try:
                busy, pages, moved = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
            finally:
                connection.execute(f"PRAGMA busy_timeout = {BUSY}")
            return bool(not busy and pages == moved)

    def tidy(self, connection: sqlite3.Connection) -> bool:
        """Nothing has been written for a while: move all, and give disk space back where the log has grown long."""
        long = os.path.getsize(self._path + "-wal") > OVERGROWN * self._settings.checkpoint_bytes
        return self.finish(connection, long)

    def close(self) -> None:
        """Blocks until the thread has ended."""
        self._closed = True
        self._wake.set()
        self._thread.join()
        self._connection.close()

    def _work(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            if self._closed:
                return
            try:
                self._checkpoint()
            except sqlite3.Error as error:
                # Nothing is lost: the log keeps what could not be moved, and the next checkpoint tries again.
                log.warning("%s: a checkpoint failed: %s", self._path, error)

    def _checkpoint(self) -> None:
        with self._busy:
            if self._commits <= self._floor:
                return
            self._written = 0
            _, pages, moved = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            # A commit may be under way: only the one after it is sure to have begun after this checkpoint.
            self._floor = self._commits + 1
            long = pages * self._settings.page_size >= OVERGROWN * self._settings.checkpoint_bytes
            self._finish = long and pages - moved <= REMAINDER
            self._again = long and not self._finish
