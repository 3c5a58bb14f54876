"""Helpers of the edge's tests: a running edge, and clients that write raw bytes."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import uvloop

from pilothouse.app.certificates import make
from pilothouse.serving.edge import Edge, bind
from pilothouse.serving.http import Handler, Request, Response
from pilothouse.serving.limits import Limits

T = TypeVar("T")
DEADLINE = 10.0  # seconds; only a broken server makes a test wait that long
TEXT = [(b"Content-Type", b"text/plain")]
CLOSE = b"Connection: close\r\n"


def run(scenario: Callable[[], Awaitable[T]]) -> T:
    """Run an async test on the loop that the server uses."""

    async def limited() -> T:
        return await asyncio.wait_for(scenario(), 3 * DEADLINE)

    return uvloop.run(limited())


class Wire:
    """A client's connection. `take` and its friends wait until what they look for is there."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.seen = b""

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def until(self, wanted: bytes) -> bytes:
        """Everything up to and including `wanted`."""
        while wanted not in self.seen:
            data = await asyncio.wait_for(self.reader.read(1 << 16), DEADLINE)
            assert data, f"the connection ended, having sent {self.seen!r}"
            self.seen += data
        end = self.seen.index(wanted) + len(wanted)
        found, self.seen = self.seen[:end], self.seen[end:]
        return found

    async def exactly(self, size: int) -> bytes:
        while len(self.seen) < size:
            data = await asyncio.wait_for(self.reader.read(1 << 16), DEADLINE)
            assert data, f"the connection ended, having sent {self.seen!r}"
            self.seen += data
        found, self.seen = self.seen[:size], self.seen[size:]
        return found

    async def answer(self) -> tuple[bytes, bytes]:
        """Head and body of the next answer, framed by length or chunks."""
        head = await self.until(b"\r\n\r\n")
        lower = head.lower()
        if b"transfer-encoding: chunked" in lower:
            body = b""
            while size := int(await self.until(b"\r\n"), 16):
                body += (await self.exactly(size + 2))[:-2]
            assert await self.exactly(2) == b"\r\n"
            return head, body
        size = int(lower.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        return head, await self.exactly(size)

    async def rest(self) -> bytes:
        """Everything until the server closes."""
        while True:
            try:
                data = await asyncio.wait_for(self.reader.read(1 << 16), DEADLINE)
            except ConnectionError:
                data = b""
            if not data:
                found, self.seen = self.seen, b""
                return found
            self.seen += data

    async def is_open(self) -> bool:
        """A further request is answered."""
        self.send(request("/still-there"))
        head, _ = await self.answer()
        return head.startswith(b"HTTP/1.1 ")

    def close(self) -> None:
        self.writer.close()

    def abort(self) -> None:
        self.writer.transport.abort()


class Served:
    """A running edge and ways to reach it."""

    def __init__(self, edge: Edge, trust: ssl.SSLContext | None) -> None:
        self.edge = edge
        self.trust = trust
        self.wires: list[Wire] = []

    async def connect(self, context: ssl.SSLContext | None = None) -> Wire:
        trust = context or self.trust
        name = "localhost" if trust else None
        streams = await asyncio.open_connection("127.0.0.1", self.edge.port, ssl=trust, server_hostname=name)
        self.wires.append(Wire(*streams))
        return self.wires[-1]

    async def exchange(self, data: bytes) -> bytes:
        """Everything the server sends to `data` until it closes."""
        wire = await self.connect()
        wire.send(data)
        found = await wire.rest()
        wire.close()
        return found


async def hello(request: Request) -> Response:
    return Response(200, TEXT, b"hello")


@asynccontextmanager
async def serving(
    handler: Handler = hello,
    *,
    pki: Path | None = None,
    limits: Limits | None = None,
    context: Callable[[], ssl.SSLContext] | None = None,
) -> AsyncIterator[Served]:
    """An edge on a free port: over TLS when `pki` (made by `make_pki`) is given."""
    trust = None
    if pki is not None:
        trust = client_context(pki)
        if context is None:
            server = server_side(pki)

            def context() -> ssl.SSLContext:
                return server

    edge = Edge(handler, bind("127.0.0.1", 0), context=context, limits=limits)
    await edge.start()
    served = Served(edge, trust)
    try:
        yield served
    finally:
        for wire in served.wires:
            wire.abort()
        await edge.drain(0.0)
        await until(lambda: edge.connections == 0)


def server_side(pki: Path) -> ssl.SSLContext:
    from pilothouse.serving.tls import CertificateFiles, server_context

    return server_context(CertificateFiles(pki / "serving.crt", pki / "serving.key", (pki / "ca.crt",)))


def client_context(pki: Path, certificate: str | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    if certificate is not None:
        context.load_cert_chain(pki / f"{certificate}.crt", pki / f"{certificate}.key")
    return context


def make_pki(folder: Path, now: float | None = None) -> Path:
    """A CA, a serving certificate for localhost and an administrator's certificate."""
    folder.mkdir(parents=True, exist_ok=True)
    make(folder, ["localhost", "127.0.0.1"], time.time() if now is None else now)
    return folder


def request(path: str = "/", method: str = "GET", *lines: str, body: bytes = b"") -> bytes:
    """An HTTP/1.1 request. A body gets its Content-Length."""
    head = [f"{method} {path} HTTP/1.1", "Host: localhost", *lines]
    if body:
        head.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*head, "", ""]).encode() + body


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        await asyncio.sleep(0.002)


class TurnMeter:
    """The most CPU time that one turn of the loop took. CPU, so that a busy machine is not mistaken for a busy loop."""

    def __init__(self) -> None:
        self.worst = 0.0
        self._last = time.thread_time()
        self._loop = asyncio.get_running_loop()
        self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        now = time.thread_time()
        self.worst = max(self.worst, now - self._last)
        self._last = now
        self._loop.call_later(0, self._turn)
