"""Watches: every change once and in order, from any revision that history holds."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from pilothouse.storage.api import FIRST_REVISION, Change
from pilothouse.storage.errors import Compacted, StorageError

from .backends import PREFIX, Backend, Opened, Seen, asks, fill, key, run, story, to


@story
async def test_a_watch_sees_every_change_in_order(opened: Opened) -> None:
    seen = Seen()
    await opened.storage.watch(PREFIX, 2, seen.deliver, seen.ended)
    await opened.storage.create(key("ns/a"), b"1")
    await opened.storage.update(key("ns/a"), to(b"2"))
    await opened.storage.delete(key("ns/a"))
    await opened.storage.create(key("ns/a"), b"3")
    assert seen.short == [
        ("created", "ns/a", 3),
        ("changed", "ns/a", 4),
        ("deleted", "ns/a", 5),
        ("created", "ns/a", 6),
    ]
    values = [(c.previous and c.previous.value, c.object and c.object.value) for c in seen.changes]
    assert values == [(None, b"1"), (b"1", b"2"), (b"2", None), (None, b"3")]
    assert seen.changes[2].previous is not None
    assert seen.changes[2].previous.revision == 4
    assert seen.ends == []


@story
async def test_whoever_was_told_of_a_write_finds_that_the_watchers_know(opened: Opened) -> None:
    seen = Seen()
    await opened.storage.watch(PREFIX, 2, seen.deliver, seen.ended)
    for number in range(20):
        created = await opened.storage.create(key(f"ns/{number}"), b"1")
        assert seen.changes[-1].revision == created.revision


@story
async def test_a_watch_begins_in_the_past(opened: Opened) -> None:
    await fill(opened.storage, 3)
    await opened.storage.update(key("ns/001"), to(b"x"))
    await opened.storage.delete(key("ns/000"))
    seen = Seen()
    await opened.storage.watch(PREFIX, 4, seen.deliver, seen.ended)
    assert seen.short == [("created", "ns/002", 5), ("changed", "ns/001", 6), ("deleted", "ns/000", 7)]
    assert [c.previous and c.previous.value for c in seen.changes] == [None, b"v1", b"v0"]
    await opened.storage.create(key("ns/new"), b"1")
    assert seen.short[3:] == [("created", "ns/new", 8)]


@story
async def test_a_watch_goes_on_where_a_list_ended(opened: Opened) -> None:
    await fill(opened.storage, 3)
    page = await opened.storage.list(asks())
    await opened.storage.create(key("ns/between"), b"1")
    seen = Seen()
    await opened.storage.watch(PREFIX, page.revision, seen.deliver, seen.ended)
    await opened.storage.create(key("ns/after"), b"1")
    assert [name for _, name, _ in seen.short] == ["ns/between", "ns/after"]


@story
async def test_a_watch_of_the_future_delivers_from_there_on(opened: Opened) -> None:
    seen = Seen()
    await opened.storage.watch(PREFIX, 5, seen.deliver, seen.ended)
    await fill(opened.storage, 5)
    assert [revision for _, _, revision in seen.short] == [6, 7]


@story
async def test_watches_see_only_what_is_theirs(opened: Opened) -> None:
    everything, folder, one, other = Seen(), Seen(), Seen(), Seen()
    for prefix, seen in ((PREFIX, everything), (PREFIX + "a/", folder), (key("a/1"), one), (PREFIX + "b/", other)):
        await opened.storage.watch(prefix, 2, seen.deliver, seen.ended)
    for name in ("a/1", "a/11", "ab/1", "c"):
        await opened.storage.create(key(name), b"1")
    await opened.engine.put_if("/registry/podsx/a", b"1", 0)
    assert [name for _, name, _ in everything.short] == ["a/1", "a/11", "ab/1", "c"]
    assert [name for _, name, _ in folder.short] == ["a/1", "a/11"]
    assert [name for _, name, _ in one.short] == ["a/1"]
    assert other.short == []
    late = Seen()
    await opened.storage.watch(key("a/1"), 2, late.deliver, late.ended)
    assert [name for _, name, _ in late.short] == ["a/1"]


@story
async def test_nothing_is_delivered_after_close(opened: Opened) -> None:
    seen = Seen()
    subscription = await opened.storage.watch(PREFIX, 2, seen.deliver, seen.ended)
    await opened.storage.create(key("ns/a"), b"1")
    subscription.close()
    subscription.close()
    await opened.storage.create(key("ns/b"), b"1")
    assert len(seen.changes) == 1
    assert seen.ends == []


@story
async def test_a_watch_may_close_itself_or_another_while_it_delivers(opened: Opened) -> None:
    first, second = Seen(), Seen()

    def closing(changes: Sequence[Change]) -> None:
        first.deliver(changes)
        for subscription in subscriptions:
            subscription.close()

    subscriptions = [
        await opened.storage.watch(PREFIX, 2, closing, first.ended),
        await opened.storage.watch(PREFIX, 2, second.deliver, second.ended),
    ]
    await opened.storage.create(key("ns/a"), b"1")
    await opened.storage.create(key("ns/b"), b"1")
    assert (len(first.changes), second.changes) == (1, [])


@story
async def test_a_watcher_that_fails_is_ended_and_the_others_go_on(opened: Opened) -> None:
    bad, good = Seen(), Seen()

    def fail(changes: Sequence[Change]) -> None:
        raise ZeroDivisionError

    await opened.storage.watch(PREFIX, 2, fail, bad.ended)
    await opened.storage.watch(PREFIX, 2, good.deliver, good.ended)
    await opened.storage.create(key("ns/a"), b"1")
    await opened.storage.create(key("ns/b"), b"1")
    assert [type(error) for error in bad.ends] == [StorageError]
    assert len(good.changes) == 2


@story
async def test_a_watch_says_how_far_it_is(opened: Opened) -> None:
    seen = Seen()
    subscription = await opened.storage.watch(PREFIX, 2, seen.deliver, seen.ended)
    assert subscription.revision == 2
    await opened.storage.create(key("ns/a"), b"1")
    await opened.engine.put_if("/registry/other/a", b"1", 0)
    assert subscription.revision == 4


@story
async def test_a_watch_from_before_history_is_refused(opened: Opened) -> None:
    await fill(opened.storage, 4)
    await opened.engine.compact(5)
    seen = Seen()
    fresh = opened.again()
    with pytest.raises(Compacted):
        await fresh.watch(PREFIX, 4, seen.deliver, seen.ended)
    await fresh.watch(PREFIX, 5, seen.deliver, seen.ended)
    assert [revision for _, _, revision in seen.short] == [6]
    assert seen.ends == []


@story
async def test_watches_that_begin_amid_writes_miss_nothing_and_repeat_nothing(opened: Opened) -> None:
    async def write(writer: int) -> None:
        for number in range(40):
            await opened.storage.update(key(f"ns/{writer}"), to(b"%d" % number))

    async def watch(since: int) -> Seen:
        seen = Seen()
        for _ in range(since):
            await asyncio.sleep(0)
        await opened.storage.watch(PREFIX, since, seen.deliver, seen.ended)
        return seen

    *_, watches = await asyncio.gather(
        *(write(writer) for writer in range(4)), asyncio.gather(*(watch(since) for since in range(2, 61, 3)))
    )
    for number, seen in enumerate(watches):
        assert [revision for _, _, revision in seen.short] == list(range(2 + 3 * number + 1, 163))
        versions: dict[str, int] = {}
        for change in seen.changes:
            before = versions.get(change.key)
            assert before is None or (change.previous is not None and change.previous.revision == before)
            versions[change.key] = change.revision


@story
async def test_a_watch_from_far_back_reads_history_in_pieces(opened: Opened) -> None:
    async def write(writer: int) -> None:
        for number in range(30):
            await opened.storage.update(key(f"ns/{writer}"), to(b"%d" % number))

    await asyncio.gather(*(write(writer) for writer in range(50)))
    seen = Seen()
    await opened.again().watch(PREFIX + "ns/", 2, seen.deliver, seen.ended)
    assert [change.revision for change in seen.changes] == list(range(3, 1503))
    assert sum(change.previous is None for change in seen.changes) == 50


def test_closing_the_store_ends_its_watches(backend: Backend) -> None:
    seen = Seen()

    async def tell() -> None:
        async with backend.open() as opened:
            await opened.storage.watch(PREFIX, 2, seen.deliver, seen.ended)
            await opened.storage.create(key("ns/a"), b"1")

    run(tell())
    assert (len(seen.changes), seen.ends) == (1, [None])


@story
async def test_a_watch_from_before_the_first_revision_is_refused(opened: Opened) -> None:
    for since in (0, FIRST_REVISION - 1):
        with pytest.raises(Compacted):
            await opened.storage.watch(PREFIX, since, Seen().deliver, Seen().ended)
    seen = Seen()
    await opened.storage.watch(PREFIX, FIRST_REVISION, seen.deliver, seen.ended)
    await opened.storage.create(key("ns/a"), b"1")
    assert len(seen.changes) == 1
