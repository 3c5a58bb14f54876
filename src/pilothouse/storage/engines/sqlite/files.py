"""The file: made, locked, recognised and checked before anything is read from it.

`application_id` says that a file is ours, `user_version` which form its tables have. Whatever is wrong is refused by
name, with what to do about it.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator

from pilothouse.storage.api import FIRST_REVISION
from pilothouse.storage.engines.sqlite.commit import VIEW
from pilothouse.storage.engines.sqlite.settings import SqliteSettings
from pilothouse.storage.errors import Corrupt, StorageError, Unavailable

log = logging.getLogger("pilothouse.storage")

APPLICATION_ID = 0x506C7468  # "Plth"
SCHEMA_VERSION = 1
OLDEST_SQLITE = (3, 35, 0)

# `log` has a short row for every version, in the order of writes; `size` NULL is a delete, `previous` the revision that
# was replaced (0: none). `value` has the bytes. Both only grow at their ends, so a commit touches few pages; which
# revision of a key is the newest is kept in memory (index.py) and read from `log` at start. The revision of an empty
# store is held by a row that stands for nothing.
SCHEMA = f"""
CREATE TABLE log (revision INTEGER PRIMARY KEY, key TEXT NOT NULL, previous INTEGER NOT NULL, size INTEGER);
CREATE TABLE value (revision INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE expiry (expires REAL NOT NULL, revision INTEGER NOT NULL, PRIMARY KEY (expires, revision)) WITHOUT ROWID;
CREATE TABLE progress (name TEXT PRIMARY KEY, revision INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO log VALUES ({FIRST_REVISION}, '', 0, NULL);
INSERT INTO progress VALUES ('compacted', {FIRST_REVISION}), ('swept', {FIRST_REVISION});
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""


class FileLock:
    """An exclusive lock on a file beside the database, held while the engine is open. The system drops it with us."""

    def __init__(self, path: str) -> None:
        self._path = path + ".lock"
        self._descriptor = -1

    def acquire(self) -> None:
        """Raises Unavailable where another process (or engine) holds it."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            who = f"process {holder}" if holder else "another process"
            raise Unavailable(
                f"{self._path}: the store is in use by {who}; stop that server, or give this one a file of its own"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def prepare(path: str, settings: SqliteSettings) -> None:
    """Make the file where there is none, and make sure that what is there is ours and whole.

    Raises Corrupt for a file that is not ours, is newer than this program or is damaged; Unavailable for I/O errors.
    """
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        needed = ".".join(map(str, OLDEST_SQLITE))
        raise Unavailable(f"this Python has SQLite {sqlite3.sqlite_version}; {needed} or newer is needed")
    made = _make_private(path)
    with translated(path):
        connection = settings.connect(path)
        try:
            if made or _blank(connection):
                _create(connection, settings)
                _sync_folder(path)
            else:
                _recognise(connection, path)
                if settings.check_seconds > 0:
                    _check(connection, path, settings.check_seconds)
        finally:
            connection.close()


def open_writer(path: str, settings: SqliteSettings) -> sqlite3.Connection:
    """The connection that writes. Checkpoints are made elsewhere, so that no commit has to wait for one."""
    connection = settings.connect(path)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA cache_size = -{settings.cache_bytes // 1024}")
    connection.executescript(VIEW)
    return connection


def open_reader(path: str, settings: SqliteSettings) -> sqlite3.Connection:
    connection = settings.connect(path)
    connection.execute("PRAGMA query_only = 1")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    return connection


def _make_private(path: str) -> bool:
    """Create the file so that nobody else can read it; whether it is new. SQLite gives its side files the same mode."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        if os.stat(path).st_mode & 0o077:
            log.warning("%s could be read by others; taking that away", path)
            os.chmod(path, 0o600)
        return False
    os.close(descriptor)
    return True


def _blank(connection: sqlite3.Connection) -> bool:
    """Whether nothing was ever made in it (a first start may have been killed half-way)."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return bool(application == 0 and tables == 0)


def _create(connection: sqlite3.Connection, settings: SqliteSettings) -> None:
    connection.execute(f"PRAGMA page_size = {settings.page_size}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("BEGIN IMMEDIATE")
    for statement in filter(str.strip, SCHEMA.split(";")):
        connection.execute(statement)
    connection.execute("COMMIT")


def _sync_folder(path: str) -> None:
    """Make the new file's name durable too."""
    descriptor = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _recognise(connection: sqlite3.Connection, path: str) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION_ID:
        raise Corrupt(f"{path}: a SQLite file of another program; name a file that does not exist yet, or ours")
    if version > SCHEMA_VERSION:
        raise Corrupt(
            f"{path}: written by a newer version (form {version}, this program knows {SCHEMA_VERSION}); "
            "run that version, or start from a copy made before the upgrade"
        )
    if version < SCHEMA_VERSION:
        raise Corrupt(f"{path}: has form {version}, which this program can't read; restore a backup")
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise Corrupt(
            f"{path}: its journal can't be switched to WAL (it stays {mode}); is it on a network file system?"
        )


def _check(connection: sqlite3.Connection, path: str, seconds: float) -> None:
    """Let SQLite check the file's structure, for a bounded time: a huge store must start all the same."""
    started = time.monotonic()
    stop = threading.Timer(seconds, connection.interrupt)
    stop.daemon = True
    size = os.path.getsize(path)
    if size > 256 << 20:
        log.info("checking %s (%d MiB), for %.0f s at most", path, size >> 20, seconds)
    stop.start()
    try:
        rows = connection.execute("PRAGMA quick_check(5)").fetchall()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        log.warning("the check of %s was stopped after %.0f s, nothing was wrong until then", path, seconds)
        return
    finally:
        stop.cancel()
    problems = [str(row[0]) for row in rows if row[0] not in ("ok", "interrupted")]
    if problems:
        raise Corrupt(
            f"{path}: damaged ({'; '.join(problems)}); restore a backup, or save what is left with the .recover "
            "command of the sqlite3 shell"
        )
    log.debug("checked %s in %.2f s", path, time.monotonic() - started)


@contextlib.contextmanager
def translated(path: str) -> Iterator[None]:
    """Errors of SQLite and of the system, as errors of the store."""
    try:
        yield
    except sqlite3.Error as error:
        raise as_storage_error(path, error) from error
    except OSError as error:
        raise Unavailable(f"{path}: {error.strerror or error}") from error


_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def as_storage_error(path: str, error: sqlite3.Error) -> StorageError:
    code = getattr(error, "sqlite_errorcode", 0) or 0
    if code & 0xFF in _DAMAGE:
        return Corrupt(f"{path}: {error}; if this is a store of ours, restore a backup")
    return Unavailable(f"{path}: {error}")
