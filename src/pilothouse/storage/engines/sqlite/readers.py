"""A few threads with connections of their own, for reads that must not wait for the writer."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, ParamSpec, TypeVar

from pilothouse.storage.engines.sqlite.files import open_reader, translated
from pilothouse.storage.engines.sqlite.settings import SqliteSettings
from pilothouse.storage.engines.sqlite.turns import Turns
from pilothouse.storage.errors import Unavailable

T = TypeVar("T")
P = ParamSpec("P")


class Readers:
    """Runs functions of a connection.

    There are no transactions around them: what a revision holds never changes, it can only be forgotten, and the
    engine looks for that afterwards.
    """

    def __init__(self, path: str, settings: SqliteSettings, turns: Turns) -> None:
        self._path = path
        self._settings = settings
        self._turns = turns
        self._pool = ThreadPoolExecutor(settings.readers, thread_name_prefix="storage-reader")
        self._mine = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._closed = False

    async def run(self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kw: P.kwargs) -> T:
        self.check_open()
        self._turns.begin()
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._pool, self._run, lambda connection: work(connection, *args, **kw)
            )
        finally:
            self._turns.end()

    def check_open(self) -> None:
        """Raises Unavailable once closed."""
        if self._closed:
            raise Unavailable("the store is closed")

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with translated(self._path):
            connection: sqlite3.Connection | None = getattr(self._mine, "connection", None)
            if connection is None:
                connection = open_reader(self._path, self._settings)
                self._mine.connection = connection
                self._connections.append(connection)
            self._turns.passed()
            result = work(connection)
            self._turns.passed()
            return result

    async def close(self) -> None:
        self._closed = True
        await asyncio.to_thread(self._pool.shutdown)
        for connection in self._connections:
            connection.close()
