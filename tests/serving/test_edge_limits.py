"""Clients that are slow, silent, greedy, or gone."""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path

import pytest

from pilothouse.serving.http import Request, Response
from pilothouse.serving.limits import Limits

from .support import TEXT, hello, request, run, serving, until

TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Connection: close\r\n\r\n431 Request Header Fields Too Large"
)


def test_heads_up_to_the_limit() -> None:
    async def scenario() -> None:
        async with serving() as served:
            wire = await served.connect()
            frame = len(request("/", "GET", "X-A: "))
            wire.send(request("/", "GET", "X-A: " + "x" * (1052672 - frame)))
            assert (await wire.answer())[1] == b"hello"
            assert await served.exchange(request("/", "GET", "X-A: " + "x" * (1052673 - frame))) == TOO_LARGE
            assert await served.exchange(b"GET /" + b"x" * 1_100_000) == TOO_LARGE

    run(scenario)


@pytest.mark.parametrize(
    ("start", "tls"),
    [(b"", False), (b"GET / HTTP/1.1\r\nHost: x\r\n", False), (b"", True), (b"\x16\x03\x01", True)],
)
def test_a_head_must_come_in_time(start: bytes, tls: bool, pki: Path) -> None:
    async def scenario() -> None:
        limits = Limits(head_time=0.1, idle_time=5)
        async with serving(pki=pki if tls else None, limits=limits) as served:
            reader, writer = await asyncio.open_connection("127.0.0.1", served.edge.port)
            began = time.monotonic()
            writer.write(start)
            assert await reader.read() == b""
            assert 0.05 < time.monotonic() - began < 3
            writer.close()

    run(scenario)


def test_dripping_headers_does_not_buy_time() -> None:
    async def scenario() -> None:
        async with serving(limits=Limits(head_time=0.2)) as served:
            wire = await served.connect()
            for _ in range(3):
                wire.send(request())
                await wire.answer()
            began = time.monotonic()
            wire.send(b"GET / HTTP/1.1\r\n")
            ended = asyncio.create_task(wire.rest())
            while not ended.done():
                with contextlib.suppress(RuntimeError):  # what uvloop says of a connection that is closed
                    wire.send(b"X: y\r\n")
                await asyncio.sleep(0.01)
            assert ended.result() == b""
            assert time.monotonic() - began < 2

    run(scenario)


def test_an_idle_connection_is_closed_and_a_used_one_is_not() -> None:
    async def scenario() -> None:
        async with serving(limits=Limits(idle_time=0.25, head_time=0.1)) as served:
            idle, used = await served.connect(), await served.connect()
            for wire in (idle, used):
                wire.send(request())
                await wire.answer()
            ended = asyncio.create_task(idle.rest())
            while not ended.done():
                used.send(request())
                await used.answer()
                await asyncio.sleep(0.02)
            assert ended.result() == b""
            assert await used.is_open()

    run(scenario)


def test_a_running_request_is_not_idle() -> None:
    async def scenario() -> None:
        async def slow(request: Request) -> Response:
            await asyncio.sleep(0.4)
            return Response(200, TEXT, b"at last")

        async with serving(slow, limits=Limits(idle_time=0.1, head_time=0.1)) as served:
            wire = await served.connect()
            wire.send(request())
            assert (await wire.answer())[1] == b"at last"

    run(scenario)


@pytest.mark.parametrize("tls", [True, False])
def test_a_client_that_reads_nothing_holds_little_memory_and_is_cut_off(tls: bool, pki: Path) -> None:
    async def scenario() -> None:
        produced = 0

        async def large(request: Request) -> Response:
            nonlocal produced
            produced += 1
            return Response(200, TEXT, b"x" * 30_000_000)

        async with serving(large, pki=pki if tls else None, limits=Limits(stall_time=0.2)) as served:
            wire = await served.connect()
            wire.writer.transport.pause_reading()  # type: ignore[attr-defined]
            wire.send(request())
            await until(lambda: produced == 1)
            connection = next(iter(served.edge._shared.connections))  # type: ignore[union-attr]
            channel = connection._channel
            await until(lambda: channel.buffered > 0)
            assert channel.buffered < 2_000_000
            await until(lambda: served.edge.connections == 0)
            wire.abort()

    run(scenario)


def test_a_client_that_goes_cancels_its_request() -> None:
    async def scenario() -> None:
        seen: list[str] = []

        async def endless(request: Request) -> Response:
            seen.append("began")
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise
            return Response(200, TEXT)

        async with serving(endless) as served:
            for leave in ("close", "abort"):
                wire = await served.connect()
                wire.send(request())
                await until(lambda: seen == ["began"])
                getattr(wire, leave)()
                await until(lambda: seen == ["began", "cancelled"])
                seen.clear()
            await until(lambda: served.edge.connections == 0)

    run(scenario)


def test_a_client_that_closes_its_half_gets_the_answers_that_are_ready() -> None:
    async def scenario() -> None:
        async with serving(hello) as served:
            wire = await served.connect()
            wire.send(request())
            wire.writer.write_eof()
            assert (await wire.rest()).endswith(b"hello")

    run(scenario)


def test_the_server_survives_clients_that_reset_at_once() -> None:
    async def scenario() -> None:
        async with serving(hello) as served:
            for _ in range(20):
                wire = await served.connect()
                wire.send(request() + b"GET /")
                wire.abort()
            wire = await served.connect()
            assert await wire.is_open()
            await until(lambda: served.edge.connections == 1)

    run(scenario)
