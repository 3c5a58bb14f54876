"""Which keys there are and at which revision each was written last, in memory.

A table of this on disk costs more than the values do: each write dirties a page of it somewhere, and a page is 8 kB.
In memory it is about 150 bytes a key, and it is rebuilt at start from the short rows of the log.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Mapping, Sequence

import orjson
from sortedcontainers import SortedDict

from pilothouse.storage.api import EngineEvent
from pilothouse.storage.engines.slices import slice_of

RECENT = 8192  # changes that can be undone without asking the file
LOAD_ROWS = 20_000

Undone = Mapping[str, int]  # key -> revision that stood there (0: nothing), for keys that changed since


class Index:
    """Belongs to the event loop, where it follows what has been delivered. Other threads may only look up one key."""

    def __init__(self, revisions: Mapping[str, int], revision: int) -> None:
        self._revisions: SortedDict[str, int] = SortedDict(revisions)
        self._recent: deque[tuple[int, str, int]] = deque()
        self._floor = revision  # all changes after it are in `_recent`
        self.find = self._revisions.get

    def __len__(self) -> int:
        return len(self._revisions)

    def apply(self, events: Sequence[EngineEvent]) -> None:
        revisions, recent = self._revisions, self._recent
        for event in events:
            key, revision = event.key, event.revision
            previous = revisions.get(key, 0)
            if event.value is None:
                revisions.pop(key, None)
            else:
                revisions[key] = revision
            recent.append((revision, key, previous))
        while len(recent) > RECENT:
            self._floor = recent.popleft()[0]

    @property
    def floor(self) -> int:
        """The oldest revision to which `undone` reaches."""
        return self._floor

    def undone(self, start: str, end: str, at: int) -> dict[str, int]:
        """What stood at `at` (not below `floor`) for keys of [start, end) that have changed since."""
        found: dict[str, int] = {}
        for revision, key, previous in reversed(self._recent):
            if revision <= at:
                break
            if start <= key < end:
                found[key] = previous
        return found

    def slice(self, start: str, end: str, limit: int, undone: Undone) -> tuple[list[tuple[str, int]], int]:
        """At most `limit` (0: all) keys with their revisions, and how many there are in [start, end)."""
        return slice_of(self._revisions, start, end, limit, undone)


def load_index(connection: sqlite3.Connection, newest: int) -> Index:
    """Read the log through, in large steps."""
    revisions: dict[str, int] = {}
    position = 0
    while position < newest:
        keys, found, sizes = connection.execute(
            "SELECT json_group_array(key), json_group_array(revision), json_group_array(size) FROM"
            " (SELECT key, revision, size FROM log WHERE revision > ? ORDER BY revision LIMIT ?)",
            (position, LOAD_ROWS),
        ).fetchone()
        rows: list[int] = orjson.loads(found)
        for key, revision, size in zip(orjson.loads(keys), rows, orjson.loads(sizes), strict=True):
            if size is None:
                revisions.pop(key, None)
            else:
                revisions[key] = revision
        position = rows[-1]
    return Index(revisions, newest)
