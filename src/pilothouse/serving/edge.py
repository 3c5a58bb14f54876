"""The server: listening sockets, the connections they give, and an end in good order.

edge = Edge(handler, bind("127.0.0.1", 6443), context=lambda: ssl_context)
await edge.start()
...
await edge.drain(grace=60)
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import time
from collections.abc import Callable, Sequence

from pilothouse.serving.channel import Channel, TLSChannel
from pilothouse.serving.connection import BUSY, UPGRADED, Connection, Shared
from pilothouse.serving.eager import EagerRunner
from pilothouse.serving.flusher import Flusher
from pilothouse.serving.http import Handler
from pilothouse.serving.limits import Limits
from pilothouse.serving.reply import ReplyWriter

log = logging.getLogger("pilothouse.serving")

_BACKLOG = 1024
_KEEPALIVE_SECONDS = 15  # as the original: a client that vanished is noticed, though nothing is sent to it
_KEPT_TASKS = 64  # that wait for the next requests which have to wait
_LAST_SECONDS = 2.0  # for the bytes that are still on their way when all requests are done


def bind(host: str, port: int) -> list[socket.socket]:
    """Listening sockets of all addresses of `host` ("" and "::": every interface; port 0: any free one).

    Connections wait in them until an `Edge` is started on them. Raises OSError.
    """
    found = socket.getaddrinfo(host or "::", port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    try:
        for family, kind, protocol, _, address in dict.fromkeys(found):
            listener = socket.socket(family, kind, protocol)
            sockets.append(listener)
            _prepare(listener, every_interface=address[0] == "::")
            if port == 0 and len(sockets) > 1:  # one port for all addresses
                address = (address[0], sockets[0].getsockname()[1], *address[2:])
            listener.bind(address)
            listener.listen(_BACKLOG)
    except OSError:
        for listener in sockets:
            listener.close()
        raise
    return sockets


def _prepare(listener: socket.socket, every_interface: bool) -> None:
    listener.setblocking(False)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if listener.family == socket.AF_INET6:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0 if every_interface else 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # accepted sockets inherit these
    for name in ("TCP_KEEPIDLE", "TCP_KEEPINTVL"):
        if hasattr(socket, name):
            listener.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), _KEEPALIVE_SECONDS)


class Edge:
    """An HTTP/1 server on listening sockets; over TLS when `context` is given, which is asked for each connection."""

    def __init__(
        self,
        handler: Handler,
        sockets: Sequence[socket.socket],
        *,
        context: Callable[[], ssl.SSLContext] | None = None,
        limits: Limits | None = None,
        wall: Callable[[], float] = time.time,
        broken: Callable[[], None] | None = None,
    ) -> None:
        """`broken`: told of connections that end before their handshake is done."""
        self._broken = broken
        self._handler = handler
        self._sockets = list(sockets)
        self._context = context
        self._limits = limits or Limits()
        self._wall = wall
        self._servers: list[asyncio.Server] = []
        self._shared: Shared | None = None
        self._changed = asyncio.Event()

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """Where it listens."""
        return [listener.getsockname()[:2] for listener in self._sockets]

    @property
    def port(self) -> int:
        return self.addresses[0][1]

    @property
    def connections(self) -> int:
        """How many connections there are."""
        return len(self._shared.connections) if self._shared else 0

    async def start(self) -> None:
        """Begin to answer."""
        loop = asyncio.get_running_loop()
        shared = self._shared = Shared(
            self._handler, self._limits, loop, EagerRunner(loop, _KEPT_TASKS), ReplyWriter(self._wall), on_change=None
        )
        context, flusher, broken = self._context, Flusher(loop), self._broken

        def accept() -> asyncio.Protocol:
            connection = Connection(shared)
            if context is None:
                return Channel(connection, flusher)
            return TLSChannel(connection, flusher, context, broken)

        for listener in self._sockets:
            self._servers.append(await loop.create_server(accept, sock=listener, backlog=_BACKLOG))

    def stop_accepting(self) -> None:
        """Close the listening sockets; answers say `Connection: close` from now on, idle connections are closed."""
        for server in self._servers:
            server.close()
        for listener in self._sockets:
            listener.close()
        if self._shared is not None:
            self._shared.draining = True
            for connection in list(self._shared.connections):
                connection.drain_begins()

    def end_streams(self) -> None:
        """End all streamed answers in good order."""
        for connection in list(self._shared.connections) if self._shared else ():
            connection.end_stream()

    async def drain(self, grace: float, stream_grace: float = 0.0) -> None:
        """Stop in good order: running requests get `grace` seconds, streams `stream_grace`; then all is cut off.

        May be called again, or cancelled, to be quicker.
        """
        self.stop_accepting()
        if self._shared is None:
            return
        if stream_grace > 0:
            await self._until(lambda connection: connection.state == BUSY, stream_grace)
        self.end_streams()
        await self._until(lambda connection: connection.is_busy, grace - stream_grace)
        self.end_streams()  # some may have begun meanwhile
        await self._until(lambda connection: connection.state != UPGRADED and not connection.is_busy, _LAST_SECONDS)
        self.abort()
        self._shared.runner.close()

    async def _until(self, is_waited_for: Callable[[Connection], bool], seconds: float) -> None:
        """Wait until no connection `is_waited_for` is left, or the time is over."""
        shared = self._shared
        assert shared is not None
        shared.on_change = self._changed.set
        deadline = shared.loop.time() + seconds
        while any(is_waited_for(connection) for connection in shared.connections):
            left = deadline - shared.loop.time()
            if left <= 0:
                return
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), left)
            except TimeoutError:
                return

    def abort(self) -> None:
        """Cut everything off at once."""
        for server in self._servers:
            server.close()
        for connection in list(self._shared.connections) if self._shared else ():
            connection.abort()
