"""Which keys have outlived their time. A key that was written again since has a later entry, or none."""

from __future__ import annotations

import sqlite3


def due(connection: sqlite3.Connection, now: float, limit: int) -> tuple[list[tuple[str, int]], float]:
    """Keys to delete, each with its revision; and when the next one is due (infinity: none is known)."""
    rows: list[tuple[str, int]] = connection.execute(
        "SELECT e.key, e.revision FROM expiry e JOIN current c ON c.key = e.key AND c.revision = e.revision"
        " WHERE e.expires <= ? ORDER BY e.expires, e.revision LIMIT ?",
        (now, limit),
    ).fetchall()
    following = connection.execute("SELECT min(expires) FROM expiry WHERE expires > ?", (now,)).fetchone()[0]
    return rows, float("inf") if following is None else float(following)


def forget(connection: sqlite3.Connection, now: float) -> None:
    """Drop the entries that are due and whose version is no more."""
    connection.execute(
        "DELETE FROM expiry WHERE expires <= ? AND NOT EXISTS"
        " (SELECT 1 FROM current c WHERE c.key = expiry.key AND c.revision = expiry.revision)",
        (now,),
    )
