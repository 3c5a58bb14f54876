"""The SQLite file: what is refused, what survives, and what a full or failing disk does."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pilothouse.storage.api import ListRequest
from pilothouse.storage.engines.sqlite import SqliteEngine, SqliteSettings
from pilothouse.storage.engines.sqlite.settings import connect
from pilothouse.storage.errors import Compacted, Corrupt, Unavailable
from pilothouse.storage.store import EngineStorage

from .backends import PREFIX, Clock, Seen, asks, at, fill, key, names, run, to

SETTINGS = SqliteSettings(check_seconds=5)


async def opened(path: Path, settings: SqliteSettings = SETTINGS) -> tuple[SqliteEngine, EngineStorage]:
    engine = await SqliteEngine.open(str(path), settings, now=Clock())
    return engine, EngineStorage(engine, PREFIX)


def test_what_was_written_is_there_after_a_restart(tmp_path: Path) -> None:
    async def tell() -> None:
        engine, storage = await opened(tmp_path / "store.db")
        await fill(storage, 10)
        await storage.update(key("ns/003"), to(b"changed"))
        await storage.delete(key("ns/004"))
        before = await storage.list(asks())
        await engine.close()

        engine, storage = await opened(tmp_path / "store.db")
        after = await storage.list(asks())
        assert after.revision == before.revision == 14
        assert [(i.key, i.value, i.revision) for i in after.items] == [
            (i.key, i.value, i.revision) for i in before.items
        ]
        assert len((await at(storage, 12)).items) == 10
        seen = Seen()
        await storage.watch(PREFIX, 12, seen.deliver, seen.ended)
        assert seen.short == [("changed", "ns/003", 13), ("deleted", "ns/004", 14)]
        assert (await storage.create(key("ns/new"), b"1")).revision == 15
        await engine.close()

    run(tell())


def test_compaction_is_remembered_and_finished_after_a_restart(tmp_path: Path) -> None:
    async def tell() -> None:
        engine, storage = await opened(tmp_path / "store.db")
        await fill(storage, 4)
        for number in range(20):
            await storage.update(key("ns/001"), to(b"%d" % number))
        await storage.delete(key("ns/002"))
        await storage.delete(key("ns/003"))
        await engine.compact(await engine.revision())
        await engine.close()
        engine, storage = await opened(tmp_path / "store.db")
        with pytest.raises(Compacted):
            await at(storage, 27)
        with pytest.raises(Compacted):
            await storage.watch(PREFIX, 27, Seen().deliver, Seen().ended)
        assert names(await at(storage, 28)) == ["ns/000", "ns/001"]
        await engine.close()

    run(tell())
    rows = connect(str(tmp_path / "store.db"))
    assert rows.execute("SELECT count(*) FROM value").fetchone() == (2,)
    assert rows.execute("SELECT count(*) FROM log").fetchone() == (3,)  # the newest row stays, though it is a delete
    rows.close()


def test_the_files_are_for_the_owner_only(tmp_path: Path) -> None:
    async def tell() -> None:
        (tmp_path / "open.db").touch(0o644)
        for name in ("store.db", "open.db"):
            engine, storage = await opened(tmp_path / name)
            await storage.create(key("ns/a"), b"1")
            for suffix in ("", "-wal", "-shm", ".lock"):
                assert stat.S_IMODE(os.stat(tmp_path / (name + suffix)).st_mode) == 0o600
            await engine.close()

    run(tell())


def test_two_servers_never_share_a_file(tmp_path: Path) -> None:
    async def tell() -> None:
        engine, _ = await opened(tmp_path / "store.db")
        with pytest.raises(Unavailable, match=f"in use by process {os.getpid()}; stop that server"):
            await opened(tmp_path / "store.db")
        await engine.close()
        engine, _ = await opened(tmp_path / "store.db")
        await engine.close()

    run(tell())


def refused(path: Path, match: str, kind: type[Exception] = Corrupt) -> None:
    async def tell() -> None:
        before = path.read_bytes()
        for _ in range(2):  # the lock was given back
            with pytest.raises(kind, match=match):
                await opened(path)
        assert path.read_bytes() == before

    run(tell())


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE recipes (name TEXT)")
    other.close()
    refused(tmp_path / "other.db", "a SQLite file of another program")


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_bytes(b"Dear reader,\n" * 1000)
    refused(tmp_path / "letter.txt", "not a database")


def test_a_newer_file_is_refused_by_name(tmp_path: Path) -> None:
    async def tell() -> None:
        engine, _ = await opened(tmp_path / "store.db")
        await engine.close()

    run(tell())
    connection = sqlite3.connect(tmp_path / "store.db")
    connection.execute("PRAGMA user_version = 7")
    connection.close()
    refused(tmp_path / "store.db", r"newer version \(form 7, this program knows 1\); run that version")


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    async def tell() -> None:
        engine, storage = await opened(tmp_path / "store.db")
        await asyncio.gather(*(storage.create(key(f"ns/{number}"), bytes(2000)) for number in range(100)))
        await engine.close()

    run(tell())
    content = bytearray((tmp_path / "store.db").read_bytes())
    for page in range(6, 12):
        content[page * 8192 : page * 8192 + 64] = b"\xff" * 64
    (tmp_path / "store.db").write_bytes(content)
    refused(tmp_path / "store.db", "damaged|malformed")


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    async def tell() -> None:
        with pytest.raises(Unavailable, match=r"nowhere/store\.db: No such file"):
            await opened(tmp_path / "nowhere" / "store.db")

    run(tell())


def test_a_first_start_that_was_killed_half_way_can_be_repeated(tmp_path: Path) -> None:
    async def tell() -> None:
        half = sqlite3.connect(tmp_path / "store.db")
        half.execute("PRAGMA journal_mode = WAL")
        half.close()
        engine, storage = await opened(tmp_path / "store.db")
        assert (await storage.create(key("ns/a"), b"1")).revision == 3
        await engine.close()

    run(tell())


def test_a_check_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    async def tell() -> None:
        engine, storage = await opened(tmp_path / "store.db")
        await asyncio.gather(*(storage.create(key(f"ns/{number}"), bytes(20_000)) for number in range(300)))
        await engine.close()
        engine, storage = await opened(tmp_path / "store.db", replace(SETTINGS, check_seconds=1e-6))
        assert (await storage.list(asks(limit=1))).remaining == 299
        await engine.close()

    run(tell())


class Plan:
    """What the connections of a test are to suffer."""

    def __init__(self) -> None:
        self.failing: tuple[str, int] | None = None  # beginning of the statement, error code
        self.made: list[sqlite3.Connection] = []

    def connect(self, path: str) -> sqlite3.Connection:
        plan = self

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:  # type: ignore[override]
                if plan.failing is not None and sql.strip().startswith(plan.failing[0]):
                    error = sqlite3.OperationalError("injected")
                    error.sqlite_errorcode = plan.failing[1]
                    raise error
                return super().execute(sql, *arguments)

        made = sqlite3.connect(path, isolation_level=None, check_same_thread=False, factory=Connection)
        self.made.append(made)
        return made

    def each(self, statement: str) -> None:
        for connection in self.made:
            try:
                connection.execute(statement)
            except sqlite3.ProgrammingError:
                continue  # closed since


@pytest.mark.parametrize("statement", ["INSERT INTO writes", ""])
@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_FSYNC])
def test_a_failing_disk_refuses_writes_and_leaves_nothing_behind(tmp_path: Path, statement: str, code: int) -> None:
    plan = Plan()

    async def tell() -> None:
        engine, storage = await opened(tmp_path / "store.db", replace(SETTINGS, connect=plan.connect))
        await fill(storage, 3)
        seen = Seen()
        await storage.watch(PREFIX, 5, seen.deliver, seen.ended)
        plan.failing = (statement, code)
        answers = await asyncio.gather(
            *(storage.create(key(f"ns/lost-{number}"), b"1") for number in range(5)),
            *(storage.update(key("ns/001"), to(b"lost-%d" % number)) for number in range(5)),
            storage.delete(key("ns/002")),
            return_exceptions=True,
        )
        assert [type(answer) for answer in answers] == [Unavailable] * 11
        plan.failing = None
        assert names(await storage.list(asks())) == ["ns/000", "ns/001", "ns/002"]
        assert (seen.changes, await storage.revision()) == ([], 5)
        assert (await storage.create(key("ns/new"), b"1")).revision == 6
        assert (await storage.update(key("ns/001"), to(b"kept"))).revision == 7
        assert seen.short == [("created", "ns/new", 6), ("changed", "ns/001", 7)]
        await engine.close()
        engine, storage = await opened(tmp_path / "store.db")
        assert [i.value for i in (await storage.list(asks())).items] == [b"v0", b"kept", b"v2", b"1"]
        await engine.close()

    run(tell())


def test_a_full_disk_refuses_writes_until_there_is_space(tmp_path: Path) -> None:
    plan = Plan()

    async def tell() -> None:
        settings = replace(SETTINGS, connect=plan.connect)
        engine, storage = await opened(tmp_path / "store.db", settings)
        plan.each("PRAGMA max_page_count = 60")
        written = []
        with pytest.raises(Unavailable, match="full"):
            for number in range(1000):
                await storage.create(key(f"ns/{number:04}"), bytes(5000))
                written.append(f"ns/{number:04}")
        assert 10 < len(written) < 100
        assert names(await storage.list(asks())) == written
        with pytest.raises(Unavailable, match="full"):
            await storage.create(key("ns/more"), bytes(50_000))
        plan.each("PRAGMA max_page_count = 6000")
        more = await storage.create(key("ns/more"), bytes(50_000))
        assert more.revision == len(written) + 3
        await engine.close()
        engine, storage = await opened(tmp_path / "store.db")
        assert names(await storage.list(asks())) == [*written, "ns/more"]
        await engine.close()

    run(tell())


def test_a_disk_error_while_reading_is_said(tmp_path: Path) -> None:
    plan = Plan()

    async def tell() -> None:
        engine, storage = await opened(tmp_path / "store.db", replace(SETTINGS, connect=plan.connect))
        await fill(storage, 3)
        plan.failing = ("SELECT", sqlite3.SQLITE_IOERR_READ)
        with pytest.raises(Unavailable):
            await storage.get(key("ns/001"))
        plan.failing = None
        assert (await storage.get(key("ns/001"))).value == b"v1"
        await engine.close()

    run(tell())


def test_a_failed_checkpoint_loses_nothing(tmp_path: Path) -> None:
    plan = Plan()

    async def tell() -> None:
        settings = replace(SETTINGS, connect=plan.connect, checkpoint_bytes=20_000)
        engine, storage = await opened(tmp_path / "store.db", settings)
        plan.failing = ("PRAGMA wal_checkpoint", sqlite3.SQLITE_IOERR_WRITE)
        await fill(storage, 50)
        plan.failing = None
        await fill(storage, 50, "more/{:03}")
        await engine.close()
        engine, storage = await opened(tmp_path / "store.db")
        assert len((await storage.list(asks())).items) == 100
        await engine.close()

    run(tell())


def test_the_log_stays_small_though_writers_never_pause(tmp_path: Path) -> None:
    async def tell() -> None:
        settings = replace(SETTINGS, checkpoint_bytes=1 << 20)
        engine, storage = await opened(tmp_path / "store.db", settings)

        async def write(writer: int) -> None:
            for number in range(100):
                await storage.create(key(f"{writer}/{number}"), bytes(8000))

        await asyncio.gather(*(write(writer) for writer in range(16)))
        assert os.path.getsize(tmp_path / "store.db-wal") < 8 << 20  # 13 MB of values were written
        assert len((await engine.range(PREFIX, "/registry/pods0", limit=1)).items) == 1
        await engine.close()

    run(tell())


def test_an_idle_store_empties_its_log(tmp_path: Path) -> None:
    async def tell() -> None:
        clock = Clock()
        settings = replace(SETTINGS, checkpoint_bytes=4 << 20)
        engine = await SqliteEngine.open(str(tmp_path / "store.db"), settings, now=clock)
        storage = EngineStorage(engine, PREFIX)
        await storage.create(key("ns/a"), bytes(1_000_000))
        assert os.path.getsize(tmp_path / "store.db") < 1_000_000
        for _ in range(2):
            await engine.housekeep()
            clock.time += 31
        await engine.housekeep()
        assert os.path.getsize(tmp_path / "store.db") > 1_000_000
        await engine.close()

    run(tell())


@pytest.mark.parametrize("damage", ["cut a little", "cut a page", "cut all", "garbage behind", "last bytes turned"])
def test_a_torn_log_loses_at_most_its_end(tmp_path: Path, damage: str) -> None:
    async def tell() -> None:
        engine, storage = await opened(tmp_path / "store.db")
        for number in range(20):
            await storage.create(key(f"ns/{number:03}"), b"%d" % number * 500)
        for suffix in ("", "-wal"):
            shutil.copy(tmp_path / f"store.db{suffix}", tmp_path / f"copy.db{suffix}")
        await engine.close()

        log = tmp_path / "copy.db-wal"
        content = log.read_bytes()
        log.write_bytes(
            {
                "cut a little": content[:-100],
                "cut a page": content[: -(8192 + 24)],
                "cut all": content[:32],
                "garbage behind": content + os.urandom(20_000),
                "last bytes turned": content[:-64] + bytes(64),
            }[damage]
        )
        shutil.copy(tmp_path / "copy.db", tmp_path / "again.db")
        if damage == "cut all":  # then not even the tables are there: an empty store is made
            engine, storage = await opened(tmp_path / "copy.db")
            assert names(await storage.list(asks())) == []
            await engine.close()
            return
        engine, storage = await opened(tmp_path / "copy.db")
        found = await storage.list(ListRequest(PREFIX))
        kept = 20 if damage == "garbage behind" else 19
        assert names(found) == [f"ns/{number:03}" for number in range(kept)]
        assert found.revision == kept + 2
        assert all(item.value == b"%d" % number * 500 for number, item in enumerate(found.items))
        assert (await storage.create(key("ns/new"), b"1")).revision == kept + 3
        await engine.close()

    run(tell())


def test_closing_finishes_what_was_submitted(tmp_path: Path) -> None:
    async def tell() -> None:
        engine, storage = await opened(tmp_path / "store.db")
        writes = [asyncio.ensure_future(storage.create(key(f"ns/{number}"), b"1")) for number in range(100)]
        await asyncio.sleep(0)
        await engine.close()
        assert all(write.done() for write in writes)
        revisions = [write.result().revision for write in writes]
        engine, storage = await opened(tmp_path / "store.db")
        assert len((await storage.list(asks())).items) == len(revisions) == 100
        await engine.close()

    run(tell())


def test_too_many_waiting_writes_are_refused(tmp_path: Path) -> None:
    async def tell() -> None:
        engine, storage = await opened(tmp_path / "store.db", replace(SETTINGS, max_pending=10))
        answers = await asyncio.gather(
            *(storage.create(key(f"ns/{number}"), b"1") for number in range(50)), return_exceptions=True
        )
        assert sum(isinstance(answer, Unavailable) for answer in answers) == 40
        assert len((await storage.list(asks())).items) == 10
        await engine.close()

    run(tell())


def test_writes_and_reads_get_their_turn_while_the_loop_is_busy(tmp_path: Path) -> None:
    async def tell() -> None:
        engine, storage = await opened(tmp_path / "store.db")
        loop = asyncio.get_running_loop()
        busy = True

        def spin() -> None:  # what a server does whose clients never pause
            until = time.perf_counter() + 0.0002
            while time.perf_counter() < until:
                pass
            if busy:
                loop.call_soon(spin)

        loop.call_soon(spin)
        started = loop.time()
        for number in range(20):
            await storage.create(key(f"ns/{number}"), b"1")
            await storage.get(key(f"ns/{number}"))
        busy = False
        assert loop.time() - started < 5  # without looking after the threads each of these can take a second
        await engine.close()

    run(tell())
