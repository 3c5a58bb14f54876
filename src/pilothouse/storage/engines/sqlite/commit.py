"""One commit: a group of conditional writes, checked in memory and written by one statement.

Each statement gives up the interpreter's lock and, while the event loop is busy, waits long to have it back (see
rows.py). So the rows of a group go into a view in one INSERT, and triggers of the view put their parts into the tables.
Outside a transaction a statement is one by itself: it is written whole, and durable, or not at all.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from pilothouse.storage.api import EngineEvent, KeyValue, Outcome
from pilothouse.storage.engines.sqlite.rows import read_values

MOST_ROWS = 1024  # in one commit, so that the statement stays below SQLite's limit of parameters
ROW_BYTES = 200  # what a write takes beside its value, about


class Write:
    """A conditional write that waits for its outcome. `value` None deletes. `expires`: wall time in seconds."""

    __slots__ = ("expected", "expires", "future", "key", "outcome", "value")

    def __init__(
        self, key: str, value: bytes | None, expected: int, expires: float | None, future: asyncio.Future[Outcome]
    ) -> None:
        self.key = key
        self.value = value
        self.expected = expected
        self.expires = expires
        self.future = future
        self.outcome: Outcome | None = None


VIEW = """
CREATE TEMP VIEW writes AS SELECT 0 AS revision, '' AS key, 0 AS previous, x'' AS bytes, 0.0 AS expires WHERE 0;
CREATE TEMP TRIGGER versions INSTEAD OF INSERT ON writes BEGIN
  INSERT INTO log VALUES (NEW.revision, NEW.key, NEW.previous, length(NEW.bytes));
  INSERT INTO value SELECT NEW.revision, NEW.bytes WHERE NEW.bytes IS NOT NULL;
  INSERT INTO expiry SELECT NEW.expires, NEW.revision WHERE NEW.expires IS NOT NULL;
END;
"""


class Group:
    """Works out what a group of writes does, in the order they came, then writes it."""

    def __init__(
        self, connection: sqlite3.Connection, revision: int, standing: Callable[[str], int], previous: bool
    ) -> None:
        """`revision`: the newest so far. `standing(key)`: that of a key, 0 where there is none."""
        self._connection = connection
        self._want_previous = previous
        self._standing = standing
        self.revision = revision
        self.events: list[EngineEvent] = []
        self.known: dict[str, int] = {}  # as `standing`, for the keys of this group, kept up to date
        self._rows: list[Any] = []
        self._values: dict[int, bytes] = {}

    def apply(self, writes: Sequence[Write]) -> int:
        """Set the outcome of each write; how many bytes were written, about."""
        for write in writes:
            self.known[write.key] = self._standing(write.key)
        needed = self._needed(writes)
        if needed:
            self._values = read_values(self._connection, needed)
        for write in writes:
            self._decide(write)
        if not self.events:
            return 0
        places = ",".join(["(?,?,?,?,?)"] * len(self.events))
        self._connection.execute(f"INSERT INTO writes VALUES {places}", self._rows)
        return sum(len(event.value or b"") + ROW_BYTES for event in self.events)

    def _needed(self, writes: Sequence[Write]) -> list[int]:
        """Revisions whose values must be read: what a delete removes, what stands in the way, what events replace."""
        known = self.known
        return [
            revision
            for write in writes
            if (revision := known[write.key])
            and (self._want_previous or write.value is None or write.expected != revision)
        ]

    def _decide(self, write: Write) -> None:
        key, value = write.key, write.value
        standing = self.known[key]
        if write.expected != standing or (value is None and not standing):
            write.outcome = Outcome(False, self.revision, self._version(key, standing))
            return
        self.revision += 1
        revision = self.revision
        previous = self._version(key, standing) if self._want_previous or value is None else None
        self.events.append(EngineEvent(key, value, previous, revision))
        self._rows += (revision, key, standing, value, write.expires)
        if value is None:
            self.known[key] = 0
            write.outcome = Outcome(True, revision, previous)
        else:
            self.known[key] = revision
            self._values[revision] = value  # a later write of this group may ask for it
            write.outcome = Outcome(True, revision)

    def _version(self, key: str, revision: int) -> KeyValue | None:
        return KeyValue(key, self._values[revision], revision) if revision else None
