"""The near ends of streams inside this process: a long list is collected, a watch is read in batches.

The server's side never waits; what is not read yet is counted, and it ends a watch that lags too far.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Final, NamedTuple

import orjson

from pilothouse.kit.waiter import OneWaiter
from pilothouse.serving.http import ClientGone, Stream

Object = dict[str, Any]
Later = Callable[[Callable[[], None]], object]
_HIGH: Final = 256 * 1024  # bytes that may wait before a writer that asks is held up


class Event(NamedTuple):
    """One change: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, and the object (a Status for ERROR)."""

    type: str
    object: Object


class Collector:
    """StreamWriter that keeps all that is written."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.pieces.append(data)

    @property
    def buffered(self) -> int:
        return 0

    async def drain(self) -> None:
        return

    async def closed(self) -> None:
        await asyncio.get_running_loop().create_future()


class _Pipe(OneWaiter):
    """StreamWriter of a watch, and what its reader has not taken yet."""

    __slots__ = ("_closed", "_emptied", "_held", "_later", "_pieces", "_planned", "_room", "over")

    def __init__(self, later: Later | None) -> None:
        loop = asyncio.get_running_loop()
        self._later = later
        self._planned = False
        self._pieces: list[bytes] = []
        self._held = 0
        self._waiter = None
        self._room: asyncio.Future[None] | None = None
        self._emptied: list[asyncio.Future[None]] = []
        self._closed: asyncio.Future[None] = loop.create_future()
        self.over = False  # the server wrote its last

    # The server's side

    def write(self, data: bytes) -> None:
        if self._closed.done():
            return
        self._pieces.append(data)
        self._held += len(data)
        if self._later is None:
            self._wake()
        elif not self._planned:
            self._planned = True
            self._later(self._wake)

    @property
    def buffered(self) -> int:
        return self._held

    async def drain(self) -> None:
        while self._held > _HIGH and not self._closed.done():
            if self._room is None or self._room.done():
                self._room = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._room)
        if self._closed.done():
            raise ClientGone("the reader is gone")

    async def closed(self) -> None:
        await asyncio.shield(self._closed)

    # The reader's side

    def finish(self) -> None:
        self.over = True
        self._wake()

    def close(self) -> None:
        if not self._closed.done():
            self._closed.set_result(None)
        self._make_room()
        self._tell_emptied()

    async def emptied(self) -> None:
        """Until the reader has dealt with everything that is written by now, or is gone."""
        if self._closed.done() or (self._waiter is not None and not self._pieces):
            return
        emptied: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._emptied.append(emptied)
        self._wake()
        await emptied

    def _tell_emptied(self) -> None:
        told, self._emptied = self._emptied, []
        for one in told:
            if not one.done():
                one.set_result(None)

    async def take(self) -> bytes:
        """What was written since; b"" at the end."""
        while not self._pieces:
            self._tell_emptied()
            if self.over:
                return b""
            await self._woken()
        data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._held = 0
        self._make_room()
        return data

    def _make_room(self) -> None:
        if self._room is not None and not self._room.done():
            self._room.set_result(None)

    def _wake(self) -> None:
        self._planned = False
        super()._wake()


class Watch:
    """A running watch. Iterate `batches()`, and `close()` it in any case.

    `later` calls what it is given after a while; events are gathered until then, which is cheaper when there are many.
    """

    def __init__(self, stream: Stream, later: Later | None = None) -> None:
        self._pipe = _Pipe(later)
        self._task = asyncio.get_running_loop().create_task(self._run(stream), name="loopback watch")

    async def _run(self, stream: Stream) -> None:
        try:
            await stream.run(self._pipe)
        except ClientGone:
            return  # that is us
        finally:
            self._pipe.finish()

    async def batches(self) -> AsyncIterator[list[Event]]:
        """Events, those that came together, until the server ends the watch. Raises what broke the stream."""
        rest = b""
        while data := await self._pipe.take():
            *lines, rest = (rest + data).split(b"\n") if rest else data.split(b"\n")
            events = [_event(line) for line in lines if line]
            if events:
                yield events
        await self._task

    async def emptied(self) -> None:
        """Until the events that have come by now are dealt with: the next batch is asked for, or the watch is over."""
        await self._pipe.emptied()

    async def close(self) -> None:
        self._pipe.close()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


def _event(line: bytes) -> Event:
    frame = orjson.loads(line)
    return Event(frame["type"], frame["object"])
