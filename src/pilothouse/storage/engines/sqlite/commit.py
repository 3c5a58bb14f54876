"""One commit: a group of conditional writes, checked and written with a handful of statements however many they are.

Each statement gives up the interpreter's lock once, so their number is what counts (see rows.py).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import orjson

from pilothouse.storage.api import EngineEvent, KeyValue, Outcome
from pilothouse.storage.engines.sqlite.rows import read_values

T = TypeVar("T")

ROWS = 64  # in one INSERT


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


class Group:
    """Works out what a group of writes does, in the order they came, then writes it. In a transaction."""

    def __init__(self, connection: sqlite3.Connection, revision: int, previous: bool) -> None:
        self._connection = connection
        self._want_previous = previous
        self.revision = revision
        self.events: list[EngineEvent] = []
        self._log: list[tuple[int, str, int, bytes | None]] = []
        self._expiry: list[tuple[float, int, str]] = []
        self._known: dict[str, int] = {}  # newest revision of each key, 0 where there is none
        self._values: dict[int, bytes] = {}

    def apply(self, writes: Sequence[Write]) -> int:
        """Set the outcome of each write; how many bytes were written, about."""
        found = self._stored([write.key for write in writes])
        self._known = dict(found)
        self._values = read_values(self._connection, needed) if (needed := self._needed(writes)) else {}
        for write in writes:
            self._decide(write)
        if not self._log:
            return 0
        self._insert("log", self._log, 4)
        self._point(found)
        if self._expiry:
            self._insert("expiry", self._expiry, 3)
        return sum(len(row[3] or b"") + 2 * len(row[1]) for row in self._log)

    def _stored(self, keys: list[str]) -> dict[str, int]:
        array = orjson.dumps(keys).decode()
        row = self._connection.execute(
            "SELECT json_group_object(key, revision) FROM current WHERE key IN (SELECT value FROM json_each(?))",
            (array,),
        ).fetchone()
        found: dict[str, int] = orjson.loads(row[0])
        return found

    def _needed(self, writes: Sequence[Write]) -> list[int]:
        """Revisions whose values must be read: what a delete removes, what stands in the way, what events replace."""
        known = self._known
        return [
            revision
            for write in writes
            if (revision := known.get(write.key, 0))
            and (self._want_previous or write.value is None or write.expected != revision)
        ]

    def _decide(self, write: Write) -> None:
        key = write.key
        standing = self._known.get(key, 0)
        if write.expected != standing or (write.value is None and not standing):
            write.outcome = Outcome(False, self.revision, self._version(key, standing))
            return
        self.revision += 1
        revision = self.revision
        self._known[key] = 0 if write.value is None else revision
        self._log.append((revision, key, standing, write.value))
        previous = None
        if self._want_previous or write.value is None:
            previous = self._version(key, standing)
        self.events.append(EngineEvent(key, write.value, previous, revision))
        if write.value is None:
            write.outcome = Outcome(True, revision, previous)
            return
        self._values[revision] = write.value
        if write.expires is not None:
            self._expiry.append((write.expires, revision, key))
        write.outcome = Outcome(True, revision)

    def _version(self, key: str, revision: int) -> KeyValue | None:
        return KeyValue(key, self._values[revision], revision) if revision else None

    def _point(self, found: dict[str, int]) -> None:
        """Bring `current` up to date."""
        changed = {row[1]: self._known[row[1]] for row in self._log}
        present = [(key, revision) for key, revision in changed.items() if revision]
        gone = [key for key, revision in changed.items() if not revision and key in found]
        if present:
            self._insert("current", present, 2)
        if gone:
            self._connection.execute(
                "DELETE FROM current WHERE key IN (SELECT value FROM json_each(?))", (orjson.dumps(gone).decode(),)
            )

    def _insert(self, table: str, rows: Sequence[tuple[Any, ...]], columns: int) -> None:
        one = "(" + ",".join("?" * columns) + ")"
        for part in parts(rows, ROWS):
            arguments = [value for row in part for value in row]
            self._connection.execute(f"REPLACE INTO {table} VALUES {','.join([one] * len(part))}", arguments)


def parts(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for position in range(0, len(rows), size):
        yield rows[position : position + size]
