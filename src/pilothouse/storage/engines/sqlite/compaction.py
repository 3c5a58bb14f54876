"""Forgetting old versions, in steps small enough to stand between two commits.

`compacted` says below which revision reads are refused; it moves first. `swept` follows: each row of the log up to
`compacted` that replaced another makes that other one unreachable, and a delete below it is no longer needed. The row
at `compacted` itself stays, even a delete: the newest row of the log tells the revision of the store.
"""

from __future__ import annotations

import sqlite3

import orjson

from pilothouse.storage.engines.sqlite.rows import progress


def mark(connection: sqlite3.Connection, revision: int) -> None:
    """Remember, across restarts, that reads below `revision` are refused."""
    connection.execute("UPDATE progress SET revision = max(revision, ?) WHERE name = 'compacted'", (revision,))


def sweep(connection: sqlite3.Connection, rows: int) -> bool:
    """Forget what the next `rows` rows of the log make unreachable; whether there is more to do."""
    swept = progress(connection, "swept")
    compacted = progress(connection, "compacted")
    if swept >= compacted:
        return False
    connection.execute("BEGIN IMMEDIATE")  # the writer rolls back what fails
    last, replaced, deletes = connection.execute(
        "SELECT max(revision), json_group_array(previous) FILTER (WHERE previous > 0),"
        " json_group_array(revision) FILTER (WHERE size IS NULL AND revision < :compacted)"
        " FROM (SELECT revision, previous, size FROM log"
        " WHERE revision >= :swept AND revision <= :compacted ORDER BY revision LIMIT :rows)",
        {"swept": swept, "compacted": compacted, "rows": rows},
    ).fetchone()
    dead = orjson.loads(replaced) + orjson.loads(deletes)
    if dead:
        listed = orjson.dumps(dead).decode()
        for table in ("log", "value"):
            connection.execute(f"DELETE FROM {table} WHERE revision IN (SELECT value FROM json_each(?))", (listed,))
    following = compacted if last is None else min(last + 1, compacted)
    connection.execute("UPDATE progress SET revision = ? WHERE name = 'swept'", (following,))
    connection.execute("COMMIT")
    return bool(following < compacted)
