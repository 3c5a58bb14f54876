"""What can be set about the SQLite engine, and how its connections are made."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from pilothouse.kit.record import record

BUSY = 10_000  # milliseconds to wait for a lock of another connection

Connect = Callable[[str], sqlite3.Connection]


def connect(path: str) -> sqlite3.Connection:
    """A connection in autocommit mode: transactions are ours to begin. It may be used from any one thread at a time."""
    return sqlite3.connect(
        path, timeout=BUSY / 1000, isolation_level=None, check_same_thread=False, cached_statements=512
    )


@record
class SqliteSettings:
    """Times are in seconds, sizes in bytes."""

    keep_history: float = 300.0  # how long old versions are kept for watches and reads at a revision
    max_value: int = 1_572_864  # the limit of etcd's requests, so that data can move there
    group: int = 256  # writes in one commit, at most
    group_bytes: int = 8 << 20
    max_pending: int = 20_000  # writes that may wait for the writer; more are refused
    readers: int = 2
    checkpoint_bytes: int = 8 << 20  # about how much is written between checkpoints
    idle: float = 30.0  # empty the log after this long without writes
    compact_step: int = 200  # rows forgotten in one transaction
    check_seconds: float = 20.0  # the check at start stops after this long; 0 leaves it out
    housekeeping: float = 1.0
    page_size: int = 8192
    cache_bytes: int = 8 << 20  # SQLite's page cache of the writer's connection
    connect: Connect = connect
