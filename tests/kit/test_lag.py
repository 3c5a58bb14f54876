"""The watch over the loop."""

from __future__ import annotations

import asyncio
import time

from pilothouse.kit.lag import LagWatch


def test_a_blocked_loop_is_reported_and_a_free_one_is_not() -> None:
    async def scenario() -> None:
        reports: list[float] = []
        watch = LagWatch(asyncio.get_running_loop(), interval=0.01, limit=0.2, report=reports.append)
        watch.start()
        await asyncio.sleep(0.05)
        assert reports == []
        time.sleep(0.3)
        await asyncio.sleep(0.02)
        assert len(reports) == 1
        assert reports[0] == watch.worst > 0.2
        watch.stop()

    asyncio.run(scenario())
