"""The HTTP client behind the proxy: what it makes of answers, good and bad, and what it keeps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pilothouse.serving.answers import AnswerReader, BrokenAnswer
from pilothouse.serving.client import Answered, CallFailed, Client, Destination
from pilothouse.serving.dialing import DialFailed, check_name, client_tls
from pilothouse.serving.http import Answer, BodyTooLarge, Request, Response, Upgrade
from serving.support import TEXT, make_pki, run, server_side, serving

HOST = [(b"Host", b"far")]
OK = b"HTTP/1.1 200 OK\r\n"


@asynccontextmanager
async def raw_server(
    answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[Destination]:
    """A server that is a function of its connection."""
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield Destination("127.0.0.1", server.sockets[0].getsockname()[1])
    finally:
        server.close()


@asynccontextmanager
async def calls_of(
    answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[Callable[..., Awaitable[Answered]]]:
    """One client of such a server: `await call(method, body)`."""
    async with raw_server(answer) as destination:
        client = Client()

        async def call(method: str = "GET", *body: bytes) -> Answered:
            return await client.call(destination, method, b"/", HOST, *body)

        try:
            yield call
        finally:
            client.close()


async def fetch(destination: Destination, method: str = "GET", limit: int = 1 << 24) -> tuple[int, bytes]:
    client = Client()
    try:
        answered = await client.call(destination, method, b"/", HOST)
        return answered.status, await answered.read(limit)
    finally:
        client.close()


def one_answer(data: bytes) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(data)
        writer.close()

    return serve


@pytest.mark.parametrize(
    ("data", "status", "body"),
    [
        (OK + b"Content-Length: 5\r\n\r\nhello", 200, b"hello"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 200, b"hello"),
        (OK + b"\r\nuntil the end", 200, b"until the end"),
        (b"HTTP/1.0 404 Gone\r\nContent-Length: 2\r\n\r\nno", 404, b"no"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 1\r\n\r\nx", 200, b"x"),
        (b"HTTP/1.1 299\r\nContent-Length: 0\r\n\r\n", 299, b""),
    ],
)
def test_bodies_are_read_as_they_are_framed(data: bytes, status: int, body: bytes) -> None:
    async def scenario() -> None:
        async with raw_server(one_answer(data)) as destination:
            assert await fetch(destination) == (status, body)

    run(scenario)


@pytest.mark.parametrize("data", [OK + b"Content-Length: 5\r\n\r\n", OK + b"Transfer-Encoding: chunked\r\n\r\n"])
def test_head_has_no_body(data: bytes) -> None:
    async def scenario() -> None:
        async with raw_server(one_answer(data)) as destination:
            assert await fetch(destination, "HEAD") == (200, b"")

    run(scenario)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "EOF"),
        (b"HTTP/1.1 20", "unexpected EOF"),
        (OK + b"Content-Length: 5\r\n\r\nhel", "unexpected EOF"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel", "unexpected EOF"),
        (b"SSH-2.0-dropbear\r\n\r\n", "malformed HTTP response"),
        (OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "bad Content-Length"),
        (OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "bad Content-Length"),
        (OK + b"Content-Length: -5\r\n\r\n", "bad Content-Length"),
        (OK + b"Transfer-Encoding: gzip\r\n\r\n", "unsupported transfer encoding"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "invalid byte in chunk length"),
        (OK + b"X: a\r\n folded\r\n\r\n", "malformed header line"),
        (OK + b"X: a\nY: b\r\n\r\n", "malformed header line"),
        (OK + b"X: " + b"y" * (300 << 10) + b"\r\n\r\n", "longer than"),
        (OK + b"X: " + b"y" * (10 << 20), "longer than"),
    ],
)
def test_what_is_no_answer_is_said_to_be_none(data: bytes, why: str) -> None:
    async def scenario() -> None:
        async with raw_server(one_answer(data)) as destination:
            with pytest.raises(CallFailed, match=why):
                await fetch(destination)

    run(scenario)


def test_an_answer_is_the_same_however_its_bytes_are_cut() -> None:
    data = OK + b"A: b\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nT: t\r\n\r\nrest"
    for size in range(1, len(data)):
        reader = AnswerReader("GET", 1000, lambda: None)
        for start in range(0, len(data), size):
            if reader.done:
                reader.rest += data[start : start + size]
            else:
                reader.feed(data[start : start + size])
        assert reader.done and reader.keep and reader.rest == b"rest"
        assert reader.incoming is not None and reader.incoming.held == 11


def test_connections_are_kept_and_used_again(tmp_path: Path) -> None:
    async def hello(request: Request) -> Response:
        return Response(200, list(TEXT), b"hello")

    async def scenario() -> None:
        async with serving(hello) as served:
            client = Client()
            here = Destination("127.0.0.1", served.edge.port)
            for _ in range(5):
                answered = await client.call(here, "GET", b"/", HOST)
                await answered.read(10)
            assert served.edge.connections == 1
            both = await asyncio.gather(*(client.call(here, "GET", b"/", HOST) for _ in range(3)))
            assert [await one.read(10) for one in both] == [b"hello"] * 3
            assert served.edge.connections == 3
            client.close()

    run(scenario)


def test_a_kept_connection_that_was_closed_is_replaced_for_reads_only() -> None:
    """The server closes each connection behind its first answer without saying so."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK + b"Content-Length: 2\r\n\r\nok")
        await reader.read(10)  # the next request begins: it will not be answered
        writer.transport.abort()

    async def scenario() -> None:
        async with calls_of(serve) as call:
            for _ in range(3):
                answered = await call()
                assert await answered.read(10) == b"ok"
            with pytest.raises(CallFailed):
                await call("POST", b"write this once")

    run(scenario)


def test_a_server_that_talks_unasked_is_not_asked_again() -> None:
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK + b"Content-Length: 2\r\n\r\nok" + OK + b"Content-Length: 3\r\n\r\nbad")
        await reader.read(1)
        writer.close()

    async def scenario() -> None:
        async with calls_of(serve) as call:
            for _ in range(2):
                answered = await call()
                assert await answered.read(10) == b"ok"
            assert connections == 2

    run(scenario)


def test_bodies_beyond_a_limit_are_not_taken_in() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK + b"\r\n")
        try:
            while True:  # for ever
                writer.write(b"x" * 65536)
                await writer.drain()
        except ConnectionError:
            pass

    async def scenario() -> None:
        async with calls_of(serve) as call:
            answered = await call()
            with pytest.raises(BodyTooLarge):
                await answered.read(1 << 20)
            answered.close()

    run(scenario)


def test_an_answer_that_is_not_read_holds_little() -> None:
    sent = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK + b"Content-Length: 1000000000\r\n\r\n")
        try:
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()
                sent += 65536
        except ConnectionError:
            pass

    async def scenario() -> None:
        async with calls_of(serve) as call:
            answered = await call()
            before = -1
            while sent != before:  # until the server cannot send any more
                before = sent
                await asyncio.sleep(0.05)
            assert sent < 16 << 20  # what sockets hold, and 256 KiB
            answered.close()

    run(scenario)


async def mirror(request: Request) -> Answer:
    if request.header(b"upgrade"):

        async def back(connection: object) -> None:
            while data := await connection.receive():  # type: ignore[attr-defined]
                await connection.send(data.upper())  # type: ignore[attr-defined]
            await connection.send(b"bye")  # type: ignore[attr-defined]
            connection.end()  # type: ignore[attr-defined]

        return Upgrade(101, [(b"Connection", b"Upgrade"), (b"Upgrade", b"mirror")], back)
    body = await request.body.read(1 << 24)
    return Response(200, list(TEXT), b"%d" % len(body))


def test_bodies_of_all_sizes_arrive(tmp_path: Path) -> None:
    class Pieces:
        def __init__(self, count: int) -> None:
            self.left = count

        async def chunk(self) -> bytes:
            self.left -= 1
            await asyncio.sleep(0)
            return b"p" * 10_000 if self.left >= 0 else b""

        async def read(self, limit: int) -> bytes:
            raise NotImplementedError

    async def scenario() -> None:
        async with serving(mirror, pki=make_pki(tmp_path)) as served:
            client = Client()
            trust = client_tls("localhost", authorities=(tmp_path / "ca.crt").read_bytes())
            here = Destination("127.0.0.1", served.edge.port, trust)
            for body, length, size in (
                (b"", None, b"0"),
                (b"x" * 2_000_000, None, b"2000000"),
                (Pieces(300), None, b"3000000"),
                (Pieces(300), 3_000_000, b"3000000"),
                (Pieces(0), None, b"0"),
            ):
                answered = await client.call(here, "POST", b"/", HOST, body, length)
                assert await answered.read(100) == size
            assert served.edge.connections == 1
            client.close()

    run(scenario)


def test_an_upgraded_connection_is_closed_half_by_half(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(mirror, pki=make_pki(tmp_path)) as served:
            client = Client()
            here = Destination("127.0.0.1", served.edge.port, client_tls("localhost", careless=True))
            headers = [*HOST, (b"Connection", b"Upgrade"), (b"Upgrade", b"mirror")]
            answered = await client.call(here, "GET", b"/", headers)
            raw = answered.raw
            assert answered.status == 101 and raw is not None
            await raw.send(b"hello")
            assert await raw.receive() == b"HELLO"
            raw.end()
            assert await raw.receive() == b"bye"
            assert await raw.receive() == b""
            answered.close()
            client.close()

    run(scenario)


def test_why_a_server_is_not_trusted_is_told(tmp_path: Path) -> None:
    async def scenario() -> None:
        pki = make_pki(tmp_path)
        ca = (pki / "ca.crt").read_bytes()
        async with serving(mirror, pki=pki) as served, serving(mirror) as plain:
            client = Client()

            async def fails(port: int, trust: object) -> str:
                with pytest.raises(DialFailed) as failure:
                    await client.call(Destination("127.0.0.1", port, trust), "GET", b"/", HOST)  # type: ignore[arg-type]
                return str(failure.value)

            unknown = await fails(served.edge.port, client_tls("localhost"))
            assert unknown == "tls: failed to verify certificate: x509: certificate signed by unknown authority"
            other = await fails(served.edge.port, client_tls("far.default.svc", authorities=ca))
            assert other.endswith("x509: certificate is valid for localhost, not far.default.svc")
            not_tls = await fails(plain.edge.port, client_tls("localhost", authorities=ca))
            assert not_tls == "http: server gave HTTP response to HTTPS client"
            old = server_side(make_pki(tmp_path / "old", now=1e9))
            async with serving(mirror, pki=pki, context=lambda: old) as late:
                trust = client_tls("localhost", authorities=(tmp_path / "old" / "ca.crt").read_bytes())
                assert "has expired" in await fails(late.edge.port, trust)
            refused = await fails(1, None)
            assert refused == "dial tcp 127.0.0.1:1: connect: connection refused"
            client.close()

    run(scenario)


@pytest.mark.parametrize(
    ("names", "name", "good"),
    [
        ((("DNS", "a.b.svc"),), "a.b.svc", True),
        ((("DNS", "A.B.svc"),), "a.b.SVC", True),
        ((("DNS", "*.b.svc"),), "a.b.svc", True),
        ((("DNS", "*.b.svc"),), "x.a.b.svc", False),
        ((("DNS", "*.b.svc"),), ".b.svc", False),
        ((("DNS", "a*.b.svc"),), "ax.b.svc", False),
        ((("IP Address", "127.0.0.1"),), "127.0.0.1", True),
        ((("IP Address", "0:0:0:0:0:0:0:1"),), "::1", True),
        ((("DNS", "127.0.0.1"),), "127.0.0.1", False),
        ((("IP Address", "127.0.0.1"),), "a.b.svc", False),
        ((), "a.b.svc", False),
    ],
)
def test_names_of_certificates(names: tuple[tuple[str, str], ...], name: str, good: bool) -> None:
    try:
        check_name({"subjectAltName": names}, name)
    except DialFailed:
        assert not good
    else:
        assert good


def test_a_reader_refuses_what_it_should_have_refused_before() -> None:
    reader = AnswerReader("GET", 100, lambda: None)
    with pytest.raises(BrokenAnswer):
        reader.feed(b"x" * 101)
