"""The end of a server: what runs is finished, what is idle is closed, streams end in good order."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pilothouse.serving.edge import Edge, bind
from pilothouse.serving.http import Answer, RawConnection, Request, Response, Stream, StreamWriter, Upgrade

from .support import CLOSE, TEXT, Wire, request, run, serving, until


class Slow:
    """`/wait` is answered when `go` is set; `/watch` streams until its end; `/raw` is an upgrade."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.running = 0

    async def __call__(self, request: Request) -> Answer:
        if request.raw_path == b"/watch":
            return Stream(200, TEXT, self._watch)
        if request.raw_path == b"/raw":
            return Upgrade(101, [], self._raw)
        if request.raw_path == b"/wait":
            self.running += 1
            await self.go.wait()
        return Response(200, TEXT, b"done")

    async def _watch(self, writer: StreamWriter) -> None:
        self.running += 1
        writer.write(b"event")
        await writer.closed()

    async def _raw(self, connection: RawConnection) -> None:
        self.running += 1
        await connection.receive()


async def refuses(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionRefusedError:
        return True
    writer.close()
    return False


def test_running_requests_are_finished_idle_connections_closed_and_streams_ended(pki: Path) -> None:
    async def scenario() -> None:
        slow = Slow()
        async with serving(slow, pki=pki) as served:
            idle, waiting, watching = [await served.connect() for _ in range(3)]
            idle.send(request())
            await idle.answer()
            waiting.send(request("/wait") + request("/next"))
            watching.send(request("/watch"))
            await until(lambda: slow.running == 2)
            port = served.edge.port
            draining = asyncio.create_task(served.edge.drain(grace=10))
            assert await idle.rest() == b""
            assert (await watching.rest()).endswith(b"5\r\nevent\r\n0\r\n\r\n")
            assert await refuses(port)
            assert not draining.done()
            slow.go.set()
            head, body = await waiting.answer()
            assert CLOSE in head
            assert body == b"done"
            assert await waiting.rest() == b""
            await draining
            assert served.edge.connections == 0

    run(scenario)


def test_streams_may_get_time_of_their_own() -> None:
    async def scenario() -> None:
        slow = Slow()
        async with serving(slow) as served:
            watching = await served.connect()
            watching.send(request("/watch"))
            await until(lambda: slow.running == 1)
            draining = asyncio.create_task(served.edge.drain(grace=10, stream_grace=5))
            await asyncio.sleep(0.02)
            assert not draining.done()
            watching.close()
            await draining

    run(scenario)


@pytest.mark.parametrize("path", ["/wait", "/raw"])
def test_the_grace_is_not_endless(path: str) -> None:
    async def scenario() -> None:
        slow = Slow()
        async with serving(slow) as served:
            wire = await served.connect()
            wire.send(request(path))
            await until(lambda: slow.running == 1)
            draining = asyncio.create_task(served.edge.drain(grace=0.05))
            rest = await wire.rest()
            assert b"done" not in rest
            await draining
            await until(lambda: served.edge.connections == 0)

    run(scenario)


def test_an_impatient_end_cuts_everything_off() -> None:
    async def scenario() -> None:
        slow = Slow()
        async with serving(slow) as served:
            wires: list[Wire] = []
            for path in ("/wait", "/watch", "/raw"):
                wires.append(await served.connect())
                wires[-1].send(request(path))
            await until(lambda: slow.running == 3)
            draining = asyncio.create_task(served.edge.drain(grace=60))
            await asyncio.sleep(0)
            served.edge.abort()
            for wire in wires:
                await wire.rest()
            await draining

    run(scenario)


def test_connections_made_before_the_start_wait_for_it() -> None:
    async def scenario() -> None:
        edge = Edge(Slow(), bind("127.0.0.1", 0))
        reader, writer = await asyncio.open_connection("127.0.0.1", edge.port)
        writer.write(request("/x", "GET", "Connection: close"))
        await edge.start()
        assert (await reader.read()).endswith(b"done")
        writer.close()
        await edge.drain(1)

    run(scenario)


def test_a_port_in_use_is_an_error_and_leaves_nothing_open() -> None:
    (listener,) = bind("127.0.0.1", 0)
    with pytest.raises(OSError, match="in use"):
        bind("127.0.0.1", listener.getsockname()[1])
    listener.close()


def test_every_interface_and_both_families() -> None:
    async def scenario() -> None:
        edge = Edge(Slow(), bind("", 0))
        await edge.start()
        for host in ("127.0.0.1", "::1"):
            reader, writer = await asyncio.open_connection(host, edge.port)
            writer.write(request("/x", "GET", "Connection: close"))
            assert (await reader.read()).endswith(b"done")
            writer.close()
        await edge.drain(1)

    run(scenario)
