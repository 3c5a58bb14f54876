"""Request, Response, Stream and Upgrade: what filters and handlers are written against, whichever edge reads sockets.

Nothing here knows the Kubernetes API. `Handler` and `Filter` are the two types the whole server is composed of.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Protocol, TypeVar
from urllib.parse import unquote_to_bytes

from pilothouse.kit.record import record

T = TypeVar("T")
HeaderList = list[tuple[bytes, bytes]]  # names in lower case on requests, as they shall appear on responses


class BodyTooLarge(Exception):
    """The body is longer than the limit it was read with."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"body over {limit} bytes")
        self.limit = limit


class ClientGone(Exception):
    """The client closed the connection before the request was whole."""


class BodyBroken(Exception):
    """The body's chunks are not chunks. The text is what the original says (`invalid byte in chunk length`)."""


class BodyReader(Protocol):
    async def read(self, limit: int) -> bytes:
        """The whole body. Raises BodyTooLarge, BodyBroken, ClientGone."""
        ...

    async def chunk(self) -> bytes:
        """The next piece, b"" at the end: for what is passed on without being kept. Raises BodyBroken, ClientGone."""
        ...


@record
class Origin:
    """Where requests come from: the same for all of a connection. `certificate`: DER, not verified by the edge."""

    peer: tuple[str, int] = ("", 0)
    scheme: str = "https"
    certificate: bytes | None = None


_UNKNOWN: Final = Origin()


class Request:
    """One HTTP request. What filters learn of it (user, request info, deadline) is attached to it by type."""

    __slots__ = (
        "_attached",
        "_path",
        "body",
        "headers",
        "method",
        "origin",
        "query",
        "raw_path",
        "version",
    )

    def __init__(
        self,
        method: str,
        raw_path: bytes,
        query: str,
        headers: HeaderList,
        body: BodyReader,
        *,
        origin: Origin = _UNKNOWN,
        version: str = "1.1",
    ) -> None:
        self.method = method
        self.raw_path = raw_path  # as sent, without the query
        self.query = query  # as sent, without "?"
        self.headers = headers
        self.body = body
        self.origin = origin
        self.version = version
        self._path: str | None = None
        self._attached: dict[type[Any], Any] = {}

    @property
    def path(self) -> str:
        """The path with %-escapes decoded."""
        if self._path is None:
            raw = self.raw_path
            self._path = (unquote_to_bytes(raw) if b"%" in raw else raw).decode("utf-8", "replace")
        return self._path

    def header(self, name: bytes) -> str | None:
        """The first value of a header (`name` in lower case)."""
        for key, value in self.headers:
            if key == name:
                return value.decode("latin-1")
        return None

    def attach(self, value: object) -> None:
        self._attached[type(value)] = value

    def attached(self, kind: type[T]) -> T:
        """What was attached of this type. Raises KeyError where no filter did."""
        found: T = self._attached[kind]
        return found

    def maybe(self, kind: type[T]) -> T | None:
        found: T | None = self._attached.get(kind)
        return found


class Response:
    """A whole answer. `body` may be several pieces, which are sent one after the other without being joined."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: HeaderList, body: bytes | Sequence[bytes] = b"") -> None:
        self.status = status
        self.headers = headers
        self.body = body


class StreamWriter(Protocol):
    """The far end of a streamed answer. `write` never blocks; a caller that minds memory looks at `buffered`."""

    def write(self, data: bytes) -> None: ...

    @property
    def buffered(self) -> int:
        """Bytes written and not yet taken by the socket."""
        ...

    async def drain(self) -> None:
        """Wait until the socket took most of what was written. Raises ClientGone."""
        ...

    async def closed(self) -> None:
        """Wait until the client is gone (or the server ends the stream)."""
        ...


class Stream:
    """An answer without a known length: chunked, each write one chunk or more; it ends when `run` returns."""

    __slots__ = ("headers", "run", "status")

    def __init__(self, status: int, headers: HeaderList, run: Callable[[StreamWriter], Awaitable[None]]) -> None:
        self.status = status
        self.headers = headers
        self.run = run


class RawConnection(Protocol):
    """The bare connection after an upgrade, both ways, with the bytes that came early."""

    @property
    def gone(self) -> bool:
        """Both halves are over, whoever ended them."""
        ...

    async def receive(self) -> bytes:
        """The next bytes, b"" at the end of the client's half."""
        ...

    async def send(self, data: bytes) -> None: ...

    def end(self) -> None:
        """Close our half where the transport can."""
        ...

    def abort(self) -> None: ...


class Upgrade:
    """Switch protocols: the head is sent as it is (status 101 or another), then `run` owns the connection."""

    __slots__ = ("headers", "run", "status")

    def __init__(self, status: int, headers: HeaderList, run: Callable[[RawConnection], Awaitable[None]]) -> None:
        self.status = status
        self.headers = headers
        self.run = run


Answer = Response | Stream | Upgrade
Handler = Callable[[Request], Awaitable[Answer]]
Filter = Callable[[Handler], Handler]
