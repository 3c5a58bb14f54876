"""Which writes go to the disk together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pilothouse.storage.engines.hub import Hub
from pilothouse.storage.engines.sqlite import SqliteSettings
from pilothouse.storage.engines.sqlite.checkpoints import Checkpointer
from pilothouse.storage.engines.sqlite.files import open_reader, prepare
from pilothouse.storage.engines.sqlite.index import load_index
from pilothouse.storage.engines.sqlite.rows import newest_revision
from pilothouse.storage.engines.sqlite.turns import Turns
from pilothouse.storage.engines.sqlite.writer import Writer


@asynccontextmanager
async def writing(folder: Path, settings: SqliteSettings) -> AsyncIterator[tuple[Writer, Checkpointer]]:
    path = str(folder / "store")
    prepare(path, settings)
    connection = open_reader(path, settings)
    hub = Hub(newest_revision(connection))
    index = load_index(connection, hub.revision)
    connection.close()
    checkpointer = Checkpointer(path, settings)
    writer = Writer(path, settings, hub, index, checkpointer, Turns(asyncio.get_running_loop()))
    try:
        yield writer, checkpointer
    finally:
        await writer.close()
        checkpointer.close()


def test_a_lone_write_goes_at_once_and_the_others_of_a_round_go_together(tmp_path: Path) -> None:
    async def story() -> None:
        async with writing(tmp_path, SqliteSettings(check_seconds=0)) as (writer, checkpointer):
            outcomes = await asyncio.gather(*(writer.submit(f"/a/{n}", b"x", 0, None) for n in range(50)))
            assert all(outcome.succeeded for outcome in outcomes)
            assert checkpointer.commits <= 2
            await writer.submit("/a/lone", b"x", 0, None)
            assert checkpointer.commits <= 3

    asyncio.run(story())


def test_writes_of_rounds_that_follow_each_other_go_together(tmp_path: Path) -> None:
    async def story() -> None:
        async with writing(tmp_path, SqliteSettings(check_seconds=0)) as (writer, checkpointer):
            writes = []
            for number in range(10):
                writes.append(writer.submit(f"/a/{number}", b"x", 0, None))
                await asyncio.sleep(0)
            await asyncio.gather(*writes)
            assert checkpointer.commits <= 2  # one, unless a busy machine made it longer than a write may wait

    asyncio.run(story())


def test_a_write_does_not_wait_for_ever_though_others_keep_coming(tmp_path: Path) -> None:
    async def story() -> None:
        async with writing(tmp_path, SqliteSettings(check_seconds=0, group=1_000_000)) as (writer, _):
            first = writer.submit("/first", b"x", 0, None)
            more = []
            deadline = asyncio.get_running_loop().time() + 20
            while not first.done() and asyncio.get_running_loop().time() < deadline:
                more.append(writer.submit(f"/a/{len(more)}", b"x", 0, None))
                await asyncio.sleep(0)
            assert first.done()
            await asyncio.gather(*more)

    asyncio.run(story())


def test_a_group_has_a_limit_and_keeps_the_order(tmp_path: Path) -> None:
    async def story() -> None:
        async with writing(tmp_path, SqliteSettings(check_seconds=0, group=10)) as (writer, checkpointer):
            writes = [writer.submit("/a", b"%d" % n, n + 2 if n else 0, None) for n in range(35)]
            done = writer.run(lambda connection: checkpointer.commits)
            late = writer.submit("/b", b"x", 0, None)
            assert [(await one).revision for one in writes] == list(range(3, 38))
            assert 4 <= await done <= 5  # what was asked between two writes is done between them
            assert (await late).revision == 38

    asyncio.run(story())


def test_what_was_submitted_before_the_end_is_written(tmp_path: Path) -> None:
    async def story() -> None:
        async with writing(tmp_path, SqliteSettings(check_seconds=0)) as (writer, _):
            writes = [writer.submit(f"/a/{n}", b"x", 0, None) for n in range(20)]
            await writer.close()
            assert [(await one).succeeded for one in writes] == [True] * 20

    asyncio.run(story())
