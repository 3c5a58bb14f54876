"""Work that waits has its time, all of it the same, and one timer."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from pilothouse.serving.answers import Incoming
from pilothouse.serving.timelimit import LOOK, TimeLimit, Waits

from .support import run

NEVER = 3600.0


async def limited(limit: TimeLimit, work: Coroutine[Any, Any, str]) -> str:
    """Step the work once, and carry it on."""
    return await limit.carry_on(work, work.send(None), {})


async def asleep(seconds: float, ended: list[str]) -> str:
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        ended.append("told")
        raise
    return "done"


def test_work_within_its_time_gives_its_result() -> None:
    async def scenario() -> None:
        limit = TimeLimit(NEVER)
        assert await asyncio.gather(*(limited(limit, asleep(0.001, [])) for _ in range(5))) == ["done"] * 5

    run(scenario)


def test_work_beyond_its_time_is_ended_and_the_task_is_not() -> None:
    async def scenario() -> None:
        ended: list[str] = []
        limit = TimeLimit(0.01)
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await limited(limit, asleep(NEVER, ended))
        task = asyncio.current_task()
        assert task is not None
        assert (ended, task.cancelling()) == (["told", "told"], 0)

    run(scenario)


def test_each_has_its_own_time() -> None:
    async def scenario() -> None:
        limit, ended = TimeLimit(0.05), list[str]()
        loop = asyncio.get_running_loop()
        early = loop.create_task(limited(limit, asleep(NEVER, ended)))
        await asyncio.sleep(0.02)
        late = loop.create_task(limited(limit, asleep(NEVER, ended)))
        with pytest.raises(TimeoutError):
            await early
        assert not late.done()
        with pytest.raises(TimeoutError):
            await late

    run(scenario)


def test_who_cancels_for_another_reason_is_heard() -> None:
    async def scenario() -> None:
        ended: list[str] = []
        task = asyncio.get_running_loop().create_task(limited(TimeLimit(NEVER), asleep(NEVER, ended)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended == ["told"]

    run(scenario)


def test_work_that_ends_well_though_its_time_is_over_has_its_result() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.sleep(NEVER)
        except asyncio.CancelledError:
            return "saved"
        return "slept"

    async def scenario() -> None:
        assert await limited(TimeLimit(0.01), stubborn()) == "saved"
        task = asyncio.current_task()
        assert task is not None and task.cancelling() == 0

    run(scenario)


def test_a_limit_outlives_its_loop() -> None:
    limit = TimeLimit(0.01)

    async def scenario() -> None:
        with pytest.raises(TimeoutError):
            await limited(limit, asleep(NEVER, []))

    for _ in range(2):
        run(scenario)


def test_it_is_told_where_work_waited_for_long() -> None:
    """`read` waits in `chunk`; that of a body which comes at once is not told of."""

    async def scenario() -> None:
        limit, places, quick = TimeLimit(NEVER), dict[str, float](), dict[str, float]()
        loop = asyncio.get_running_loop()

        async def read(after: float, told: dict[str, float]) -> bytes:
            incoming = Incoming(200, [], 2, lambda: None)
            loop.call_later(after, incoming.put, b"ok")
            loop.call_later(after, incoming.finish)
            work = incoming.read(10)
            return await limit.carry_on(work, work.send(None), told)

        assert await asyncio.gather(read(3.5 * LOOK, places), read(0.0, quick)) == [b"ok", b"ok"]
        assert quick == {}
        assert list(places) == ["serving/answers.py chunk"]
        assert LOOK <= places["serving/answers.py chunk"] <= 4 * LOOK
        assert str(Waits({"a.py b": 0.31})) == "310 ms in a.py b"

    run(scenario)
