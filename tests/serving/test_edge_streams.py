"""Streamed answers and upgrades."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from pilothouse.serving.http import Answer, ClientGone, RawConnection, Request, Stream, StreamWriter, Upgrade
from pilothouse.serving.limits import Limits

from .support import DEADLINE, TEXT, Served, request, run, serving, until

Run = Callable[[StreamWriter], Awaitable[None]]


def streaming(work: Run) -> Callable[[Request], Awaitable[Answer]]:
    async def handler(request: Request) -> Answer:
        return Stream(200, TEXT, work)

    return handler


def taking_over(work: Callable[[RawConnection], Awaitable[None]]) -> Callable[[Request], Awaitable[Answer]]:
    async def handler(request: Request) -> Answer:
        return Upgrade(101, [(b"Upgrade", b"raw"), (b"Connection", b"Upgrade")], work)

    return handler


@pytest.mark.parametrize("tls", [True, False])
def test_each_write_is_a_chunk_and_is_sent_at_once(tls: bool, pki: Path) -> None:
    async def scenario() -> None:
        go = asyncio.Event()

        async def work(writer: StreamWriter) -> None:
            writer.write(b"one\n")
            writer.write(b"")  # no chunk, or it would be the last
            await go.wait()
            writer.write(b"x" * 100_000)

        async with serving(streaming(work), pki=pki if tls else None) as served:
            wire = await served.connect()
            wire.send(request())
            head = await wire.until(b"\r\n\r\n")
            assert head.endswith(b"Transfer-Encoding: chunked\r\n\r\n")
            assert await wire.until(b"one\n\r\n") == b"4\r\none\n\r\n"
            go.set()
            assert await wire.until(b"\r\n") == b"186a0\r\n"
            assert await wire.exactly(100_000) == b"x" * 100_000
            assert await wire.until(b"0\r\n\r\n") == b"\r\n0\r\n\r\n"
            wire.send(request())
            await wire.until(b"4\r\none\n\r\n")  # the connection was kept

    run(scenario)


def test_old_clients_get_bare_bytes_until_the_end() -> None:
    async def work(writer: StreamWriter) -> None:
        writer.write(b"one\n")
        await asyncio.sleep(0)
        writer.write(b"two\n")

    async def scenario() -> None:
        async with serving(streaming(work)) as served:
            answer = await served.exchange(b"GET / HTTP/1.0\r\n\r\n")
            assert answer.startswith(b"HTTP/1.0 200 OK\r\n")
            assert answer.endswith(b"GMT\r\n\r\none\ntwo\n")

    run(scenario)


@pytest.mark.parametrize("leave", ["close", "abort"])
@pytest.mark.parametrize("waits_for", ["closed", "something else"])
def test_a_client_that_goes_ends_its_stream(leave: str, waits_for: str, pki: Path) -> None:
    async def scenario() -> None:
        seen: list[str] = []

        async def work(writer: StreamWriter) -> None:
            writer.write(b"x")
            seen.append("began")
            try:
                if waits_for == "closed":
                    await writer.closed()
                else:
                    await asyncio.Event().wait()
            finally:
                seen.append("ended")
                writer.write(b"nobody reads this")

        async with serving(streaming(work), pki=pki) as served:
            wire = await served.connect()
            wire.send(request())
            await until(lambda: seen == ["began"])
            getattr(wire, leave)()
            await until(lambda: seen == ["began", "ended"])

    run(scenario)


def test_a_stream_that_fails_is_cut_off_so_that_nobody_takes_it_for_whole(caplog: pytest.LogCaptureFixture) -> None:
    async def work(writer: StreamWriter) -> None:
        writer.write(b"half")
        await asyncio.sleep(0)
        raise RuntimeError("this went wrong")

    async def scenario() -> None:
        async with serving(streaming(work)) as served:
            answer = await served.exchange(request())
            assert b"\r\n0\r\n\r\n" not in answer

    with caplog.at_level(logging.ERROR):
        run(scenario)
    assert "this went wrong" in caplog.text


def test_a_writer_sees_what_a_slow_client_has_not_taken(pki: Path) -> None:
    async def scenario() -> None:
        buffered: list[int] = []

        async def work(writer: StreamWriter) -> None:
            while writer.buffered < 1_000_000:
                writer.write(b"x" * 10_000)
                await asyncio.sleep(0)
            buffered.append(writer.buffered)
            drained = asyncio.ensure_future(writer.drain())
            await asyncio.sleep(0.01)
            assert not drained.done()
            buffered.append(-1)
            await drained
            buffered.append(writer.buffered)

        async with serving(streaming(work), pki=pki) as served:
            wire = await served.connect()
            wire.writer.transport.pause_reading()  # type: ignore[attr-defined]
            wire.send(request())
            await until(lambda: len(buffered) == 2)
            wire.writer.transport.resume_reading()  # type: ignore[attr-defined]
            await wire.until(b"\r\n0\r\n\r\n")
            assert buffered[2] <= Limits().write_low

    run(scenario)


def test_waiting_to_write_ends_when_the_client_goes() -> None:
    async def scenario() -> None:
        seen: list[str] = []

        async def work(writer: StreamWriter) -> None:
            try:
                while True:
                    writer.write(b"x" * 100_000)
                    await writer.drain()
            except (ClientGone, asyncio.CancelledError) as error:
                seen.append(type(error).__name__)
                raise

        async with serving(streaming(work)) as served:
            wire = await served.connect()
            wire.writer.transport.pause_reading()  # type: ignore[attr-defined]
            wire.send(request())
            await asyncio.sleep(0.02)
            wire.abort()
            await until(lambda: bool(seen))

    run(scenario)


async def echo_raw(connection: RawConnection) -> None:
    while data := await connection.receive():
        await connection.send(data.upper())
    await connection.send(b"<END>")
    connection.end()


@pytest.mark.parametrize("tls", [True, False])
def test_an_upgrade_hands_over_the_connection_with_the_early_bytes(tls: bool, pki: Path) -> None:
    async def scenario() -> None:
        async with serving(taking_over(echo_raw), pki=pki if tls else None) as served:
            wire = await served.connect()
            wire.send(request("/x", "GET", "Connection: Upgrade", "Upgrade: raw") + b"early ")
            assert await wire.until(b"\r\n\r\n") == (
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: raw\r\nConnection: Upgrade\r\n\r\n"
            )
            assert await wire.exactly(6) == b"EARLY "
            for _ in range(3):
                wire.send(b"more")
                assert await wire.exactly(4) == b"MORE"
            wire.send(b"x" * 1_000_000)
            assert await wire.exactly(1_000_000) == b"X" * 1_000_000

    run(scenario)


def test_the_clients_half_may_end_first() -> None:
    async def scenario() -> None:
        async with serving(taking_over(echo_raw)) as served:
            wire = await served.connect()
            wire.send(request() + b"last words")
            wire.writer.write_eof()
            assert (await wire.rest()).endswith(b"LAST WORDS<END>")

    run(scenario)


@pytest.mark.parametrize("tls", [True, False])
def test_the_servers_half_may_end_first(tls: bool, pki: Path) -> None:
    async def scenario() -> None:
        got: list[bytes] = []

        async def work(connection: RawConnection) -> None:
            await connection.send(b"that is all")
            connection.end()
            while data := await connection.receive():
                got.append(data)
                if b"understood" in b"".join(got):
                    return

        async with serving(taking_over(work), pki=pki if tls else None) as served:
            if tls:
                await half_closed_by_server(served)
            else:
                wire = await served.connect()
                wire.send(request())
                assert (await wire.rest()).endswith(b"that is all")
                wire.send(b"understood")
            await until(lambda: b"".join(got) == b"understood")

    run(scenario)


async def half_closed_by_server(served: Served) -> None:
    """A blocking client: asyncio's TLS closes both halves at once."""

    def client() -> None:
        import socket

        assert served.trust is not None
        plain = socket.create_connection(("127.0.0.1", served.edge.port), timeout=DEADLINE)
        with served.trust.wrap_socket(plain, server_hostname="localhost") as secure:
            secure.sendall(request())
            data = b""
            while piece := secure.recv(1000):
                data += piece
            assert data.endswith(b"that is all")
            secure.sendall(b"understood")

    await asyncio.to_thread(client)


def test_a_flood_after_the_upgrade_is_held_back() -> None:
    async def scenario() -> None:
        go, pipes = asyncio.Event(), []
        size = 0

        async def work(connection: RawConnection) -> None:
            nonlocal size
            pipes.append(connection)
            await go.wait()
            while data := await connection.receive():
                size += len(data)

        async with serving(taking_over(work)) as served:
            wire = await served.connect()
            wire.send(request() + b"x" * 20_000_000)
            wire.writer.write_eof()
            await until(lambda: bool(pipes) and pipes[0]._held > 200_000)
            for _ in range(20):
                await asyncio.sleep(0.001)
                assert pipes[0]._held < 1_000_000
            go.set()
            await until(lambda: size == 20_000_000)

    run(scenario)


def test_sending_to_a_client_that_went_raises() -> None:
    async def scenario() -> None:
        seen: list[str] = []

        async def work(connection: RawConnection) -> None:
            try:
                while True:
                    await connection.send(b"x" * 10000)
                    await asyncio.sleep(0)
            except (ClientGone, asyncio.CancelledError) as error:
                seen.append(type(error).__name__)

        async with serving(taking_over(work)) as served:
            wire = await served.connect()
            wire.send(request())
            await wire.until(b"xxxx")
            wire.abort()
            await until(lambda: bool(seen))

    run(scenario)
