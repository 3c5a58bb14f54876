"""Get and list: freshness, order, pages, and the state at a revision."""

from __future__ import annotations

import asyncio

import pytest

from pilothouse.storage.api import FIRST_REVISION, Read
from pilothouse.storage.errors import Compacted, NotFound, TooLarge

from .backends import PREFIX, Opened, asks, at, fill, key, names, story, to


@story
async def test_an_empty_store_lists_nothing_at_its_revision(opened: Opened) -> None:
    page = await opened.storage.list(asks())
    assert (list(page.items), page.revision, page.next_key) == ([], FIRST_REVISION, None)


@story
async def test_what_is_not_there_is_not_found(opened: Opened) -> None:
    await opened.storage.create(key("ns/aa"), b"1")
    for name in ("ns/a", "ns/aaa", "n", "ns/aa/", "ns/\udcff", "ns/\0"):
        with pytest.raises(NotFound):
            await opened.storage.get(key(name))


@story
async def test_lists_come_in_the_order_of_the_keys_bytes(opened: Opened) -> None:
    for name in ("ns/b", "ns-x/a", "ns/a", "ns/\U0001f600", "ns/\uffff", "ns/B", "ns/a.b", "ns/a-b"):
        await opened.storage.create(key(name), b"1")
    found = names(await opened.storage.list(asks()))
    assert found == sorted(found, key=str.encode)
    assert found[0] == "ns-x/a"  # "-" sorts before "/"


@story
async def test_a_list_holds_only_what_is_under_its_prefix(opened: Opened) -> None:
    for name in ("a/1", "a/2", "ab/1", "b/1"):
        await opened.storage.create(key(name), b"1")
    await opened.engine.put_if("/registry/podsx/a", b"1", 0)
    await opened.engine.put_if("/registry/pod/a", b"1", 0)
    assert names(await opened.storage.list(asks())) == ["a/1", "a/2", "ab/1", "b/1"]
    assert names(await opened.storage.list(asks(PREFIX + "a/"))) == ["a/1", "a/2"]
    assert names(await opened.storage.list(asks(PREFIX + "c/"))) == []


@story
async def test_a_list_carries_the_revision_of_the_whole_store(opened: Opened) -> None:
    await opened.storage.create(key("a/1"), b"1")
    elsewhere = await opened.engine.put_if("/registry/configmaps/a", b"1", 0)
    assert (await opened.storage.list(asks())).revision == elsewhere.revision


@story
async def test_a_list_once_given_does_not_change(opened: Opened) -> None:
    await fill(opened.storage, 3)
    page = await opened.storage.list(asks())
    folder = await opened.storage.list(asks(PREFIX + "ns/"))
    await opened.storage.delete(key("ns/001"))
    await opened.storage.create(key("ns/new"), b"1")
    assert names(page) == names(folder) == ["ns/000", "ns/001", "ns/002"]
    assert names(await opened.storage.list(asks())) == ["ns/000", "ns/002", "ns/new"]
    assert names(await opened.storage.list(asks(PREFIX + "ns/"))) == ["ns/000", "ns/002", "ns/new"]


@story
async def test_pages_put_together_are_the_list(opened: Opened) -> None:
    await fill(opened.storage, 25)
    found, remaining = [], []
    page = await opened.storage.list(asks(limit=10))
    while True:
        found += names(page)
        remaining.append(page.remaining)
        if page.next_key is None:
            break
        page = await opened.storage.list(asks(limit=10, after=page.next_key, read=Read.EXACT, revision=page.revision))
    assert found == names(await opened.storage.list(asks()))
    assert remaining == [15, 5, None]


@story
async def test_a_page_that_holds_all_has_no_next(opened: Opened) -> None:
    await fill(opened.storage, 3)
    for limit in (3, 4, 0):
        page = await opened.storage.list(asks(limit=limit))
        assert (len(page.items), page.next_key, page.remaining) == (3, None, None)


@story
async def test_pages_at_a_revision_do_not_see_later_writes(opened: Opened) -> None:
    await fill(opened.storage, 10)
    first = await opened.storage.list(asks(limit=4))
    await opened.storage.create(key("ns/0045"), b"new")
    await opened.storage.delete(key("ns/006"))
    await opened.storage.update(key("ns/007"), to(b"changed"))
    await opened.storage.update(key("ns/007"), to(b"again"))
    await opened.storage.create(key("ns/zzz"), b"new")
    assert first.next_key is not None
    second = await at(opened.storage, first.revision, after=first.next_key, limit=4)
    assert names(second) == ["ns/004", "ns/005", "ns/006", "ns/007"]
    assert second.items[3].value == b"v7"
    assert (second.revision, second.remaining) == (first.revision, 2)
    third = await at(opened.storage, first.revision, after=second.next_key, limit=4)
    assert (names(third), third.next_key) == (["ns/008", "ns/009"], None)


@story
async def test_a_refused_object_neither_counts_nor_is_returned(opened: Opened) -> None:
    await fill(opened.storage, 12)

    async def page(after: str | None = None) -> tuple[list[str], str | None, int | None]:
        found = await opened.storage.list(asks(limit=3, after=after, accept=lambda item: int(item.value[1:]) % 3 == 0))
        return names(found), found.next_key, found.remaining

    first, following, remaining = await page()
    assert (first, following, remaining) == (["ns/000", "ns/003", "ns/006"], key("ns/006\0"), None)
    assert await page(following) == (["ns/009"], None, None)


@story
async def test_a_page_of_few_among_very_many(opened: Opened) -> None:
    await asyncio.gather(*(opened.storage.create(key(f"ns/{number:05}"), b"") for number in range(1300)))
    for wanted in (3, 1298, 1299):
        page = await opened.storage.list(asks(limit=1, accept=lambda item, end=f"{wanted:05}": item.key.endswith(end)))
        assert names(page) == [f"ns/{wanted:05}"]
        assert (page.next_key is None) == (wanted == 1299)


@story
async def test_all_of_a_list_can_be_asked_for_one_by_one(opened: Opened) -> None:
    await fill(opened.storage, 12)
    page = await opened.storage.list(asks(accept=lambda item: item.value in (b"v3", b"v11")))
    assert (names(page), page.next_key, page.remaining) == (["ns/003", "ns/011"], None, None)


@story
async def test_reads_at_least_as_new_as_a_revision(opened: Opened) -> None:
    created = await opened.storage.create(key("ns/a"), b"1")
    found = await opened.storage.get(key("ns/a"), Read.AT_LEAST, created.revision)
    assert found.revision == created.revision
    page = await opened.storage.list(asks(read=Read.AT_LEAST, revision=FIRST_REVISION))
    assert page.revision == created.revision


@story
async def test_a_read_waits_for_a_revision_that_comes(opened: Opened) -> None:
    await opened.storage.create(key("ns/a"), b"1")
    reads = [
        asyncio.ensure_future(opened.storage.get(key("ns/a"), Read.AT_LEAST, 4)),
        asyncio.ensure_future(opened.storage.get(key("ns/a"), Read.EXACT, 4)),
    ]
    pages = [
        asyncio.ensure_future(opened.storage.list(asks(read=Read.AT_LEAST, revision=4))),
        asyncio.ensure_future(opened.storage.list(asks(read=Read.EXACT, revision=4))),
    ]
    await asyncio.sleep(0)
    await opened.storage.update(key("ns/a"), to(b"2"))
    assert [item.value for item in await asyncio.gather(*reads)] == [b"2", b"2"]
    assert [page.revision for page in await asyncio.gather(*pages)] == [4, 4]


@story
async def test_a_revision_that_does_not_come_is_too_large(opened: Opened) -> None:
    await opened.storage.create(key("ns/a"), b"1")
    answers = await asyncio.gather(
        opened.storage.get(key("ns/a"), Read.AT_LEAST, 99),
        opened.storage.get(key("ns/a"), Read.EXACT, 99),
        opened.storage.list(asks(read=Read.AT_LEAST, revision=99)),
        opened.storage.list(asks(read=Read.EXACT, revision=99)),
        return_exceptions=True,
    )
    assert [(type(error), error.asked, error.current) for error in answers if isinstance(error, TooLarge)] == [
        (TooLarge, 99, 3)
    ] * 4


@story
async def test_every_past_state_can_be_read(opened: Opened) -> None:
    states: dict[int, dict[str, bytes]] = {FIRST_REVISION: {}}
    present: dict[str, bytes] = {}
    for step in range(60):
        name = f"ns/{step * 7 % 10}"
        if name in present and step % 3 == 0:
            _, revision = await opened.storage.delete(key(name))
            del present[name]
        else:
            revision = (await opened.storage.update(key(name), to(b"%d" % step))).revision
            present[name] = b"%d" % step
        states[revision] = dict(present)
    for revision, state in states.items():
        page = await at(opened.storage, revision)
        assert {item.key.removeprefix(PREFIX): item.value for item in page.items} == state
        assert page.revision == revision
        for name in (f"ns/{number}" for number in range(10)):
            if name in state:
                assert (await opened.storage.get(key(name), Read.EXACT, revision)).value == state[name]
            else:
                with pytest.raises(NotFound):
                    await opened.storage.get(key(name), Read.EXACT, revision)


@story
async def test_compaction_forgets_the_past_but_not_the_present(opened: Opened) -> None:
    await fill(opened.storage, 5)
    for _ in range(3):
        await opened.storage.update(key("ns/001"), to(b"x%d" % await opened.storage.revision()))
    await opened.storage.delete(key("ns/002"))
    kept = await opened.storage.revision()
    await opened.storage.update(key("ns/003"), to(b"later"))
    await opened.engine.compact(kept)
    fresh = opened.again()  # a cache that loads now has no history of its own
    with pytest.raises(Compacted) as caught:
        await at(fresh, kept - 1)
    assert (caught.value.asked, caught.value.oldest) == (kept - 1, kept)
    with pytest.raises(Compacted):
        await fresh.get(key("ns/001"), Read.EXACT, kept - 1)
    assert [item.value for item in (await at(fresh, kept)).items] == [b"v0", b"x9", b"v3", b"v4"]
    assert [item.value for item in (await fresh.list(asks())).items] == [b"v0", b"x9", b"later", b"v4"]


@story
async def test_history_can_be_forgotten_up_to_the_present_and_again(opened: Opened) -> None:
    await fill(opened.storage, 3)
    await opened.storage.delete(key("ns/001"))
    for _ in range(2):
        await opened.engine.compact(await opened.engine.revision())
    await opened.engine.compact(3)  # going back does nothing
    assert (await opened.storage.create(key("ns/new"), b"1")).revision == 7
    assert names(await at(opened.again(), 6)) == ["ns/000", "ns/002"]
    with pytest.raises(TooLarge):
        await opened.engine.compact(99)


@story
async def test_history_is_forgotten_by_age(opened: Opened) -> None:
    await fill(opened.storage, 3)
    await opened.storage.delete(key("ns/000"))
    await opened.engine.housekeep()
    old = await opened.storage.revision()
    await opened.storage.create(key("ns/later"), b"1")
    opened.clock.time += 299
    await opened.engine.housekeep()
    assert names(await at(opened.again(), old - 1)) == ["ns/000", "ns/001", "ns/002"]
    opened.clock.time += 2
    await opened.engine.housekeep()
    with pytest.raises(Compacted):
        await at(opened.again(), old - 1)
    assert names(await at(opened.again(), old)) == ["ns/001", "ns/002"]


@story
async def test_the_revision_before_the_first_is_long_ago(opened: Opened) -> None:
    with pytest.raises(Compacted):
        await at(opened.storage, FIRST_REVISION - 1)
    await opened.storage.create(key("ns/a"), b"1")
    with pytest.raises(Compacted):
        await at(opened.storage, FIRST_REVISION - 1)
    assert names(await at(opened.storage, FIRST_REVISION)) == []
