"""SPDY/3.1 as a client needs it to speak to kubelets: streams with headers and data (SPDY protocol, draft 3.1).

Kubelets know no flow control, and nothing here looks into the headers of their replies.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from pilothouse.serving.http import RawConnection

_VERSION: Final = 3
_SYN_STREAM: Final = 1
_RST_STREAM: Final = 3
_PING: Final = 6
_GOAWAY: Final = 7
_FIN: Final = 0x01
_MOST: Final = 1 << 20  # bytes of one frame; kubelets send far less
_WORDS: Final = (
    "options", "head", "post", "put", "delete", "trace", "accept", "accept-charset", "accept-encoding",
    "accept-language", "accept-ranges", "age", "allow", "authorization", "cache-control", "connection",
    "content-base", "content-encoding", "content-language", "content-length", "content-location", "content-md5",
    "content-range", "content-type", "date", "etag", "expect", "expires", "from", "host", "if-match",
    "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "last-modified", "location",
    "max-forwards", "pragma", "proxy-authenticate", "proxy-authorization", "range", "referer", "retry-after",
    "server", "te", "trailer", "transfer-encoding", "upgrade", "user-agent", "vary", "via", "warning",
    "www-authenticate", "method", "get", "status", "200 OK", "version", "HTTP/1.1", "url", "public", "set-cookie",
    "keep-alive", "origin",
)  # fmt: skip
_REST: Final = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative "
    "Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 "
    "Internal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec "
    "00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,"
    "application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8"
    "charset=iso-8859-1,utf-,*,enq=0."
)


def _counted(text: str) -> bytes:
    return struct.pack("!I", len(text)) + text.encode()


DICTIONARY: Final = b"".join(map(_counted, _WORDS)) + _REST.encode()
"""What the compression of headers starts from; both ends must have the same."""

Hear = Callable[[int, bytes, bool], Awaitable[None]]  # (stream, data, whether it ends there)


class Broken(Exception):
    """The other end does not speak SPDY, or went away."""


class Session:
    """The client's end of one connection. `hear` is told of all data, and of streams that end."""

    def __init__(self, connection: RawConnection, hear: Hear) -> None:
        self._connection = connection
        self._hear = hear
        self._next = 1
        self._headers = zlib.compressobj(zdict=DICTIONARY)

    async def open(self, headers: Mapping[str, str]) -> int:
        """A new stream; its number."""
        number, self._next = self._next, self._next + 2
        block = struct.pack("!I", len(headers))
        block += b"".join(_counted(name.lower()) + _counted(value) for name, value in sorted(headers.items()))
        packed = self._headers.compress(block) + self._headers.flush(zlib.Z_SYNC_FLUSH)
        await self._control(_SYN_STREAM, struct.pack("!IIBB", number, 0, 0, 0) + packed)
        return number

    async def send(self, stream: int, data: bytes, *, end: bool = False) -> None:
        head = struct.pack("!II", stream, (_FIN if end else 0) << 24 | len(data))
        await self._connection.send(head + data)

    async def _control(self, kind: int, body: bytes) -> None:
        head = struct.pack("!HHI", 0x8000 | _VERSION, kind, len(body))
        await self._connection.send(head + body)

    async def listen(self) -> None:
        """Until the other end is done. Raises Broken."""
        held = bytearray()
        while data := await self._connection.receive():
            held += data
            while len(held) >= 8:
                first, second = struct.unpack_from("!II", held)
                size = second & 0xFFFFFF
                if size > _MOST:
                    raise Broken(f"a frame of {size} bytes")
                if len(held) < 8 + size:
                    break
                body = bytes(held[8 : 8 + size])
                del held[: 8 + size]
                if not await self._frame(first, second >> 24, body):
                    return

    async def _frame(self, first: int, flags: int, body: bytes) -> bool:
        """Handle one frame; False where the other end says goodbye."""
        if not first & 0x80000000:
            await self._hear(first, body, bool(flags & _FIN))
            return True
        kind = first & 0xFFFF
        if kind == _PING and len(body) == 4 and not struct.unpack("!I", body)[0] % 2:
            await self._control(_PING, body)
        elif (kind == _RST_STREAM or flags & _FIN) and len(body) >= 4:  # a reply may be all there is
            await self._hear(struct.unpack_from("!I", body)[0] & 0x7FFFFFFF, b"", True)
        return kind != _GOAWAY
