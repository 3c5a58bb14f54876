"""Keys with a time to live end as if they had been deleted."""

from __future__ import annotations

import pytest

from pilothouse.storage.errors import NotFound

from .backends import PREFIX, Backend, Opened, Seen, asks, key, names, run, story, to


@story
async def test_a_key_lives_as_long_as_it_was_given(opened: Opened) -> None:
    await opened.storage.create(key("ns/short"), b"1", ttl=60)
    await opened.storage.create(key("ns/long"), b"1", ttl=3600)
    await opened.storage.create(key("ns/for-ever"), b"1")
    seen = Seen()
    await opened.storage.watch(PREFIX, 5, seen.deliver, seen.ended)
    opened.clock.time += 59
    await opened.engine.housekeep()
    assert len(names(await opened.storage.list(asks()))) == 3
    opened.clock.time += 1
    await opened.engine.housekeep()
    assert names(await opened.storage.list(asks())) == ["ns/for-ever", "ns/long"]
    assert seen.short == [("deleted", "ns/short", 6)]
    opened.clock.time += 3600
    await opened.engine.housekeep()
    assert names(await opened.storage.list(asks())) == ["ns/for-ever"]


@story
async def test_an_update_begins_a_new_life(opened: Opened) -> None:
    await opened.storage.create(key("ns/renewed"), b"1", ttl=60)
    await opened.storage.create(key("ns/freed"), b"1", ttl=60)
    opened.clock.time += 50
    await opened.storage.update(key("ns/renewed"), to(b"2"), ttl=60)
    await opened.storage.update(key("ns/freed"), to(b"2"))
    opened.clock.time += 50
    await opened.engine.housekeep()
    assert names(await opened.storage.list(asks())) == ["ns/freed", "ns/renewed"]
    opened.clock.time += 10
    await opened.engine.housekeep()
    assert names(await opened.storage.list(asks())) == ["ns/freed"]


@story
async def test_many_keys_end_at_once(opened: Opened) -> None:
    for number in range(40):
        await opened.storage.create(key(f"ns/{number}"), b"1", ttl=number / 10)
    opened.clock.time += 10
    await opened.engine.housekeep()
    assert names(await opened.storage.list(asks())) == []
    assert await opened.storage.revision() == 82


@story
async def test_housekeeping_runs_by_itself_once_started(opened: Opened) -> None:
    await opened.storage.create(key("ns/a"), b"1", ttl=1)
    opened.clock.time += 2
    seen = Seen()
    await opened.storage.watch(PREFIX, 3, seen.deliver, seen.ended)
    opened.engine.start()
    await seen.until(lambda seen: len(seen.changes) == 1)
    with pytest.raises(NotFound):
        await opened.storage.get(key("ns/a"))


def test_time_goes_on_while_the_server_is_down(durable: Backend) -> None:
    async def tell() -> None:
        async with durable.open() as opened:
            await opened.storage.create(key("ns/a"), b"1", ttl=60)
            await opened.storage.create(key("ns/b"), b"1", ttl=600)
        async with durable.open() as opened:
            opened.clock.time += 100
            await opened.engine.housekeep()
            assert names(await opened.storage.list(asks())) == ["ns/b"]

    run(tell())
