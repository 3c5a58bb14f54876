"""Watches over WebSocket (RFC 6455): one message an event. The handshake's refusals are the original's."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable, Iterator
from typing import Final
from urllib.parse import urlsplit

from pilothouse.machinery.errors import APIError
from pilothouse.serving.http import ClientGone, RawConnection, Request, Response, StreamWriter, Upgrade
from pilothouse.serving.messages import accepted, frame

_TEXT: Final = 0x1
_BINARY: Final = 0x2
_CLOSE: Final = 0x8
_PING: Final = 0x9
_PONG: Final = 0xA
_NORMAL: Final = 1000
_PROTOCOL_ERROR: Final = 1002
_MAX_CLIENT_FRAME: Final = 1 << 20
_HIGH_WATER: Final = 256 * 1024
TOKEN_PROTOCOL: Final = "base64url.bearer.authorization.k8s.io."


def is_websocket(request: Request) -> bool:
    upgrade_header = (request.header(b"upgrade") or "").lower()
    return upgrade_header == "websocket" and "upgrade" in (request.header(b"connection") or "").lower()


def upgrade(request: Request, run: Callable[[StreamWriter], Awaitable[None]], *, binary: bool) -> Upgrade | Response:
    """The 101 (or the refusal) and the stream that follows it. Raises BadRequest for a broken handshake."""
    origin = urlsplit(request.header(b"origin") or "")
    if not origin.scheme or not origin.netloc:
        return Response(403, [], b"")
    key = request.header(b"sec-websocket-key")
    if not key or request.header(b"sec-websocket-version") != "13":
        raise APIError(400, "BadRequest", "missing or bad WebSocket-Version")
    offered = [name.strip() for name in (request.header(b"sec-websocket-protocol") or "").split(",") if name.strip()]
    protocols = [name for name in offered if not name.startswith(TOKEN_PROTOCOL)]
    if len(protocols) > 1:
        raise APIError(400, "BadRequest", "only one subprotocol is accepted")
    headers = accepted(request, protocols[0] if protocols else "")

    async def talk(connection: RawConnection) -> None:
        await _Session(connection, run, _BINARY if binary else _TEXT).serve()

    return Upgrade(101, headers, talk)


def _parted(data: bytes) -> Iterator[bytes]:
    """Events that are no text, each of which has its length of four bytes before it."""
    at = 0
    while at < len(data):
        start = at + 4
        at = start + int.from_bytes(data[at:start], "big")
        yield data[start:at]


class _Session:
    """A StreamWriter whose writes become messages, beside a reader that minds pings and the close."""

    def __init__(self, connection: RawConnection, run: Callable[[StreamWriter], Awaitable[None]], opcode: int) -> None:
        self._connection = connection
        self._run = run
        self._opcode = opcode
        self._queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._waiting = 0
        self._taken = asyncio.Event()
        self._closed = asyncio.Event()

    def write(self, data: bytes) -> None:
        """Each event is a message; events of one batch come joined and are parted again."""
        messages = data.splitlines(keepends=True) if self._opcode == _TEXT else _parted(data)
        for message in messages:
            self._waiting += len(message)
            self._queue.put_nowait(frame(self._opcode, message))

    @property
    def buffered(self) -> int:
        return self._waiting

    async def drain(self) -> None:
        while self._waiting > _HIGH_WATER:
            if self._closed.is_set():
                raise ClientGone
            self._taken.clear()
            await self._taken.wait()

    async def closed(self) -> None:
        await self._closed.wait()

    async def serve(self) -> None:
        sender = asyncio.ensure_future(self._send())
        reader = asyncio.ensure_future(self._read())
        try:
            await self._run(self)
            while not self._queue.empty() and not self._closed.is_set():
                self._taken.clear()
                await self._taken.wait()
            if not self._closed.is_set():
                await self._connection.send(frame(_CLOSE, struct.pack("!H", _NORMAL)))
        finally:
            sender.cancel()
            reader.cancel()
            self._connection.end()

    async def _send(self) -> None:
        try:
            while True:
                data = await self._queue.get()
                await self._connection.send(data)
                self._waiting = max(0, self._waiting - len(data))
                self._taken.set()
        except (ClientGone, ConnectionError):
            self._gone()

    def _gone(self) -> None:
        self._closed.set()
        self._taken.set()

    async def _read(self) -> None:
        """What the client says is ignored, but for pings and the end; an unmasked frame is an error."""
        held = b""
        try:
            while True:
                data = await self._connection.receive()
                if not data:
                    break
                held += data
                while (taken := await self._one(held)) > 0:
                    held = held[taken:]
                if taken < 0 or len(held) > _MAX_CLIENT_FRAME:
                    break
        except (ClientGone, ConnectionError):
            pass  # the same as an end: noted below
        self._gone()

    async def _one(self, held: bytes) -> int:
        """Handle one client frame; its length, 0 where it is not whole yet, -1 where the connection shall end."""
        if len(held) < 2:
            return 0
        opcode, size = held[0] & 0x0F, held[1] & 0x7F
        if not held[1] & 0x80:
            await self._connection.send(frame(_CLOSE, struct.pack("!H", _PROTOCOL_ERROR)))
            return -1
        start = 2
        if size >= 126:
            width = 2 if size == 126 else 8
            if len(held) < start + width:
                return 0
            size = int.from_bytes(held[start : start + width], "big")
            start += width
        if len(held) < start + 4 + size:
            return 0 if size <= _MAX_CLIENT_FRAME else -1
        mask = held[start : start + 4]
        payload = bytes(
            byte ^ mask[index % 4] for index, byte in enumerate(held[start + 4 : start + 4 + min(size, 125)])
        )
        if opcode == _PING:
            await self._connection.send(frame(_PONG, payload))
        if opcode == _CLOSE:
            await self._connection.send(frame(_CLOSE, payload[:2]))
            return -1
        return start + 4 + size
