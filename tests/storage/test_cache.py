"""What only a cache does: sharing, bounded history, and catching up with a database that others write to."""

from __future__ import annotations

import asyncio

import pytest

from pilothouse.cache import CachedStorage, HistoryLimits
from pilothouse.cache.history import History
from pilothouse.storage.api import Change, Read, StoredObject
from pilothouse.storage.engines.memory import MemoryEngine
from pilothouse.storage.errors import Compacted, Exists, NotFound, TooLarge, Unavailable

from .backends import PREFIX, WAIT, Clock, Seen, asks, at, fill, key, names, run, to
from .lagging import LaggingEngine


def cache_of(engine: MemoryEngine | LaggingEngine, limits: HistoryLimits | None = None) -> CachedStorage:
    return CachedStorage(engine, PREFIX, wait=WAIT, limits=limits)


async def held(value: bytes | None = None) -> tuple[LaggingEngine, CachedStorage]:
    """A cache that knows `ns/a`, if it has a value, and hears of nothing more."""
    engine = LaggingEngine()
    cache = cache_of(engine)
    if value is not None:
        await cache.create(key("ns/a"), value)
    await cache.list(asks())
    engine.held = True
    return engine, cache


def test_one_instance_of_an_object_is_shared_by_all() -> None:
    async def tell() -> None:
        cache = cache_of(MemoryEngine())
        seen, other = Seen(), Seen()
        await cache.watch(PREFIX, 2, seen.deliver, seen.ended)
        await cache.watch(PREFIX + "ns/", 2, other.deliver, other.ended)
        created = await cache.create(key("ns/a"), b"1")
        created.forms["table row"] = "derived"
        assert await cache.get(key("ns/a")) is created
        assert (await cache.list(asks())).items[0] is created
        assert seen.changes[0].object is created
        assert other.changes[0] is seen.changes[0]
        updated = await cache.update(key("ns/a"), to(b"2"))
        assert updated.forms == {}
        assert seen.changes[1].previous is created
        removed, _ = await cache.delete(key("ns/a"))
        assert removed is updated is seen.changes[2].previous

    run(tell())


def test_a_selection_is_made_once_until_something_changes() -> None:
    async def tell() -> None:
        cache = cache_of(MemoryEngine())
        await fill(cache, 4)
        asked: list[str] = []

        def odd(item: StoredObject) -> bool:
            asked.append(item.key)
            return int(item.key[-1]) % 2 == 1

        first = (await cache.list(asks(accept=odd, same="odd"))).items
        assert (await cache.list(asks(accept=odd, same="odd"))).items is first
        assert len(asked) == 4
        assert (await cache.list(asks(accept=lambda item: True, same="all"))).items != first
        await cache.create(key("ns/x7"), b"1")
        assert [item.key for item in (await cache.list(asks(accept=odd, same="odd"))).items][-1] == key("ns/x7")
        assert len((await cache.list(asks(limit=1, accept=odd, same="odd"))).items) == 1

    run(tell())


def test_a_list_is_made_once_until_something_changes() -> None:
    async def tell() -> None:
        cache = cache_of(MemoryEngine())
        await fill(cache, 3)
        for prefix in (PREFIX, PREFIX + "ns/"):
            assert (await cache.list(asks(prefix))).items is (await cache.list(asks(prefix))).items
        before = await cache.list(asks())
        await cache.create(key("other/x"), b"1")
        assert (await cache.list(asks())).items is not before.items
        assert len((await cache.list(asks())).items) == 4

    run(tell())


def test_many_first_readers_load_once() -> None:
    async def tell() -> None:
        engine = LaggingEngine()
        await engine.put_if(key("ns/a"), b"1", 0)
        cache = cache_of(engine)
        pages = await asyncio.gather(*(cache.list(asks()) for _ in range(20)))
        assert all(names(page) == ["ns/a"] for page in pages)
        assert engine.reads == 1

    run(tell())


def test_a_large_prefix_is_loaded_in_steps() -> None:
    async def tell() -> None:
        engine = MemoryEngine()
        for number in range(4500):
            await engine.put_if(key(f"ns/{number:05}"), b"1", 0)
        cache = cache_of(engine)
        page = await cache.list(asks())
        assert names(page) == [f"ns/{number:05}" for number in range(4500)]
        assert len(cache) == 4500

    run(tell())


def test_reads_and_watches_older_than_the_history_go_to_the_engine() -> None:
    async def tell() -> None:
        engine = MemoryEngine()
        cache = cache_of(engine, HistoryLimits(fewest=3, most=3))
        await cache.list(asks())
        await fill(cache, 20)
        assert len((await at(cache, 6)).items) == 4
        assert (await cache.get(key("ns/003"), Read.EXACT, 6)).value == b"v3"
        with pytest.raises(NotFound):
            await cache.get(key("ns/004"), Read.EXACT, 6)
        seen = Seen()
        await cache.watch(PREFIX, 6, seen.deliver, seen.ended)
        await cache.create(key("ns/new"), b"1")
        assert [change.revision for change in seen.changes] == list(range(7, 24))
        assert seen.changes[-1].object is await cache.get(key("ns/new"))  # it is a watch of the cache by now
        await engine.compact(11)
        with pytest.raises(Compacted):
            await at(cache, 6)
        with pytest.raises(Compacted):
            await cache.watch(PREFIX, 6, seen.deliver, seen.ended)

    run(tell())


def change(revision: int, size: int = 0) -> Change:
    previous = StoredObject("k", bytes(size), revision - 1)
    return Change("k", StoredObject("k", b"", revision), previous, revision)


def test_history_is_bounded_by_age_but_never_too_few() -> None:
    clock = Clock()
    history = History(1, HistoryLimits(seconds=100, fewest=10, most=1000), clock)
    history.add([change(revision) for revision in range(2, 52)])
    assert (len(history), history.floor) == (50, 1)
    clock.time += 101
    history.add([change(52)])
    assert (len(history), history.floor) == (10, 42)
    assert [c.revision for c in history.after(49)] == [50, 51, 52]


def test_history_is_bounded_by_count_and_bytes() -> None:
    history = History(1, HistoryLimits(most=20, most_bytes=1 << 20), Clock())
    history.add([change(revision) for revision in range(2, 102)])
    assert (len(history), history.floor) == (20, 81)
    history.add([change(revision, 500_000) for revision in range(102, 106)])
    assert len(history) <= 3
    assert history.size <= 1 << 20
    assert history.floor >= 102


def test_frames_of_old_changes_are_forgotten() -> None:
    history = History(1, HistoryLimits(fresh=5), Clock())
    changes = [change(revision) for revision in range(2, 12)]
    for item in changes:
        item.forms["frame"] = b"..."
        assert item.previous is not None
        item.previous.forms["labels"] = {}
    history.add(changes)
    assert [bool(item.forms) for item in changes] == [False] * 5 + [True] * 5
    assert [bool(item.previous and item.previous.forms) for item in changes] == [False] * 5 + [True] * 5


def test_a_linearizable_read_waits_until_the_cache_has_caught_up() -> None:
    async def tell() -> None:
        engine, cache = await held()
        await engine.inner.put_if(key("ns/theirs"), b"1", 0)
        assert names(await cache.list(asks(read=Read.ANY))) == []
        reading = asyncio.ensure_future(cache.get(key("ns/theirs")))
        listing = asyncio.ensure_future(cache.list(asks()))
        await asyncio.sleep(0.01)
        assert not reading.done()
        engine.let_go()
        assert (await reading).value == b"1"
        assert names(await listing) == ["ns/theirs"]

    run(tell())


def test_a_cache_that_stays_behind_says_so() -> None:
    async def tell() -> None:
        engine, cache = await held()
        await engine.inner.put_if(key("ns/theirs"), b"1", 0)
        with pytest.raises(Unavailable, match="behind"):
            await cache.get(key("ns/theirs"))
        with pytest.raises(TooLarge):
            await cache.get(key("ns/theirs"), Read.AT_LEAST, 3)

    run(tell())


def test_an_update_on_a_stale_object_is_tried_again_on_the_real_one() -> None:
    async def tell() -> None:
        engine, cache = await held(b"1")
        await engine.inner.put_if(key("ns/a"), b"2", 3)
        seen: list[bytes | None] = []

        async def add(current: StoredObject | None) -> bytes:
            seen.append(current and current.value)
            assert current is not None
            return b"%d" % (int(current.value) + 10)

        assert (await cache.update(key("ns/a"), add)).value == b"12"
        assert seen == [b"1", b"2"]

    run(tell())


def test_no_change_and_refusals_on_a_stale_object_are_checked() -> None:
    async def tell() -> None:
        engine, cache = await held(b"locked")
        await engine.inner.put_if(key("ns/a"), b"free", 3)
        await engine.inner.put_if(key("ns/theirs"), b"x", 0)

        async def unlessLocked(current: StoredObject | None) -> bytes:
            if current is not None and current.value == b"locked":
                raise PermissionError
            return b"taken"

        assert (await cache.update(key("ns/a"), unlessLocked)).value == b"taken"
        # The stale object has these bytes, the real one does not: it must be written.
        await engine.inner.put_if(key("ns/a"), b"other", 6)
        assert (await cache.update(key("ns/a"), to(b"locked"))).revision == 8
        removed, _ = await cache.delete(key("ns/theirs"))  # the cache has not heard of it
        assert removed.value == b"x"
        with pytest.raises(NotFound):
            await cache.delete(key("ns/theirs"))
        with pytest.raises(Exists):
            await cache.create(key("ns/a"), b"1")

    run(tell())


def test_a_broken_watch_ends_the_watchers_and_the_cache_loads_anew() -> None:
    async def tell() -> None:
        engine = LaggingEngine()
        cache = cache_of(engine)
        seen = Seen()
        await cache.watch(PREFIX, 2, seen.deliver, seen.ended)
        await cache.create(key("ns/a"), b"1")
        engine.break_watches()
        assert [type(error) for error in seen.ends] == [Compacted]
        await engine.inner.put_if(key("ns/theirs"), b"1", 0)
        assert names(await cache.list(asks())) == ["ns/a", "ns/theirs"]
        again = Seen()
        await cache.watch(PREFIX, 4, again.deliver, again.ended)
        await cache.create(key("ns/b"), b"1")
        assert len(again.changes) == 1
        assert len(seen.changes) == 1

    run(tell())


def test_closing_a_cache_ends_its_watches_and_leaves_the_engine_open() -> None:
    async def tell() -> None:
        engine = MemoryEngine()
        cache = cache_of(engine)
        seen = Seen()
        await cache.watch(PREFIX, 2, seen.deliver, seen.ended)
        await cache.close()
        assert seen.ends == [None]
        await engine.put_if(key("ns/a"), b"1", 0)
        assert seen.changes == []
        with pytest.raises(Unavailable):
            await cache.list(asks())

    run(tell())


def test_ten_thousand_idle_watches_cost_an_unrelated_write_nothing() -> None:
    async def tell() -> None:
        cache = cache_of(MemoryEngine())
        idle, busy = Seen(), Seen()
        for number in range(10_000):
            prefix = PREFIX + f"ns-{number}/" if number % 2 else key(f"ns-{number}/pod")
            await cache.watch(prefix, 2, idle.deliver, idle.ended)
        await cache.watch(PREFIX + "mine/", 2, busy.deliver, busy.ended)
        loop = asyncio.get_running_loop()
        started = loop.time()
        for number in range(1000):
            await cache.create(key(f"mine/{number}"), b"1")
        assert (len(busy.changes), idle.changes) == (1000, [])
        assert loop.time() - started < 1  # asking each watch would take ten times as long

    run(tell())
