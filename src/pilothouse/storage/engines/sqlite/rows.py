"""Reads many rows in one step of SQLite.

Python's sqlite3 gives up the interpreter's lock around every row. When the event loop is busy, each time costs the
reading thread up to a whole switch interval (5 ms). So SQLite itself gathers rows: keys, revisions and lengths into
JSON arrays, and the values into one long blob that is cut here. That is also less work than a row at a time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from pilothouse.storage.api import EngineEvent, KeyValue

FIRST_CHUNK = 64  # rows; further chunks are sized so that they come to about CHUNK_BYTES
LARGEST_CHUNK = 4096
CHUNK_BYTES = 4 << 20

_LATEST = """
SELECT c.key AS key, c.revision AS revision, l.value AS value
FROM current c JOIN log l ON l.revision = c.revision
WHERE c.key >= :start AND c.key < :end ORDER BY c.key LIMIT :limit
"""

# The state at :at is the present one, but for the keys that changed since: for those, what their first change replaced.
_CHANGED = """
WITH changed AS MATERIALIZED (
  SELECT key, min(revision) AS first, previous FROM log
  WHERE revision > :at AND key >= :start AND key < :end GROUP BY key)
"""
_STATE = """
SELECT key, revision FROM current WHERE key >= :start AND key < :end AND key NOT IN (SELECT key FROM changed)
UNION ALL SELECT key, previous FROM changed WHERE previous > 0
"""
_PAST = f"""
{_CHANGED}
SELECT s.key AS key, s.revision AS revision, l.value AS value
FROM (SELECT key, revision FROM ({_STATE}) WHERE key >= :after ORDER BY key LIMIT :limit) s
JOIN log l ON l.revision = s.revision
"""

_GATHER = """
SELECT json_group_array(key), json_group_array(revision), json_group_array(length(value)),
       CAST(group_concat(value, '') AS BLOB) FROM ({rows})
"""
LATEST = _GATHER.format(rows=_LATEST)
PAST = _GATHER.format(rows=_PAST)
COUNT = "SELECT count(*) FROM current WHERE key >= :start AND key < :end"
COUNT_PAST = f"{_CHANGED} SELECT count(*) FROM ({_STATE})"

_EVENTS = """
SELECT l.key AS key, l.revision AS revision, l.value AS value, l.previous AS previous, {before} AS before
FROM log l {join} WHERE l.revision > :since AND l.revision <= :until AND l.key >= :start AND l.key < :end
ORDER BY l.revision LIMIT :limit
"""
_GATHER_EVENTS = """
SELECT json_group_array(key), json_group_array(revision), json_group_array(length(value)),
       json_group_array(previous), json_group_array(length(before)),
       CAST(group_concat(value, '') AS BLOB), CAST(group_concat(before, '') AS BLOB) FROM ({rows})
"""
EVENTS = _GATHER_EVENTS.format(rows=_EVENTS.format(before="NULL", join=""))
EVENTS_WITH_PREVIOUS = _GATHER_EVENTS.format(
    rows=_EVENTS.format(before="p.value", join="LEFT JOIN log p ON p.revision = l.previous")
)

VALUES = """
SELECT json_group_array(revision), json_group_array(length(value)), CAST(group_concat(value, '') AS BLOB)
FROM (SELECT revision, value FROM log WHERE revision IN (SELECT value FROM json_each(?)))
"""


def cut(blob: bytes | None, lengths: Sequence[int | None]) -> Iterator[bytes | None]:
    """The values that were joined into `blob`; None where the length is None."""
    position = 0
    for length in lengths:
        if length is None:
            yield None
        else:
            yield blob[position : position + length] if blob is not None else b""
            position += length


def next_limit(rows: int, size: int) -> int:
    """How many rows to gather next, when the last `rows` had `size` bytes."""
    return max(16, min(LARGEST_CHUNK, CHUNK_BYTES * rows // max(size, 1)))


def read_range(connection: sqlite3.Connection, start: str, end: str, limit: int, at: int | None) -> list[KeyValue]:
    """The keys of [start, end), at most `limit` (0: all), now or as they were at revision `at`. In a transaction."""
    items: list[KeyValue] = []
    arguments: dict[str, Any] = {"start": start, "end": end, "at": at, "after": start}
    chunk = FIRST_CHUNK
    while True:
        chunk = min(chunk, limit - len(items)) if limit else chunk
        statement = LATEST if at is None else PAST
        keys, revisions, lengths, blob = connection.execute(statement, {**arguments, "limit": chunk}).fetchone()
        found_keys: list[str] = orjson.loads(keys)
        values = cut(blob, orjson.loads(lengths))
        found = zip(found_keys, values, orjson.loads(revisions), strict=True)
        items.extend(KeyValue(key, value or b"", revision) for key, value, revision in found)
        if len(found_keys) < chunk or (limit and len(items) >= limit):
            return items
        arguments["start" if at is None else "after"] = found_keys[-1] + "\0"
        chunk = next_limit(len(found_keys), len(blob or b""))


def read_count(connection: sqlite3.Connection, start: str, end: str, at: int | None) -> int:
    statement = COUNT if at is None else COUNT_PAST
    count: int = connection.execute(statement, {"start": start, "end": end, "at": at}).fetchone()[0]
    return count


def read_events(
    connection: sqlite3.Connection, start: str, end: str, since: int, until: int, limit: int, previous: bool
) -> tuple[list[EngineEvent], bool]:
    """At most `limit` events of (since, until] in [start, end), and whether there may be more."""
    arguments = {"start": start, "end": end, "since": since, "until": until, "limit": limit}
    statement = EVENTS_WITH_PREVIOUS if previous else EVENTS
    keys, revisions, lengths, previouses, before_lengths, blob, before_blob = connection.execute(
        statement, arguments
    ).fetchone()
    rows = zip(
        orjson.loads(keys),
        cut(blob, orjson.loads(lengths)),
        orjson.loads(revisions),
        orjson.loads(previouses),
        cut(before_blob, orjson.loads(before_lengths)),
        strict=True,
    )
    events = [
        EngineEvent(key, value, KeyValue(key, before or b"", replaced) if previous and replaced else None, revision)
        for key, value, revision, replaced, before in rows
    ]
    return events, len(events) == limit


def read_values(connection: sqlite3.Connection, revisions: Sequence[int]) -> dict[int, bytes]:
    """The values that were written at these revisions."""
    found, lengths, blob = connection.execute(VALUES, (orjson.dumps(revisions).decode(),)).fetchone()
    return {
        revision: value or b""
        for revision, value in zip(orjson.loads(found), cut(blob, orjson.loads(lengths)), strict=True)
    }


def newest_revision(connection: sqlite3.Connection) -> int:
    revision: int = connection.execute("SELECT max(revision) FROM log").fetchone()[0]
    return revision


def progress(connection: sqlite3.Connection, name: str) -> int:
    """'compacted': reads below it are refused. 'swept': rows below it have been looked at by compaction."""
    revision: int = connection.execute("SELECT revision FROM progress WHERE name = ?", (name,)).fetchone()[0]
    return revision
