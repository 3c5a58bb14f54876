"""A shutdown waits for the requests that are running, and for no others."""

from __future__ import annotations

import asyncio

import pytest

from filters.asking import fails, fine, get
from pilothouse.filters.chain import compose
from pilothouse.filters.wait_group import WaitGroup, wait_group
from pilothouse.serving.http import Answer, Request


def test_a_shutdown_waits_until_the_last_request_is_answered() -> None:
    async def main() -> None:
        group, may_go = WaitGroup(), asyncio.Event()

        async def slow(request: Request) -> Answer:
            await may_go.wait()
            return await fine(request)

        handler = compose([wait_group(group)], slow)
        requests = [asyncio.ensure_future(handler(get())) for _ in range(2)]
        shutdown = asyncio.ensure_future(group.wait())
        await asyncio.sleep(0)
        assert group.running == 2
        assert not shutdown.done()
        may_go.set()
        await asyncio.gather(*requests)
        await asyncio.wait_for(shutdown, 5)
        assert group.running == 0

    asyncio.run(main())


@pytest.mark.parametrize("ending", [ValueError(), asyncio.CancelledError()])
def test_a_request_that_fails_is_over_as_well(ending: BaseException) -> None:
    async def main() -> None:
        group = WaitGroup()
        with pytest.raises(type(ending)):
            await compose([wait_group(group)], fails(ending))(get())
        assert group.running == 0
        await asyncio.wait_for(group.wait(), 5)

    asyncio.run(main())


def test_nothing_running_is_nothing_to_wait_for() -> None:
    asyncio.run(asyncio.wait_for(WaitGroup().wait(), 5))
