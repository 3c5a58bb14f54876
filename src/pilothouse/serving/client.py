"""A client of HTTP/1.1 servers: answers as they come, connections that are kept, upgrades.

It is made of the pieces of the edge (channels, chunks, the outlet), so a byte that is passed on costs what it costs
there. Time limits are the caller's, who cancels; what is kept for reuse is bounded here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from pilothouse.serving.answers import AnswerReader, BrokenAnswer, Incoming
from pilothouse.serving.channel import Channel
from pilothouse.serving.dialing import (
    ClientChannel,
    ClientTLS,
    ClientTLSChannel,
    DialFailed,
    Untrusted,
    dial_text,
    reset_text,
)
from pilothouse.serving.flusher import Flusher
from pilothouse.serving.http import BodyReader, HeaderList
from pilothouse.serving.limits import Limits
from pilothouse.serving.outlet import Outlet
from pilothouse.serving.stream import RawPipe

IDLE_SECONDS: Final = 60.0  # a kept connection is closed after; less than what servers grant
MOST_IDLE: Final = 32  # connections kept for one destination
DIAL_SECONDS: Final = 10.0
_LIMITS: Final = Limits(head=256 << 10)
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})  # a request that may be sent twice


class CallFailed(Exception):
    """No whole answer came. `unsent`: the server has certainly not acted on the request."""

    def __init__(self, text: str, *, unsent: bool = False) -> None:
        super().__init__(text)
        self.unsent = unsent


class Destination(NamedTuple):
    """Where to connect; `tls` None: plain HTTP. `host` is an address or a name."""

    host: str
    port: int
    tls: ClientTLS | None = None

    @property
    def authority(self) -> str:
        """`host:port`, as in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Connection:
    """One connection: a request and its answer at a time. The user of a channel."""

    def __init__(self, pool: Pool, loop: asyncio.AbstractEventLoop) -> None:
        self._pool = pool
        self._loop = loop
        self._channel: ClientChannel | ClientTLSChannel
        self._outlet: Outlet
        self._reader: AnswerReader | None = None
        self._head: asyncio.Future[Incoming] | None = None
        self._incoming: Incoming | None = None
        self._upload: asyncio.Task[None] | None = None
        self.opened: asyncio.Future[None] = loop.create_future()
        self.raw: RawPipe | None = None  # after an answer 101
        self.reused = False
        self.alive = True
        self.idle_since = 0.0

    # What the channel tells.

    def attached(self, channel: Channel) -> None:
        assert isinstance(channel, ClientChannel | ClientTLSChannel)
        self._channel = channel
        self._outlet = Outlet(channel, _LIMITS)

    def ready(self) -> None:
        if not self.opened.done():
            self.opened.set_result(None)

    def failed(self, error: DialFailed) -> None:
        if not self.opened.done():
            self.opened.set_exception(error)

    def feed(self, data: bytes) -> None:
        if self.raw is not None:
            self.raw.feed(data)
            return
        reader = self._reader
        if reader is None:  # nobody asked: such a server is not to be trusted with another request
            self.abort()
            return
        try:
            reader.feed(data)
        except BrokenAnswer as error:
            self._break(str(error))
            self.abort()
            return
        self._look(reader)

    def _look(self, reader: AnswerReader) -> None:
        """Pass on what the reader found."""
        incoming = reader.incoming
        if incoming is None:
            return
        if self._head is not None:
            head, self._head = self._head, None
            self._incoming = incoming
            if not head.done():
                head.set_result(incoming)
        if reader.done:
            self._finish(reader, incoming)
        elif incoming.held > _LIMITS.read_ahead:
            self._channel.pause_reading()

    def _finish(self, reader: AnswerReader, incoming: Incoming) -> None:
        self._reader = self._incoming = None
        if incoming.status == 101:
            self.raw = RawPipe(self._channel, self._outlet.drain, reader.rest, _LIMITS.read_ahead)
            return
        if self._upload is not None or not reader.keep or reader.rest:
            self.close()
            return
        self._take_more()
        self._pool.keep(self)

    def ended(self) -> None:
        if self.raw is not None:
            self.raw.ended()
            return
        reader = self._reader
        if reader is not None:
            reader.end_of_input()
            if reader.done:
                self._look(reader)
                return
        self._break("EOF" if reader is None or reader.untouched else "unexpected EOF")
        self.abort()

    def lost(self) -> None:
        self.alive = False
        if self.raw is not None:
            self.raw.lost()
        error = self._channel.error
        if not self.opened.done():
            self.opened.set_exception(DialFailed(reset_text(error) if error else "EOF"))
        untouched = self._reader is None or self._reader.untouched
        self._break(reset_text(error) if error else "EOF" if untouched else "unexpected EOF")
        self._outlet.lost()
        self._stop_upload()
        self._pool.drop(self)

    def writable(self, yes: bool) -> None:
        self._outlet.set_writable(yes)

    def _break(self, why: str) -> None:
        """Whoever waits for an answer, or the rest of one, learns that it will not come."""
        reader, self._reader = self._reader, None
        error = CallFailed(why, unsent=reader is not None and self.reused and reader.untouched)
        head, self._head = self._head, None
        if head is not None and not head.done():
            head.set_exception(error)
        incoming, self._incoming = self._incoming, None
        if incoming is not None:
            incoming.fail(error)

    # What the client asks for.

    def send(self, head: bytes, method: str, rest: BodyReader | None, chunked: bool) -> asyncio.Future[Incoming]:
        """Send a request (its head, or all of it). The future: the head of its answer is here, or CallFailed."""
        self._reader = AnswerReader(method, _LIMITS.head, self._take_more)
        waiting: asyncio.Future[Incoming] = self._loop.create_future()
        self._head = waiting
        self._channel.write(head)
        if rest is not None:
            self._upload = self._loop.create_task(self._send_rest(rest, chunked), name="upload")
        return waiting

    def _take_more(self) -> None:
        if self._channel.paused:
            self._channel.resume_reading()

    async def _send_rest(self, body: BodyReader, chunked: bool) -> None:
        try:
            while piece := await body.chunk():
                self._channel.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
                await self._outlet.drain()
        except (
            Exception
        ) as error:  # the sender is gone or sends nonsense: half a body shall not be taken for a whole one
            self._break(f"the body could not be sent: {error}")
            self._upload = None
            self.abort()
            return
        if chunked:
            self._channel.write(b"0\r\n\r\n")
        self._upload = None

    def _stop_upload(self) -> None:
        upload, self._upload = self._upload, None
        if upload is not None:
            upload.cancel()

    def close(self) -> None:
        """In good order: what was written is sent."""
        self.alive = False
        self._stop_upload()
        self._channel.close()

    def abort(self) -> None:
        self.alive = False
        self._stop_upload()
        self._channel.abort()


class Answered:
    """An answer: its head, and its body as it comes. `close` it unless the body was read to its end."""

    __slots__ = ("_connection", "_incoming", "headers", "length", "status")

    def __init__(self, connection: Connection, incoming: Incoming) -> None:
        self._connection = connection
        self._incoming = incoming
        self.status = incoming.status
        self.headers = incoming.headers
        self.length = incoming.length  # None where it is not known

    @property
    def whole(self) -> bool:
        """All of the body is here already."""
        return self._incoming.done

    def at_once(self) -> bytes | None:
        """The body, if all of it is here already."""
        return self._incoming.at_once()

    @property
    def chunk(self) -> Callable[[], Awaitable[bytes]]:
        """Gives the next bytes, b"" at the end. Raises CallFailed."""
        return self._incoming.chunk

    async def read(self, limit: int) -> bytes:
        """All of the body. Raises CallFailed, BodyTooLarge."""
        return await self._incoming.read(limit)

    @property
    def raw(self) -> RawPipe | None:
        """The bare connection, after 101."""
        return self._connection.raw

    def close(self) -> None:
        """Cut the answer off where it is not whole; nothing happens to one that is."""
        if not self._incoming.done or self._connection.raw is not None:
            self._connection.abort()


class Pool:
    """The way to one destination, and the connections to it that wait for the next request. Got from a `Client`."""

    __slots__ = ("_client", "_idle", "_loop", "_over", "destination")

    def __init__(self, client: Client, destination: Destination, loop: asyncio.AbstractEventLoop) -> None:
        self._client = client
        self.destination = destination
        self._loop = loop
        self._idle: list[Connection] = []  # the one that was used last comes last, and is used first
        self._over = False

    async def call(
        self, method: str, target: bytes, headers: HeaderList | bytes, body: bytes | BodyReader = b"",
        length: int | None = None,
    ) -> Answered:  # fmt: skip
        """As `Client.call`."""
        head, rest, chunked = _written(method, target, headers, body, length)
        while True:
            connection = self._take() or await self._dial()
            try:
                incoming = await connection.send(head, method, rest, chunked)
            except CallFailed as failure:
                # A kept connection may have been closed at the very moment: then the request goes to a fresh one.
                if not failure.unsent or rest is not None or method not in _SAFE:
                    raise
            except BaseException:
                connection.abort()
                raise
            else:
                return Answered(connection, incoming)

    def _take(self) -> Connection | None:
        idle = self._idle
        limit = self._loop.time() - IDLE_SECONDS
        while idle:
            connection = idle.pop()
            if connection.alive and connection.idle_since > limit:
                connection.reused = True
                return connection
            connection.close()
        return None

    async def _dial(self) -> Connection:
        """Raises DialFailed."""
        destination, flusher = self.destination, self._client.flusher
        connection = Connection(self, self._loop)
        tls = destination.tls
        step = f"dial tcp {destination.authority}: i/o timeout"

        def channel() -> Channel:
            return ClientChannel(connection, flusher) if tls is None else ClientTLSChannel(connection, flusher, tls)

        made = False
        try:
            async with asyncio.timeout(DIAL_SECONDS):
                await self._loop.create_connection(channel, destination.host, destination.port)
                made, step = True, "net/http: TLS handshake timeout"
                await connection.opened
        except TimeoutError:
            if made:
                connection.abort()
            raise DialFailed(step) from None
        except Untrusted as error:
            if self._client.distrust is not None:
                self._client.distrust(error)
            raise
        except OSError as error:
            raise DialFailed(dial_text(error, destination.host, destination.port)) from error
        except asyncio.CancelledError:
            if made:
                connection.abort()
            raise
        return connection

    # Connections that wait for the next request.

    def keep(self, connection: Connection) -> None:
        idle = self._idle
        if self._over or len(idle) >= MOST_IDLE:
            connection.close()
            return
        connection.idle_since = self._loop.time()
        idle.append(connection)
        if len(idle) == 1:
            self._client.holds(self)

    def drop(self, connection: Connection) -> None:
        """The connection is gone."""
        if connection in self._idle:
            self._idle.remove(connection)

    def sweep(self, limit: float) -> bool:
        """Close what waits since before `limit` (time of the loop). Is anything left?"""
        idle = self._idle
        old = sum(connection.idle_since <= limit for connection in idle)
        for connection in idle[:old]:
            connection.close()
        del idle[:old]
        return bool(idle)

    def close(self) -> None:
        """Close what is kept; keep nothing from now on."""
        self._over = True
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


class Client:
    """Calls servers and keeps connections. One for each loop; `close` it at the end. `distrust` is told of servers
    whose certificates are not believed.
    """

    def __init__(self, distrust: Callable[[Untrusted], None] | None = None) -> None:
        self.distrust = distrust
        self._loop = asyncio.get_running_loop()
        self.flusher = Flusher(self._loop)
        self._pools: dict[Destination, Pool] = {}
        self._holding: set[Pool] = set()  # those that may have connections
        self._sweeper: asyncio.TimerHandle | None = None
        self._closed = False

    def pool(self, destination: Destination) -> Pool:
        """The way to a destination, for who calls it often."""
        pool = self._pools.get(destination)
        if pool is None:
            pool = self._pools[destination] = Pool(self, destination, self._loop)
            self.holds(pool)
        return pool

    async def call(
        self, destination: Destination, method: str, target: bytes, headers: HeaderList | bytes,
        body: bytes | BodyReader = b"", length: int | None = None,
    ) -> Answered:  # fmt: skip
        """Send a request, return when the head of its answer is here.

        `headers` (if bytes: their lines) do not say how the body is framed.

        `length`: bytes of a body that is a reader; None sends it in chunks. Raises DialFailed, CallFailed.
        """
        return await self.pool(destination).call(method, target, headers, body, length)

    def holds(self, pool: Pool) -> None:
        """`pool` is to be looked at from time to time."""
        if self._closed:
            pool.close()
            return
        self._holding.add(pool)
        if self._sweeper is None:
            self._sweeper = self._loop.call_later(IDLE_SECONDS, self._sweep)

    def _sweep(self) -> None:
        self._sweeper = None
        limit = self._loop.time() - IDLE_SECONDS
        self._holding = {pool for pool in self._holding if pool.sweep(limit)}
        self._pools = {known: pool for known, pool in self._pools.items() if pool in self._holding}
        if self._holding:
            self._sweeper = self._loop.call_later(IDLE_SECONDS / 2, self._sweep)

    def forget(self, tls: ClientTLS | None) -> None:
        """Close the connections that were made with this trust, those in use after their answer."""
        for pool in {*self._holding, *self._pools.values()}:
            if pool.destination.tls is tls:
                pool.close()
        self._pools = {known: pool for known, pool in self._pools.items() if known.tls is not tls}

    def close(self) -> None:
        """Close what is kept; keep nothing from now on."""
        self._closed = True
        if self._sweeper is not None:
            self._sweeper.cancel()
        for pool in (*self._holding, *self._pools.values()):
            pool.close()
        self._pools.clear()
        self._holding.clear()


def _written(
    method: str, target: bytes, headers: HeaderList | bytes, body: bytes | BodyReader, length: int | None
) -> tuple[bytes, BodyReader | None, bool]:
    """The request's bytes so far, what of its body follows, and whether that goes in chunks."""
    lines = headers if isinstance(headers, bytes) else b"".join(b"%b: %b\r\n" % header for header in headers)
    head = b"%b %b HTTP/1.1\r\n%b" % (method.encode("latin-1"), target, lines)
    if isinstance(body, bytes):
        if body or method in ("POST", "PUT", "PATCH"):
            return b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body), body), None, False
        return head + b"\r\n", None, False
    framing = b"Transfer-Encoding: chunked" if length is None else b"Content-Length: %d" % length
    return b"%b%b\r\n\r\n" % (head, framing), body, length is None
