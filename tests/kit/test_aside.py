"""Heavy work leaves the loop free, light work pays nothing."""

from __future__ import annotations

import asyncio
import threading

import pytest

from pilothouse.kit.aside import HEAVY, Aside
from pilothouse.kit.ids import UuidSource


def test_light_work_is_done_at_once_and_heavy_work_in_a_thread() -> None:
    async def scenario() -> None:
        aside = Aside()
        assert await aside.run(HEAVY - 1, threading.get_ident) == threading.get_ident()
        assert await aside.run(HEAVY, threading.get_ident) != threading.get_ident()
        aside.close()

    asyncio.run(scenario())


def test_the_loop_goes_on_meanwhile() -> None:
    async def scenario() -> None:
        aside, go_on = Aside(), threading.Event()
        heavy = asyncio.ensure_future(aside.run(HEAVY, go_on.wait, 10.0))
        await asyncio.sleep(0)
        assert not heavy.done()
        go_on.set()
        assert await heavy
        aside.close()

    asyncio.run(scenario())


def test_what_work_raises_arrives() -> None:
    async def scenario() -> None:
        aside = Aside()
        with pytest.raises(ValueError, match="invalid literal"):
            await aside.run(HEAVY, int, "x")
        aside.close()

    asyncio.run(scenario())


def test_identifiers_are_good_for_several_threads() -> None:
    source = UuidSource()
    found: list[str] = []

    def take() -> None:
        found.extend([source() for _ in range(2000)])

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 8000
