"""A server that has enough to do says so at once."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import orjson
import pytest

from filters.asking import ALICE, MASTER, PODS, behind, fine, get, seen
from pilothouse.filters.in_flight import InFlight, in_flight
from pilothouse.kit.metrics import Registry
from pilothouse.registry.request import Caller
from pilothouse.serving.http import Answer, Handler, Request


class Busy:
    """A server whose handler answers when it is told to. `send` gives the request its first turn."""

    def __init__(self, reading: int, mutating: int) -> None:
        self.counts = InFlight()
        self.go = asyncio.Event()
        self._limits = in_flight(reading, mutating, self.counts)

    async def _handle(self, request: Request) -> Answer:
        await self.go.wait()
        return await fine(request)

    def _chain(self, caller: Caller) -> Handler:
        return behind(self._limits, caller=caller, handler=self._handle)

    async def send(self, request: Request, caller: Caller = ALICE) -> asyncio.Task[Answer]:
        task = asyncio.ensure_future(self._answer(request, caller))
        await asyncio.sleep(0)
        return task

    async def _answer(self, request: Request, caller: Caller) -> Answer:
        return await self._chain(caller)(request)

    async def status(self, request: Request, caller: Caller = ALICE) -> int:
        """What it answers at once; 0 where it works on it."""
        task = await self.send(request, caller)
        return task.result().status if task.done() else 0


READS = [get(PODS), get(f"{PODS}/a")]
WRITES = [get(PODS, method="POST"), get(f"{PODS}/a", method="DELETE"), get(f"{PODS}/a", method="PATCH")]


@pytest.mark.parametrize("kind", ["reads", "writes"])
def test_one_too_many_is_to_come_again(kind: str) -> None:
    async def main() -> None:
        requests = READS if kind == "reads" else WRITES
        busy = Busy(reading=1, mutating=1)
        first = await busy.send(requests[0])
        refused = seen((await busy.send(requests[1])).result())
        assert (refused.status, refused.headers["Retry-After"]) == (429, "1")
        assert orjson.loads(refused.body)["message"] == "Too many requests, please try again later."
        busy.go.set()
        assert (await first).status == 200
        assert (await (await busy.send(requests[1]))).status == 200  # there is room again

    asyncio.run(main())


def test_reads_do_not_keep_out_writes() -> None:
    async def main() -> None:
        busy = Busy(reading=1, mutating=1)
        await busy.send(READS[0])
        assert await busy.status(WRITES[0]) == 0
        assert await busy.status(READS[0]) == 429
        assert await busy.status(WRITES[0]) == 429

    asyncio.run(main())


def test_an_administrator_is_never_kept_out() -> None:
    async def main() -> None:
        busy = Busy(reading=1, mutating=1)
        for request in (READS[0], WRITES[0]):
            assert [await busy.status(request, MASTER) for _ in range(3)] == [0, 0, 0]
            assert await busy.status(request) == 429  # but he is counted

    asyncio.run(main())


def test_requests_that_last_are_not_counted() -> None:
    async def main() -> None:
        busy = Busy(reading=1, mutating=1)
        for _ in range(3):
            assert await busy.status(get(PODS, "watch=1")) == 0
            assert await busy.status(get(f"{PODS}/a/exec", method="POST")) == 0
        assert (busy.counts.reading, busy.counts.mutating) == (0, 0)

    asyncio.run(main())


def test_no_limit() -> None:
    async def main() -> None:
        busy = Busy(reading=0, mutating=0)
        assert {await busy.status(request) for request in [*READS, *WRITES] * 5} == {0}

    asyncio.run(main())


def test_a_client_that_goes_makes_room() -> None:
    async def main() -> None:
        busy = Busy(reading=1, mutating=1)
        task = await busy.send(READS[0])
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        assert await busy.status(READS[0]) == 0

    asyncio.run(main())


def test_what_goes_on_now_is_a_metric() -> None:
    async def main() -> None:
        busy, registry = Busy(reading=0, mutating=0), Registry()
        busy.counts.show(registry)
        (family,) = registry.families()
        await busy.send(READS[0])
        await busy.send(READS[1])
        await busy.send(WRITES[0])
        assert family.name == "apiserver_current_inflight_requests"
        assert sorted(family.samples()) == [(("mutating",), 1), (("readOnly",), 2)]

    asyncio.run(main())
