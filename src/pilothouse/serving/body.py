"""Request bodies: absent, whole (it came with the head, as most do), or still on their way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from pilothouse.kit.waiter import OneWaiter
from pilothouse.serving.chunks import ChunkDecoder
from pilothouse.serving.http import BodyBroken, BodyReader, BodyTooLarge, Request

_SMALL: Final = 64 << 10  # bytes of a body that are taken in before the other server is bothered


class NoBody:
    """The body of a request that has none. One for all."""

    __slots__ = ()

    async def read(self, limit: int) -> bytes:
        return b""

    async def chunk(self) -> bytes:
        return b""


class WholeBody:
    """A body that came with the head."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        self._data = data

    async def read(self, limit: int) -> bytes:
        data, self._data = self._data, b""
        if len(data) > limit:
            raise BodyTooLarge(limit)
        return data

    async def chunk(self) -> bytes:
        data, self._data = self._data, b""
        return data


class ComingBody(OneWaiter):
    """A body that is received while it is read. `length` None: chunked.

    `on_first_read` is called once when somebody begins to read (100 Continue); `flow` with True when enough is held and
    the socket shall not be read any more, with False when it shall again.
    """

    __slots__ = (
        "_chunks",
        "_error",
        "_first",
        "_flow",
        "_held",
        "_high",
        "_left",
        "_pieces",
        "_stopped",
        "received",
        "rest",
    )

    def __init__(
        self,
        length: int | None,
        high: int,
        flow: Callable[[bool], None],
        on_first_read: Callable[[], None] | None,
    ) -> None:
        self._left = length
        self._chunks = ChunkDecoder() if length is None else None
        self._high = high
        self._flow = flow
        self._first = on_first_read
        self._pieces: deque[bytes] = deque()
        self._held = 0
        self._error: Exception | None = None
        self._stopped = False
        self._waiter = None
        self.received = False  # all of it is here
        self.rest = b""  # what came behind it

    # The connection's side.

    def feed(self, data: bytes) -> bool:
        """More bytes of the connection. True when the body is whole: what came behind it is in `rest`."""
        if self._error is not None:
            return False
        try:
            self._split(data)
        except BodyBroken as error:
            self.fail(error)
            return False
        self._wake()
        if self._held > self._high and not self._stopped and not self.received:
            self._stopped = True
            self._flow(True)
        return self.received

    def _split(self, data: bytes) -> None:
        if self._chunks is not None:
            for piece in self._chunks.feed(data):
                self._pieces.append(piece)
                self._held += len(piece)
            if self._chunks.done:
                self.received = True
                self.rest = self._chunks.rest
            return
        left = self._left or 0
        if len(data) > left:
            data, self.rest = data[:left], data[left:]
        if data:
            self._pieces.append(data)
            self._held += len(data)
        self._left = left - len(data)
        self.received = self._left == 0

    def fail(self, error: Exception) -> None:
        """No more will come."""
        if self._error is None and not self.received:
            self._error = error
        self._wake()

    def unread(self) -> int | None:
        """Bytes nobody took, as far as known; None where the end is not known or will not come."""
        if self._error is not None:
            return None
        if self._chunks is not None:
            return self._held if self.received else None
        return self._held + (self._left or 0)

    @property
    def failed(self) -> bool:
        return self._error is not None

    @property
    def awaits_permission(self) -> bool:
        """The client waits for 100 Continue, and nobody began to read."""
        return self._first is not None

    def drop(self) -> None:
        """Nobody will read this any more: let go of what is held and keep letting go."""
        self._pieces.clear()
        self._held = 0
        if self._stopped:
            self._stopped = False
            self._flow(False)

    # The reader's side.

    async def chunk(self) -> bytes:
        first, self._first = self._first, None
        if first is not None:
            first()
        while True:
            if self._pieces:
                piece = self._pieces.popleft()
                self._held -= len(piece)
                if self._stopped and self._held <= self._high // 2:
                    self._stopped = False
                    self._flow(False)
                return piece
            if self._error is not None:
                raise self._error
            if self.received:
                return b""
            await self._woken()

    async def read(self, limit: int) -> bytes:
        pieces: list[bytes] = []
        size = 0
        if self._left is not None and self._left + self._held > limit and self._first is not None:
            raise BodyTooLarge(limit)  # the client waits for our word, and shall not send this
        while piece := await self.chunk():
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise BodyTooLarge(limit)
        return b"".join(pieces)


NO_BODY = NoBody()


async def passed_on(request: Request) -> tuple[bytes | BodyReader, int | None]:
    """The body as another server gets it: a small one whole, a large one as it comes; and its length, if known."""
    body = request.body
    if body is NO_BODY:
        return b"", None
    declared = request.header(b"content-length")
    if declared is None:
        return body, None
    length = int(declared)
    return (await body.read(length), None) if length <= _SMALL else (body, length)
