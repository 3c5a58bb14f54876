"""Coroutines that run at once, and in a task from their first wait on."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from pilothouse.serving.eager import EagerRunner

from .support import run


def from_callback(runner: EagerRunner, *works: object) -> asyncio.Future[list[asyncio.Task[None] | None]]:
    """Start coroutines as the edge does: from a callback of the loop, not from a task."""
    loop = asyncio.get_running_loop()
    started: asyncio.Future[list[asyncio.Task[None] | None]] = loop.create_future()
    loop.call_soon(lambda: started.set_result([runner.start(work) for work in works]))  # type: ignore[arg-type]
    return started


def test_work_without_waiting_needs_no_task() -> None:
    async def scenario() -> None:
        runner, seen = EagerRunner(asyncio.get_running_loop()), []

        async def work() -> None:
            seen.append(asyncio.current_task())

        assert await from_callback(runner, work(), work()) == [None, None]
        assert seen[0] is seen[1] is not None
        runner.close()

    run(scenario)


def test_the_current_task_is_the_same_before_and_after_a_wait() -> None:
    async def scenario() -> None:
        runner, seen = EagerRunner(asyncio.get_running_loop()), []

        async def work() -> None:
            seen.append(asyncio.current_task())
            await asyncio.sleep(0)
            seen.append(asyncio.current_task())
            await asyncio.sleep(0.001)
            seen.append(asyncio.current_task())

        (first, second) = await from_callback(runner, work(), work())
        assert first is not None
        assert second is not None
        await asyncio.gather(first, second)
        assert first is not second
        assert [seen.count(first), seen.count(second)] == [3, 3]

    run(scenario)


def test_timeouts_and_task_groups_work_from_the_first_line_on() -> None:
    async def scenario() -> None:
        runner, seen = EagerRunner(asyncio.get_running_loop()), []

        async def limited(seconds: float) -> None:
            try:
                async with asyncio.timeout(seconds):
                    await asyncio.sleep(60)
            except TimeoutError:
                seen.append(seconds)

        async def grouped() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(asyncio.sleep(0))
            seen.append("grouped")

        tasks = await from_callback(runner, limited(0), limited(0.001), grouped())
        await asyncio.gather(*(task for task in tasks if task))
        assert sorted(map(str, seen)) == ["0", "0.001", "grouped"]

    run(scenario)


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_cancelling_reaches_the_work(turns: int) -> None:
    async def scenario() -> None:
        runner, seen = EagerRunner(asyncio.get_running_loop()), []

        async def work() -> None:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                seen.append("cancelled")
                await asyncio.sleep(0)  # cleaning up may wait
                seen.append("cleaned")
                raise

        (warm,) = await from_callback(runner, asyncio.sleep(0))  # so that the next carrier has begun to sleep
        assert warm is not None
        await warm
        await from_callback(runner, nothing())
        await asyncio.sleep(0)
        (task,) = await from_callback(runner, work())
        assert task is not None
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert seen == ["cancelled", "cleaned"]

    run(scenario)


def test_cancelling_reaches_the_work_of_a_task_that_had_no_turn_yet() -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        runner, seen = EagerRunner(loop), []

        async def work() -> None:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                seen.append("cancelled")
                await asyncio.sleep(0)
                seen.append("cleaned")
                raise

        started: asyncio.Future[asyncio.Task[None]] = loop.create_future()

        def start_and_cancel() -> None:
            task = runner.start(work())
            assert task is not None
            task.cancel()
            started.set_result(task)

        loop.call_soon(start_and_cancel)
        with pytest.raises(asyncio.CancelledError):
            await (await started)
        assert seen == ["cancelled", "cleaned"]

    run(scenario)


async def nothing() -> None:
    """Ends at once."""


def test_context_variables_survive_the_first_wait() -> None:
    from contextvars import ContextVar

    variable: ContextVar[int] = ContextVar("variable")

    async def scenario() -> None:
        runner, seen = EagerRunner(asyncio.get_running_loop()), []

        async def work() -> None:
            token = variable.set(7)
            await asyncio.sleep(0)
            seen.append(variable.get())
            variable.reset(token)

        (task,) = await from_callback(runner, work())
        assert task is not None
        await task
        assert seen == [7]

    run(scenario)


def test_a_task_takes_the_next_work_after_its_first() -> None:
    async def scenario() -> None:
        runner, seen = EagerRunner(asyncio.get_running_loop(), kept=1), []

        async def work(name: str) -> None:
            await asyncio.sleep(0)
            seen.append((name, asyncio.current_task()))

        for name in ("a", "b", "c"):
            await from_callback(runner, work(name))
            while seen[-1:] == [] or seen[-1][0] != name:
                await asyncio.sleep(0)
        assert [name for name, _ in seen] == ["a", "b", "c"]
        assert len({task for _, task in seen}) == 1
        runner.close()

    run(scenario)


def test_a_task_that_was_cancelled_takes_no_other_work() -> None:
    async def scenario() -> None:
        runner, tasks = EagerRunner(asyncio.get_running_loop(), kept=1), []

        async def stubborn() -> None:
            tasks.append(asyncio.current_task())
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(60)

        for _ in range(2):
            (task,) = await from_callback(runner, stubborn())
            assert task is not None
            task.cancel()
            await task
        assert tasks[0] is not tasks[1]

    run(scenario)
