"""Create, update, delete: what they answer, and what they do when writers meet."""

from __future__ import annotations

import asyncio

import pytest

from pilothouse.storage.api import FIRST_REVISION, StoredObject
from pilothouse.storage.errors import Exists, NotFound, Unavailable, ValueTooLarge

from .backends import Backend, Opened, asks, key, names, run, story, to


@story
async def test_the_first_write_of_a_store_has_a_revision_above_one(opened: Opened) -> None:
    assert await opened.storage.revision() == FIRST_REVISION == 2
    assert (await opened.storage.create(key("ns/a"), b"1")).revision == 3


@story
async def test_a_created_object_can_be_read(opened: Opened) -> None:
    created = await opened.storage.create(key("ns/a"), b"one")
    found = await opened.storage.get(key("ns/a"))
    assert (found.key, found.value, found.revision) == (key("ns/a"), b"one", created.revision)
    assert await opened.storage.revision() == created.revision


@story
async def test_what_exists_cannot_be_created(opened: Opened) -> None:
    first = await opened.storage.create(key("ns/a"), b"one")
    with pytest.raises(Exists):
        await opened.storage.create(key("ns/a"), b"two")
    assert (await opened.storage.get(key("ns/a"))).value == b"one"
    assert await opened.storage.revision() == first.revision


@story
async def test_values_are_any_bytes(opened: Opened) -> None:
    for number, value in enumerate([b"", b"\0", b"\0" * 9, bytes(range(256)) * 40, b"\xff\xfe{", "é".encode() * 5000]):
        await opened.storage.create(key(f"ns/{number}"), value)
        assert (await opened.storage.get(key(f"ns/{number}"))).value == value
    page = await opened.again().list(asks())
    assert [len(item.value) for item in page.items] == [0, 1, 9, 10240, 3, 10000]
    assert page.items[3].value == bytes(range(256)) * 40


@story
async def test_an_update_sees_the_current_object_and_replaces_it(opened: Opened) -> None:
    created = await opened.storage.create(key("ns/a"), b"one")
    seen: list[StoredObject | None] = []

    async def transform(current: StoredObject | None) -> bytes:
        seen.append(current)
        return b"two"

    updated = await opened.storage.update(key("ns/a"), transform)
    assert updated.revision == created.revision + 1
    assert [item and (item.value, item.revision) for item in seen] == [(b"one", created.revision)]
    assert (await opened.storage.get(key("ns/a"))).value == b"two"


@story
async def test_an_update_of_nothing_creates(opened: Opened) -> None:
    updated = await opened.storage.update(key("ns/a"), to(b"new"))
    assert (await opened.storage.get(key("ns/a"))).revision == updated.revision == 3


@story
async def test_an_update_that_returns_the_same_bytes_writes_nothing(opened: Opened) -> None:
    created = await opened.storage.create(key("ns/a"), b"same")
    updated = await opened.storage.update(key("ns/a"), to(bytes(bytearray(b"same"))))
    assert updated.revision == created.revision
    assert await opened.storage.revision() == created.revision


@story
async def test_what_a_transform_raises_passes_through_and_nothing_is_written(opened: Opened) -> None:
    await opened.storage.create(key("ns/a"), b"one")

    async def refuse(current: StoredObject | None) -> bytes:
        raise ZeroDivisionError("no")

    with pytest.raises(ZeroDivisionError):
        await opened.storage.update(key("ns/a"), refuse)
    assert (await opened.storage.get(key("ns/a"))).value == b"one"


@story
async def test_a_transform_runs_again_when_another_writer_came_between(opened: Opened) -> None:
    await opened.storage.create(key("ns/a"), b"0")
    seen = []

    async def transform(current: StoredObject | None) -> bytes:
        assert current is not None
        seen.append(current.value)
        if len(seen) == 1:
            await opened.again().update(key("ns/a"), to(b"10"))
        return b"%d" % (int(current.value) + 1)

    updated = await opened.storage.update(key("ns/a"), transform)
    assert seen == [b"0", b"10"]
    assert updated.value == b"11"


@story
async def test_a_transform_meets_a_delete_that_came_between(opened: Opened) -> None:
    await opened.storage.create(key("ns/a"), b"old")
    seen: list[bytes | None] = []

    async def transform(current: StoredObject | None) -> bytes:
        seen.append(None if current is None else current.value)
        if len(seen) == 1:
            await opened.storage.delete(key("ns/a"))
        return b"new"

    await opened.storage.update(key("ns/a"), transform)
    assert seen == [b"old", None]
    assert (await opened.storage.get(key("ns/a"))).value == b"new"


@story
async def test_a_delete_answers_the_last_state_and_its_own_revision(opened: Opened) -> None:
    created = await opened.storage.create(key("ns/a"), b"last")
    removed, revision = await opened.storage.delete(key("ns/a"))
    assert (removed.value, removed.revision) == (b"last", created.revision)
    assert revision == created.revision + 1 == await opened.storage.revision()
    with pytest.raises(NotFound):
        await opened.storage.get(key("ns/a"))


@story
async def test_what_does_not_exist_cannot_be_deleted(opened: Opened) -> None:
    with pytest.raises(NotFound):
        await opened.storage.delete(key("ns/a"))
    assert await opened.storage.revision() == 2


@story
async def test_a_check_can_refuse_a_delete(opened: Opened) -> None:
    await opened.storage.create(key("ns/a"), b"precious")

    async def refuse(current: StoredObject) -> None:
        raise PermissionError(current.value.decode())

    with pytest.raises(PermissionError, match="precious"):
        await opened.storage.delete(key("ns/a"), refuse)
    assert (await opened.storage.get(key("ns/a"))).value == b"precious"


@story
async def test_a_check_is_asked_again_when_another_writer_came_between(opened: Opened) -> None:
    await opened.storage.create(key("ns/a"), b"one")
    seen = []

    async def check(current: StoredObject) -> None:
        seen.append(current.value)
        if len(seen) == 1:
            await opened.again().update(key("ns/a"), to(b"two"))

    removed, _ = await opened.storage.delete(key("ns/a"), check)
    assert seen == [b"one", b"two"]
    assert removed.value == b"two"


@story
async def test_a_key_can_come_back(opened: Opened) -> None:
    await opened.storage.create(key("ns/a"), b"one")
    await opened.storage.delete(key("ns/a"))
    again = await opened.storage.create(key("ns/a"), b"two")
    assert again.revision == 5
    assert names(await opened.storage.list(asks())) == ["ns/a"]


@story
async def test_a_value_beyond_the_limit_is_refused(opened: Opened) -> None:
    with pytest.raises(ValueTooLarge):
        await opened.storage.create(key("ns/a"), bytes(1_572_865))
    assert await opened.storage.revision() == 2


@story
async def test_writers_of_many_keys_all_get_revisions_of_their_own(opened: Opened) -> None:
    async def write(number: int) -> int:
        return (await opened.storage.create(key(f"ns/{number}"), b"x")).revision

    revisions = await asyncio.gather(*(write(number) for number in range(300)))
    assert sorted(revisions) == list(range(3, 303))
    assert len((await opened.storage.list(asks())).items) == 300


@story
async def test_a_crowd_that_counts_in_one_key_loses_no_step(opened: Opened) -> None:
    async def add(current: StoredObject | None) -> bytes:
        return b"%d" % (1 + (0 if current is None else int(current.value)))

    storages = [opened.storage, opened.again()]
    await asyncio.gather(*(storages[number % 2].update(key("ns/sum"), add) for number in range(40)))
    assert (await opened.storage.get(key("ns/sum"))).value == b"40"
    assert await opened.storage.revision() == 42


@story
async def test_only_one_of_many_creates_of_a_key_succeeds(opened: Opened) -> None:
    answers = await asyncio.gather(
        *(opened.storage.create(key("ns/a"), b"%d" % number) for number in range(20)), return_exceptions=True
    )
    assert sum(isinstance(answer, StoredObject) for answer in answers) == 1
    assert sum(isinstance(answer, Exists) for answer in answers) == 19


@story
async def test_a_write_whose_caller_gave_up_does_not_disturb_the_others(opened: Opened) -> None:
    task = asyncio.ensure_future(opened.storage.create(key("ns/a"), b"1"))
    others = [asyncio.ensure_future(opened.storage.create(key(f"ns/b{number}"), b"1")) for number in range(5)]
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(*others)
    assert len(names(await opened.storage.list(asks("/registry/pods/ns/")))) in (5, 6)


def test_a_closed_store_says_so(backend: Backend) -> None:
    async def tell() -> None:
        async with backend.open() as opened:
            await opened.storage.create(key("ns/a"), b"1")
        for attempt in (
            opened.storage.create(key("ns/b"), b"1"),
            opened.storage.update(key("ns/a"), to(b"2")),
            opened.storage.delete(key("ns/a")),
            opened.storage.get(key("ns/a")),
            opened.storage.revision(),
        ):
            with pytest.raises(Unavailable):
                await attempt

    run(tell())
