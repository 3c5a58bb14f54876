"""The queue of work: each key once, one worker a key, and pauses that grow with failures."""

from __future__ import annotations

import asyncio
import logging

import pytest

from pilothouse.controllers.client import Refusal
from pilothouse.controllers.queuemetrics import QueueMetrics
from pilothouse.controllers.workqueue import Later, WorkQueue, work
from pilothouse.kit import exposition
from pilothouse.kit.metrics import Registry
from support.measured import Scrape

from .clocks import ManualClock
from .servers import eventually, run


async def taken(queue: WorkQueue[str], count: int) -> list[str]:
    return [await queue.get() for _ in range(count)]


def test_a_key_that_waits_is_given_out_once() -> None:
    async def story() -> None:
        queue: WorkQueue[str] = WorkQueue(ManualClock())
        for key in "abab":
            queue.add(key)
        assert len(queue) == 2
        assert await taken(queue, 2) == ["a", "b"]

    run(story())


def test_a_key_that_is_worked_on_comes_again_only_afterwards() -> None:
    async def story() -> None:
        queue: WorkQueue[str] = WorkQueue(ManualClock())
        queue.add("a")
        assert await queue.get() == "a"
        queue.add("a")
        queue.add("b")
        assert await queue.get() == "b"
        queue.done("a")
        assert await queue.get() == "a"
        queue.done("a")
        queue.done("b")
        assert len(queue) == 0

    run(story())


def test_a_later_key_comes_when_it_is_due_and_the_earlier_time_counts() -> None:
    async def story() -> None:
        clock = ManualClock()
        queue: WorkQueue[str] = WorkQueue(clock)
        queue.add_after("a", 10)
        queue.add_after("a", 5)
        queue.add_after("a", 20)
        assert clock.due() == [5]
        clock.advance(5)
        assert await queue.get() == "a"
        queue.done("a")
        queue.add_after("b", 3)
        queue.add("b")
        assert clock.due() == [], "now is earlier than later"

    run(story())


def test_pauses_double_up_to_the_longest_and_begin_anew_after_a_success() -> None:
    async def story() -> None:
        clock = ManualClock()
        queue: WorkQueue[str] = WorkQueue(clock, first=1, longest=5)
        pauses = []
        for _ in range(5):
            queue.retry("a")
            pauses += clock.due()
            clock.advance(60)
            await queue.get()
            queue.done("a")
        assert pauses == [1, 2, 4, 5, 5]
        queue.forget("a")
        queue.retry("a")
        assert clock.due() == [1]
        queue.retry("b", at_least=30)
        assert clock.due() == [1, 30]
        queue.close()
        assert clock.due() == []

    run(story())


def test_a_worker_that_is_cancelled_leaves_the_key_to_the_next() -> None:
    async def story() -> None:
        queue: WorkQueue[str] = WorkQueue(ManualClock())
        first, second = asyncio.create_task(queue.get()), asyncio.create_task(queue.get())
        await asyncio.sleep(0)
        queue.add("a")
        first.cancel()
        assert await second == "a"

    run(story())


def test_work_goes_on_after_failures(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        clock = ManualClock()
        queue: WorkQueue[str] = WorkQueue(clock, first=1)
        seen: list[str] = []
        errors: list[Exception] = [ValueError("a bug"), Refusal(429, "", "", retry_after=7), Later("not yet", 2)]

        async def handle(key: str) -> None:
            seen.append(key)
            if errors:
                raise errors.pop(0)

        async def happened(count: int) -> None:
            async def so() -> bool:
                return len(seen) == count

            await eventually(so, f"{count} times")
            await asyncio.sleep(0)

        worker = asyncio.create_task(work(queue, handle, "test of"))
        queue.add("a")
        for count, pause in enumerate((1, 7, 2), start=1):
            await happened(count)
            assert clock.due() == [pause]
            clock.advance(pause)
        await happened(4)
        assert len(queue) == 0
        worker.cancel()

    with caplog.at_level(logging.ERROR):
        run(story())
    assert "test of a failed" in caplog.text


def test_operators_see_what_comes_waits_and_is_worked_on() -> None:
    async def story() -> None:
        registry, clock = Registry(), ManualClock()
        queue: WorkQueue[str] = WorkQueue(clock, "things", QueueMetrics(registry))

        def told(name: str) -> float:
            return Scrape(exposition.text(registry).decode()).value(f"workqueue_{name}", name="things")

        queue.add("a")
        queue.add("b")
        queue.add("a")
        assert (told("adds_total"), told("depth")) == (2, 2)
        clock.advance(2.0)
        await taken(queue, 2)
        assert (told("depth"), told("queue_duration_seconds_count"), told("queue_duration_seconds_sum")) == (0, 2, 4)
        clock.advance(3.0)
        assert (told("unfinished_work_seconds"), told("longest_running_processor_seconds")) == (6, 3)
        queue.done("a")
        queue.retry("a")
        assert (told("work_duration_seconds_sum"), told("retries_total")) == (3, 1)
        assert told("unfinished_work_seconds") == 3
        queue.close()

    run(story())
