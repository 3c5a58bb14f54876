"""The sending half of a connection: whole answers, long ones piece by piece, and waiting for a slow client."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pilothouse.serving.channel import Channel
from pilothouse.serving.http import ClientGone
from pilothouse.serving.limits import Limits
from pilothouse.serving.reply import LAST_CHUNK, Framing
from pilothouse.serving.segments import SEGMENT, segments

_PER_TURN = 256 << 10  # bytes of an answer that are written before others get their turn


class Outlet:
    """Writes to a channel, and knows whether the client takes what is written."""

    __slots__ = ("_gone", "_limits", "_stall_mark", "_waiters", "channel", "writable")

    def __init__(self, channel: Channel, limits: Limits) -> None:
        self.channel = channel
        self.writable = True  # little enough is waiting for the socket
        self._limits = limits
        self._gone = False
        self._stall_mark = 0
        self._waiters: list[asyncio.Future[None]] = []
        channel.limit_writes(limits.write_high, limits.write_low)

    # What the connection tells.

    def set_writable(self, yes: bool) -> None:
        self.writable = yes
        if yes:
            self._wake()
        else:
            self._stall_mark = self.channel.buffered

    def lost(self) -> None:
        self._gone = True
        self._wake()

    def has_stalled(self) -> bool:
        """Has the client taken nothing since the last look? Only asked while not writable."""
        buffered, before = self.channel.buffered, self._stall_mark
        self._stall_mark = buffered
        return buffered >= before

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    # What is sent.

    async def whole(self, framing: Framing, body: bytes | Sequence[bytes], size: int) -> None:
        """An answer's head and its body of `size` bytes. A short one goes out in one write. Raises ClientGone."""
        if not framing.has_body or not size:
            self.channel.write(framing.head)
        elif size > SEGMENT:
            await self._long(framing, body)
        else:
            joined = body if isinstance(body, bytes) else b"".join(body)
            if framing.chunked:
                self.channel.write(b"%b%x\r\n%b\r\n0\r\n\r\n" % (framing.head, size, joined))
            else:
                self.channel.write(framing.head + joined)

    async def _long(self, framing: Framing, body: bytes | Sequence[bytes]) -> None:
        turn = 0
        write = self.channel.write
        write(framing.head)
        for segment in segments(body):
            size = len(segment)
            if framing.chunked:
                write(b"%x\r\n" % size, segment, b"\r\n")
            else:
                write(segment)
            turn += size
            if turn >= _PER_TURN or not self.writable:
                turn = 0
                await asyncio.sleep(0)
                await self.wait_writable()
        if framing.chunked:
            write(LAST_CHUNK)

    async def drain(self) -> None:
        """Wait until the client took most of what was written; lets others have their turn. Raises ClientGone."""
        if self.writable and not self._gone and self.channel.buffered > self._limits.write_low:
            await asyncio.sleep(0)
        await self.wait_writable()

    async def wait_writable(self) -> None:
        """Raises ClientGone."""
        while True:
            if self._gone:
                raise ClientGone("the connection is gone")
            if self.writable:
                return
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter
