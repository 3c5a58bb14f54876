"""Passing requests on to the server that an API service names, and its answers back, without holding either.

What a request needs to know is one frozen `Backend`, which is swapped whole: no request sees half of a change.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from pilothouse.aggregator.apiservice import APIService, ServiceReference
from pilothouse.aggregator.identity import Rewriter, returned
from pilothouse.aggregator.services import Resolver, Unresolved
from pilothouse.endpoints.requestinfo import RequestInfo
from pilothouse.kit.record import record
from pilothouse.registry.request import Caller
from pilothouse.serving.body import NO_BODY, passed_on
from pilothouse.serving.client import Answered, CallFailed, Client, Destination, Pool
from pilothouse.serving.dialing import ClientTLS, DialFailed
from pilothouse.serving.http import (
    Answer,
    ClientGone,
    HeaderList,
    Request,
    Response,
    Stream,
    StreamWriter,
    Upgrade,
)
from pilothouse.serving.tunnel import tunnel

DISCOVERY_SECONDS: Final = 5.0  # for the documents of a group version
_WHOLE: Final = 128 << 10  # bytes of an answer that are waited for and sent at once
_HELD: Final = 128 << 10  # bytes that wait for a slow client before the backend has to wait
_TEXT: Final = ((b"Content-Type", b"text/plain; charset=utf-8"), (b"X-Content-Type-Options", b"nosniff"))
_REDIRECTED: Final = b"the backend attempted to redirect this request, which is not permitted"
_TIMEOUT: Final = (
    b'{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout",'
    b'"reason":"Timeout","details":{},"code":504}\n'
)


@record
class Backend:
    """How to reach one API service's server, and whether it is there."""

    service: APIService
    reference: ServiceReference
    tls: ClientTLS


@record
class Shared:
    """What the proxying of all API services has in common.

    `limit`: seconds for a request that is not long-running, 0 for none. `suspect` is told the name of an API service
    whose server could not be reached.
    """

    client: Client
    resolver: Resolver
    limit: float
    suspect: Callable[[str], None]
    rewrite: Rewriter


class Route:
    """Handles the requests for one backend."""

    __slots__ = ("_address", "_authority", "_available", "_pool", "_shared", "backend")

    def __init__(self, shared: Shared, backend: Backend) -> None:
        self._shared = shared
        self._available = backend.service.available
        self._address: tuple[str, int] | None = None  # as the resolver remembers it
        self._pool: Pool | None = None  # the way there
        self._authority = b""
        self.backend = backend

    def __call__(self, request: Request) -> Awaitable[Answer]:
        info = request.attached(RequestInfo)
        if info.is_resource and self._available:
            return self._pass_on(request, info.long_running)
        return self._document(request)

    async def _document(self, request: Request) -> Answer:
        """What the backend says of itself, within a short time."""
        if not self._available:
            return _text(503, b"service unavailable\n")
        try:
            async with asyncio.timeout(DISCOVERY_SECONDS):
                return await self._pass_on(request, False)
        except TimeoutError:
            return Response(504, [_TEXT[0]], _TIMEOUT)

    async def _way(self) -> Pool:
        """The way to the backend. Raises Unresolved."""
        shared, backend = self._shared, self.backend
        address = await shared.resolver.address(backend.reference)
        destination = Destination(*address, backend.tls)
        self._address, self._authority = address, destination.authority.encode()
        self._pool = shared.client.pool(destination)
        return self._pool

    async def _pass_on(self, request: Request, long_running: bool) -> Answer:
        shared, pool, began = self._shared, self._pool, time.monotonic()
        if pool is None or shared.resolver.known(self.backend.reference) is not self._address:
            try:
                pool = await self._way()
            except Unresolved:
                return _text(503, b"service unavailable\n")
        caller, raw_path = request.attached(Caller), request.raw_path
        passed = shared.rewrite(tuple(request.headers), request.origin.peer[0], caller, self._authority)
        lines = b"%bX-Forwarded-Uri: %b\r\n" % (passed.lines, raw_path)
        target = raw_path + b"?" + request.query.encode("latin-1") if request.query else raw_path
        try:
            body, length = (b"", None) if request.body is NO_BODY else await passed_on(request)
            answered = await pool.call(request.method, target, lines, body, length)
            until = began + shared.limit if shared.limit and not long_running else None
            return _short(answered, request) or await _answer(answered, request, until, long_running)
        except (DialFailed, CallFailed) as error:
            shared.suspect(self.backend.service.name)
            return _text(503, f"error trying to reach service: {error}\n".encode())


def _short(answered: Answered, request: Request) -> Response | None:
    """The usual answer: all of it is here, and nothing about it is special."""
    status = answered.status
    if status < 200 or 300 <= status < 400 or request.method == "HEAD":
        return None
    body = answered.at_once()
    return None if body is None else Response(status, returned(answered.headers), body)


async def _answer(answered: Answered, request: Request, until: float | None, long_running: bool) -> Answer:
    """Raises CallFailed."""
    status = answered.status
    raw = answered.raw
    if raw is not None:
        kept = [(name, value) for name, value in answered.headers if name not in (b"Date", b"Transfer-Encoding")]
        return Upgrade(status, kept, lambda front: tunnel(front, raw))
    if 300 <= status < 400:
        answered.close()
        return _text(502, _REDIRECTED)
    headers = returned(answered.headers)
    length = answered.length
    if request.method == "HEAD":
        headers += [(b"Content-Length", value) for name, value in answered.headers if name == b"Content-Length"]
        return Response(status, headers)
    if answered.whole or (length is not None and length <= _WHOLE and not long_running):
        try:
            return Response(status, headers, await answered.read(_WHOLE if length else 1 << 30))
        except BaseException:
            answered.close()
            raise
    if length is not None:
        headers.append((b"Content-Length", b"%d" % length))
    return Stream(status, headers, _Copy(answered, until))


class _Copy:
    """The rest of an answer on its way to the client. It ends by `until` (monotonic seconds)."""

    __slots__ = ("_answered", "_until")

    def __init__(self, answered: Answered, until: float | None) -> None:
        self._answered = answered
        self._until = until

    async def __call__(self, writer: StreamWriter) -> None:
        try:
            if self._until is None:
                await self._copy(writer)
            else:
                async with asyncio.timeout(max(0.0, self._until - time.monotonic())):
                    await self._copy(writer)
        except (CallFailed, TimeoutError) as error:
            raise ClientGone(str(error)) from error  # half an answer shall not be taken for a whole one
        finally:
            self._answered.close()

    async def _copy(self, writer: StreamWriter) -> None:
        chunk = self._answered.chunk
        while data := await chunk():
            writer.write(data)
            if writer.buffered > _HELD:
                await writer.drain()


def _text(status: int, body: bytes) -> Response:
    headers: HeaderList = list(_TEXT)
    return Response(status, headers, body)
