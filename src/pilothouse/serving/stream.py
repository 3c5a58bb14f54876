"""The far ends that handlers write to: of a streamed answer, and of a connection that was taken over by an upgrade."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from pilothouse.kit.waiter import OneWaiter
from pilothouse.serving.channel import Channel
from pilothouse.serving.http import ClientGone

Drain = Callable[[], Awaitable[None]]
_SHORT = 16384  # bytes; a longer chunk is not copied


class ChunkWriter:
    """StreamWriter: each write is one chunk, or bare bytes where the client knows no chunks (HTTP/1.0)."""

    __slots__ = ("_channel", "_chunked", "_closed", "_drain", "_over", "ended_by_server")

    def __init__(self, channel: Channel, chunked: bool, drain: Drain) -> None:
        self._channel = channel
        self._chunked = chunked
        self._drain = drain
        self._closed: asyncio.Future[None] | None = None
        self._over = False
        self.ended_by_server = False

    def write(self, data: bytes) -> None:
        if not data or self._over:  # an empty chunk would be the last one
            return
        size = len(data)
        if not self._chunked:
            self._channel.write_patiently(data)
        elif size < _SHORT:
            self._channel.write_patiently(b"%x\r\n%b\r\n" % (size, data))
        else:  # a copy would cost more than three pieces
            self._channel.write_patiently(b"%x\r\n" % size, data, b"\r\n")

    @property
    def buffered(self) -> int:
        return self._channel.buffered

    async def drain(self) -> None:
        await self._drain()

    async def closed(self) -> None:
        if self._over:
            return
        if self._closed is None:
            self._closed = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._closed)

    def end(self, by_server: bool) -> None:
        """The client is gone, or the server ends the stream: nothing is written from here on."""
        self._over = True
        self.ended_by_server = by_server
        if self._closed is not None and not self._closed.done():
            self._closed.set_result(None)


class RawPipe(OneWaiter):
    """RawConnection: the bare connection, both ways. `early` came behind the head of the upgrade request."""

    __slots__ = ("_channel", "_drain", "_ended", "_held", "_high", "_lost", "_pieces")

    def __init__(self, channel: Channel, drain: Drain, early: bytes, high: int) -> None:
        self._channel = channel
        self._drain = drain
        self._high = high
        self._pieces: deque[bytes] = deque((early,) if early else ())
        self._held = len(early)
        self._ended = False
        self._lost = False
        self._waiter = None

    # The connection's side.

    def feed(self, data: bytes) -> None:
        self._pieces.append(data)
        self._held += len(data)
        if self._held > self._high:
            self._channel.pause_reading()
        self._wake()

    def ended(self) -> None:
        self._ended = True
        self._wake()

    def lost(self) -> None:
        self._ended = self._lost = True
        self._wake()

    # The handler's side.

    @property
    def gone(self) -> bool:
        """Both halves are over, whoever ended them."""
        return self._lost

    async def receive(self) -> bytes:
        """The next bytes, b"" at the end of the client's half. One reader at a time."""
        while not self._pieces:
            if self._ended:
                return b""
            await self._woken()
        data = self._pieces.popleft()
        self._held -= len(data)
        if self._held <= self._high // 2 and not self._lost:
            self._channel.resume_reading()
        return data

    async def send(self, data: bytes) -> None:
        """Raises ClientGone."""
        if self._lost:
            raise ClientGone("the connection is gone")
        self._channel.write(data)
        await self._drain()

    def end(self) -> None:
        if not self._lost:
            self._channel.end()

    def close(self) -> None:
        """Close both halves once what was written is sent."""
        if not self._lost:
            self._channel.close()

    def abort(self) -> None:
        if not self._lost:
            self._channel.abort()
