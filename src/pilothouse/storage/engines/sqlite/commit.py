"""One commit: a group of conditional writes, checked and written with a handful of statements however many they are.

Each statement gives up the interpreter's lock once, so their number is what counts (see rows.py).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from pilothouse.storage.api import EngineEvent, KeyValue, Outcome
from pilothouse.storage.engines.sqlite.rows import read_values

T = TypeVar("T")

ROWS = 64  # in one INSERT
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


class Group:
    """Works out what a group of writes does, in the order they came, then writes it. In a transaction."""

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
        self._log: list[tuple[int, str, int, int | None]] = []
        self._bytes: list[tuple[int, bytes]] = []
        self._expiry: list[tuple[float, int]] = []
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
        self._insert("log", self._log, 4)
        self._insert("value", self._bytes, 2)
        self._insert("expiry", self._expiry, 2)
        return sum(len(row[1]) for row in self._bytes) + ROW_BYTES * len(self._log)

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
        if value is None:
            self.known[key] = 0
            self._log.append((revision, key, standing, None))
            write.outcome = Outcome(True, revision, previous)
            return
        self.known[key] = revision
        self._values[revision] = value  # a later write of this group may ask for it
        self._log.append((revision, key, standing, len(value)))
        self._bytes.append((revision, value))
        if write.expires is not None:
            self._expiry.append((write.expires, revision))
        write.outcome = Outcome(True, revision)

    def _version(self, key: str, revision: int) -> KeyValue | None:
        return KeyValue(key, self._values[revision], revision) if revision else None

    def _insert(self, table: str, rows: Sequence[tuple[Any, ...]], columns: int) -> None:
        one = "(" + ",".join("?" * columns) + ")"
        for part in parts(rows, ROWS):
            arguments = [value for row in part for value in row]
            self._connection.execute(f"INSERT INTO {table} VALUES {','.join([one] * len(part))}", arguments)


def parts(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for position in range(0, len(rows), size):
        yield rows[position : position + size]
