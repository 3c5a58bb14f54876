"""Moves what was written from SQLite's log (WAL) into the main file, in a thread of its own so that no commit waits.

SQLite before 3.51.3 can damage a file when a checkpoint begins just as a commit resets the log that an earlier
checkpoint had emptied. So a checkpoint here begins only once a commit that came after the one before is complete: that
commit has reset the log or added to it, and no reset can happen until this checkpoint has ended.
"""

from __future__ import annotations

import logging
import sqlite3
import threading

from pilothouse.storage.engines.sqlite.settings import SqliteSettings

log = logging.getLogger("pilothouse.storage")

OVERGROWN = 4  # times the usual size of the log, from when on the writer itself finishes a checkpoint


class Checkpointer:
    """Told of each commit by the writer; checkpoints when enough has been written."""

    def __init__(self, path: str, settings: SqliteSettings) -> None:
        self._settings = settings
        self._path = path
        self._connection = settings.connect(path)
        self._connection.execute("PRAGMA wal_autocheckpoint = 0")
        self._written = 0
        self._commits = 0  # changed by the writer's thread only
        self._floor = 0  # a checkpoint may begin once there are more commits than this
        self._left = 0  # pages of the log that the last checkpoint could not move
        self._busy = threading.Lock()
        self._wake = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="storage-checkpoint", daemon=True)
        self._thread.start()

    def written(self, size: int) -> None:
        """A commit of about `size` bytes is complete. In the writer's thread."""
        self._commits += 1
        self._written += size
        if self._written >= self._settings.checkpoint_bytes and self._commits > self._floor:
            self._wake.set()

    @property
    def commits(self) -> int:
        return self._commits

    def finish(self, connection: sqlite3.Connection, truncate: bool = False) -> bool:
        """Checkpoint in the writer's thread, where no commit can come between; whether the log was emptied."""
        with self._busy:
            mode = "TRUNCATE" if truncate else "PASSIVE"
            busy, pages, moved = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
            self._written = 0
            self._left = 0
            self._floor = self._commits
            return not busy and pages == moved

    @property
    def overgrown(self) -> bool:
        """Whether the log has grown far beyond its usual size, because writers never paused."""
        return self._left * self._settings.page_size > OVERGROWN * self._settings.checkpoint_bytes

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
                with self._busy:
                    self._checkpoint()
            except sqlite3.Error as error:
                # Nothing is lost: the log keeps what could not be moved, and the next checkpoint tries again.
                log.warning("%s: a checkpoint failed: %s", self._path, error)

    def _checkpoint(self) -> None:
        if self._commits <= self._floor:
            return
        self._written = 0
        _, pages, moved = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        self._left = pages if pages > moved else 0
        # A commit may be under way: only the one after it is sure to have begun after this checkpoint.
        self._floor = self._commits + 1
