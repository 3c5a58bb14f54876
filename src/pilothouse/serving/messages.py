"""Messages both ways over a WebSocket (RFC 6455), for what is not just a stream of events."""

from __future__ import annotations

import base64
import hashlib
import struct
from typing import Final

from pilothouse.serving.http import ClientGone, HeaderList, RawConnection, Request

TEXT: Final = 0x1
BINARY: Final = 0x2
_CONTINUED: Final = 0x0
_CLOSE: Final = 0x8
_PING: Final = 0x9
_PONG: Final = 0xA
NORMAL: Final = 1000
_PROTOCOL_ERROR: Final = 1002
_TOO_BIG: Final = 1009
_GUID: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_MOST: Final = 32 << 20  # bytes of one message


def accepted(request: Request, protocol: str) -> HeaderList:
    """The headers of the 101; `protocol` "" names none."""
    key = (request.header(b"sec-websocket-key") or "").encode()
    accept = base64.b64encode(hashlib.sha1(key + _GUID).digest())
    headers: HeaderList = [(b"Upgrade", b"websocket"), (b"Connection", b"Upgrade"), (b"Sec-WebSocket-Accept", accept)]
    if protocol:
        headers.append((b"Sec-WebSocket-Protocol", protocol.encode()))
    return headers


def frame(opcode: int, payload: bytes) -> bytes:
    """One unmasked, final frame."""
    size = len(payload)
    if size < 126:
        return bytes((0x80 | opcode, size)) + payload
    if size < 1 << 16:
        return struct.pack("!BBH", 0x80 | opcode, 126, size) + payload
    return struct.pack("!BBQ", 0x80 | opcode, 127, size) + payload


def unmasked(payload: bytes, mask: bytes) -> bytes:
    size = len(payload)
    if not size:
        return b""
    key = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "little") ^ int.from_bytes(key, "little")).to_bytes(size, "little")


class Messages:
    """The server's end. Pings are answered and the end is told by `receive`; one reader at a time."""

    def __init__(self, connection: RawConnection) -> None:
        self._connection = connection
        self._held = bytearray()
        self._parts: list[bytes] = []
        self._closed = False

    async def send(self, payload: bytes, opcode: int = BINARY) -> None:
        """Raises ClientGone."""
        await self._connection.send(frame(opcode, payload))

    async def close(self, code: int = NORMAL) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            await self._connection.send(frame(_CLOSE, struct.pack("!H", code)))
        except ClientGone:
            return
        finally:
            self._connection.end()

    async def receive(self) -> bytes | None:
        """The next message; None where the client closed, went away or does not keep to the rules."""
        while True:
            taken = self._take()
            if taken is None:
                data = await self._connection.receive()
                if not data:
                    return None
                self._held += data
                if len(self._held) > _MOST + 14:
                    await self.close(_TOO_BIG)
                    return None
                continue
            opcode, final, payload = taken
            if opcode == _PING:
                await self._connection.send(frame(_PONG, payload))
            elif opcode in (TEXT, BINARY, _CONTINUED):
                self._parts.append(payload)
                if final:
                    message = b"".join(self._parts)
                    self._parts.clear()
                    return message
            elif opcode != _PONG:
                await self.close(NORMAL if opcode == _CLOSE else _PROTOCOL_ERROR)
                return None

    def _take(self) -> tuple[int, bool, bytes] | None:
        """The next whole frame: its kind, whether it ends a message, what it holds."""
        held = self._held
        if len(held) < 2:
            return None
        size, start = held[1] & 0x7F, 2
        if size >= 126:
            width = 2 if size == 126 else 8
            if len(held) < start + width:
                return None
            size, start = int.from_bytes(held[start : start + width], "big"), start + width
        if not held[1] & 0x80 or size > _MOST:
            return -1, True, b""  # clients must mask
        if len(held) < start + 4 + size:
            return None
        mask = bytes(held[start : start + 4])
        payload = unmasked(bytes(held[start + 4 : start + 4 + size]), mask)
        opcode, final = held[0] & 0x0F, bool(held[0] & 0x80)
        del held[: start + 4 + size]
        return opcode, final, payload
