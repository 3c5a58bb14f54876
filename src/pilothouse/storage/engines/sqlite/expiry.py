"""Which keys have outlived their time. A key that was written again since has a later entry, or none."""

from __future__ import annotations

import sqlite3

import orjson


def due(connection: sqlite3.Connection, now: float, limit: int) -> tuple[list[tuple[str | None, int]], float]:
    """What was to last no longer than `now`, as (key, revision), and when the next is due (infinity: none is known).

    The key may have been written since; then its revision is another. It is None where history has been forgotten.
    """
    rows: list[tuple[str | None, int]] = connection.execute(
        "SELECT l.key, e.revision FROM expiry e LEFT JOIN log l ON l.revision = e.revision"
        " WHERE e.expires <= ? ORDER BY e.expires, e.revision LIMIT ?",
        (now, limit),
    ).fetchall()
    following = connection.execute("SELECT min(expires) FROM expiry WHERE expires > ?", (now,)).fetchone()[0]
    return rows, float("inf") if following is None else float(following)


def forget(connection: sqlite3.Connection, now: float, revisions: list[int]) -> None:
    """Drop the entries of these revisions, which were due at `now`."""
    connection.execute(
        "DELETE FROM expiry WHERE expires <= ? AND revision IN (SELECT value FROM json_each(?))",
        (now, orjson.dumps(revisions).decode()),
    )
