"""Byte pipes between the transport and HTTP: one plain, one that speaks TLS. Both are the transport's protocol.

TLS is done here over memory BIOs and not by the loop: a request then costs a third less CPU (docs/designs/edge.md),
plain HTTP on the TLS port can be answered, alerts reach the client, and one half can be closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from typing import Any, Protocol, cast

from pilothouse.serving.flusher import Flusher
from pilothouse.serving.segments import Piece, slices

RECORD = 16384  # bytes; a TLS record holds no more, and the BIOs never have to grow beyond one
_HELD = 65536  # bytes that are held until the end of a turn; more is sent at once
_LOOKS_LIKE_HTTP = (b"GET /", b"HEAD ", b"POST ", b"PUT /", b"OPTIO", b"PATCH", b"DELET")
_NOT_HTTPS = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"


class User(Protocol):
    """What a channel tells whoever uses it."""

    def attached(self, channel: Channel) -> None: ...
    def ready(self) -> None:
        """Data may come from now on (TLS: the handshake is done)."""
        ...

    def feed(self, data: bytes) -> None: ...
    def ended(self) -> None:
        """The far end will send nothing more."""
        ...

    def lost(self) -> None:
        """The connection is gone. Called exactly once."""
        ...

    def writable(self, yes: bool) -> None: ...


class Channel(asyncio.Protocol):
    """The plain pipe."""

    __slots__ = ("_flusher", "_held", "_held_size", "_over", "_transport", "_user", "paused")
    scheme = "http"

    def __init__(self, user: User, flusher: Flusher) -> None:
        self._user = user
        self._flusher = flusher
        self._held: list[Piece] = []
        self._held_size = 0
        self._over = False  # our half is closed: nothing more is sent
        self._transport: asyncio.Transport = cast("asyncio.Transport", None)
        self.paused = False

    # What the transport tells us.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._user.attached(self)
        self._user.ready()

    def data_received(self, data: bytes) -> None:
        self._user.feed(data)

    def eof_received(self) -> bool:
        self._user.ended()
        return True  # the user decides when our half is closed

    def connection_lost(self, exc: Exception | None) -> None:
        self._user.lost()

    def pause_writing(self) -> None:
        self._user.writable(False)

    def resume_writing(self) -> None:
        self._user.writable(True)

    # What the user asks for.

    def write(self, data: Piece, *more: Piece) -> None:
        """Send `data` and what follows it, at the latest at the end of this turn of the loop.

        Ignored once our half is closed.
        """
        if self._over:
            return
        if not self._held:
            self._flusher.add(self)
        self._hold(data, more)

    def write_patiently(self, data: Piece, *more: Piece) -> None:
        """As `write`, for a part of a stream: answers to others go first."""
        if self._over:
            return
        if not self._held:
            self._flusher.add_patient(self)
        self._hold(data, more)

    def _hold(self, data: Piece, more: tuple[Piece, ...]) -> None:
        self._held.append(data)
        self._held_size += len(data)
        if more:
            self._held += more
            self._held_size += sum(map(len, more))
        if self._held_size > _HELD:
            self.flush()

    def flush(self) -> None:
        """Send what is held, now."""
        held, size = self._held, self._held_size
        if held:
            self._held, self._held_size = [], 0
            if not self._transport.is_closing():
                self._put(held, size)

    def _put(self, pieces: list[Piece], size: int) -> None:
        self._transport.writelines(pieces)

    @property
    def buffered(self) -> int:
        """Bytes written and not yet taken by the socket."""
        return self._held_size + self._transport.get_write_buffer_size()

    @property
    def peer(self) -> tuple[str, int]:
        name: Any = self._transport.get_extra_info("peername")
        return (name[0], name[1]) if isinstance(name, tuple) else ("", 0)

    def client_certificate(self) -> bytes | None:
        """DER of the certificate the client showed."""
        return None

    def limit_writes(self, high: int, low: int) -> None:
        self._transport.set_write_buffer_limits(high=high, low=low)

    def pause_reading(self) -> None:
        if not self.paused:
            self.paused = True
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if self.paused:
            self.paused = False
            self._transport.resume_reading()

    def end(self) -> None:
        """Close our half; what the far end sends still comes in."""
        if self._over:
            return
        self.flush()
        self._over = True
        if not self._transport.is_closing():
            self._say_goodbye()
            if self._transport.can_write_eof():
                self._transport.write_eof()

    def close(self) -> None:
        """Close both halves once what was written is sent."""
        self.flush()
        if not self._transport.is_closing():
            if not self._over:
                self._say_goodbye()
            self._transport.close()
        self._over = True

    def abort(self) -> None:
        """Close at once."""
        self._over = True
        self._held.clear()
        self._transport.abort()

    def _say_goodbye(self) -> None:
        """What the protocol on top of the transport wants said before its end."""


class TLSChannel(Channel):
    """The pipe that speaks TLS, as a server. `context` is asked for each new connection; `broken` is told of one that
    ends before its handshake is done.
    """

    __slots__ = ("_broken", "_context", "_failed", "_incoming", "_outgoing", "_ready", "_session", "_told_end")
    scheme = "https"

    def __init__(
        self,
        user: User,
        flusher: Flusher,
        context: Callable[[], ssl.SSLContext],
        broken: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(user, flusher)
        self._broken = broken
        self._context = context
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._session: ssl.SSLObject = cast("ssl.SSLObject", None)
        self._ready = False
        self._failed = False
        self._told_end = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._session = self._context().wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._user.attached(self)

    def data_received(self, data: bytes) -> None:
        if len(data) > RECORD:
            for start in range(0, len(data), RECORD):
                self.data_received(data[start : start + RECORD])
            return
        if self._failed:
            return
        incoming = self._incoming
        incoming.write(data)
        if not self._ready and not self._handshake(data):
            return
        try:
            while incoming.pending:
                plain = self._session.read(RECORD)
                if not plain:
                    self._end_of_input()
                    break
                self._user.feed(plain)
        except ssl.SSLWantReadError:
            pass  # the rest of a record is on its way
        except ssl.SSLError:
            self._fail()
            return
        if self._outgoing.pending:  # the answer to a key update
            self._pass_on()

    def _handshake(self, data: bytes) -> bool:
        try:
            self._session.do_handshake()
        except ssl.SSLWantReadError:
            self._pass_on()
            return False
        except ssl.SSLError:
            if data.startswith(_LOOKS_LIKE_HTTP):
                self._transport.write(_NOT_HTTPS)
                self._outgoing.read()
            self._fail()
            return False
        self._pass_on()
        self._ready = True
        self._user.ready()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._ready and self._broken is not None:
            self._broken()
        super().connection_lost(exc)

    def _fail(self) -> None:
        """The far end does not speak TLS as it should: send the alert, and be done."""
        self._failed = True
        self._pass_on()
        self._transport.close()

    def _pass_on(self) -> None:
        if self._outgoing.pending:
            self._transport.write(self._outgoing.read())

    def _end_of_input(self) -> None:
        if not self._told_end:
            self._told_end = True
            self._user.ended()

    def eof_received(self) -> bool:
        if not self._ready or self._failed:
            return False
        self._end_of_input()
        return True

    def _put(self, pieces: list[Piece], size: int) -> None:
        seal, take = self._session.write, self._outgoing.read
        if size <= RECORD:
            seal(pieces[0] if len(pieces) == 1 else b"".join(pieces))
            self._transport.write(take())
            return
        sealed = []
        for part in slices(pieces, RECORD):
            seal(part)
            sealed.append(take())
        self._transport.writelines(sealed)  # in one system call

    def client_certificate(self) -> bytes | None:
        return self._session.getpeercert(binary_form=True)

    def _say_goodbye(self) -> None:
        if self._ready and not self._failed:
            with contextlib.suppress(ssl.SSLError):  # the far end has not said goodbye, and need not
                self._session.unwrap()
            self._pass_on()
