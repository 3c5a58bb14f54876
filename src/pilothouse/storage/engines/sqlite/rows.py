"""Reads many rows in one step of SQLite.

Python's sqlite3 gives up the interpreter's lock around every row. When the event loop is busy, each time costs the
reading thread up to a whole switch interval (5 ms). So SQLite itself gathers rows: keys, revisions and lengths into
JSON arrays, and the values into one long blob that is cut here. That is also less work than a row at a time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

import orjson

from pilothouse.storage.api import EngineEvent, KeyValue

FIRST_CHUNK = 64  # values; further chunks are sized so that they come to about CHUNK_BYTES
LARGEST_CHUNK = 4096
CHUNK_BYTES = 4 << 20

_VALUES = """
SELECT json_group_array(revision), json_group_array(length(bytes)), CAST(group_concat(bytes, '') AS BLOB)
FROM (SELECT revision, bytes FROM value WHERE revision IN (SELECT value FROM json_each(?)))
"""

_UNDONE = """
SELECT json_group_object(key, previous) FROM
(SELECT key, min(revision), previous FROM log
 WHERE revision > ? AND revision <= ? AND key >= ? AND key < ? GROUP BY key)
"""

_EVENTS = """
SELECT json_group_array(key), json_group_array(revision), json_group_array(size),
       json_group_array(previous), json_group_array(length(before)),
       CAST(group_concat(bytes, '') AS BLOB), CAST(group_concat(before, '') AS BLOB) FROM
(SELECT l.key AS key, l.revision AS revision, l.size AS size, l.previous AS previous, v.bytes AS bytes, {before}
 FROM log l LEFT JOIN value v ON v.revision = l.revision {join}
 WHERE l.revision > :since AND l.revision <= :until AND l.key >= :start AND l.key < :end
 ORDER BY l.revision LIMIT :limit)
"""
EVENTS = _EVENTS.format(before="NULL AS before", join="")
EVENTS_WITH_PREVIOUS = _EVENTS.format(before="p.bytes AS before", join="LEFT JOIN value p ON p.revision = l.previous")


def cut(blob: bytes | None, lengths: Sequence[int | None]) -> Iterator[bytes | None]:
    """The values that were joined into `blob`; None where the length is None."""
    position = 0
    for length in lengths:
        if length is None:
            yield None
        else:
            yield blob[position : position + length] if blob is not None else b""
            position += length


def read_values(connection: sqlite3.Connection, revisions: Sequence[int]) -> dict[int, bytes]:
    """The values that were written at these revisions. What has been forgotten is missing."""
    values: dict[int, bytes] = {}
    position, chunk = 0, FIRST_CHUNK
    while position < len(revisions):
        wanted = revisions[position : position + chunk]
        found, lengths, blob = connection.execute(_VALUES, (orjson.dumps(wanted).decode(),)).fetchone()
        for revision, value in zip(orjson.loads(found), cut(blob, orjson.loads(lengths)), strict=True):
            values[revision] = value or b""
        position += len(wanted)
        chunk = max(16, min(LARGEST_CHUNK, CHUNK_BYTES * len(wanted) // max(len(blob or b""), 1)))
    return values


def read_undone(connection: sqlite3.Connection, start: str, end: str, at: int, until: int) -> dict[str, int]:
    """For each key of [start, end) that changed in (at, until]: the revision that stood there at `at`, 0 for none."""
    row = connection.execute(_UNDONE, (at, until, start, end)).fetchone()
    found: dict[str, int] = orjson.loads(row[0])
    return found


def read_events(
    connection: sqlite3.Connection, start: str, end: str, since: int, until: int, limit: int, previous: bool
) -> tuple[list[EngineEvent], bool]:
    """At most `limit` events of (since, until] in [start, end), and whether there may be more."""
    keys, revisions, sizes, replaced, before_sizes, blob, before_blob = connection.execute(
        EVENTS_WITH_PREVIOUS if previous else EVENTS,
        {"start": start, "end": end, "since": since, "until": until, "limit": limit},
    ).fetchone()
    rows = zip(
        orjson.loads(keys),
        cut(blob, orjson.loads(sizes)),
        orjson.loads(revisions),
        orjson.loads(replaced),
        cut(before_blob, orjson.loads(before_sizes)),
        strict=True,
    )
    events = [
        EngineEvent(key, value, KeyValue(key, before or b"", standing) if previous and standing else None, revision)
        for key, value, revision, standing, before in rows
    ]
    return events, len(events) == limit


def newest_revision(connection: sqlite3.Connection) -> int:
    revision: int = connection.execute("SELECT max(revision) FROM log").fetchone()[0]
    return revision


def progress(connection: sqlite3.Connection, name: str) -> int:
    """'compacted': reads below it are refused. 'swept': rows below it have been looked at by compaction."""
    revision: int = connection.execute("SELECT revision FROM progress WHERE name = ?", (name,)).fetchone()[0]
    return revision
