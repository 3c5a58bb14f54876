"""Two connections after an upgrade, joined: each byte of the one goes to the other, and the end of each half too."""

from __future__ import annotations

import asyncio

from pilothouse.serving.http import ClientGone, RawConnection


async def tunnel(front: RawConnection, back: RawConnection) -> None:
    """Until both halves have ended, or either connection is gone."""
    one = asyncio.ensure_future(_copy(front, back))
    other = asyncio.ensure_future(_copy(back, front))
    try:
        await asyncio.wait((one, other), return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for half in (one, other):
            half.cancel()
        await asyncio.gather(one, other, return_exceptions=True)
        back.abort()


async def _copy(source: RawConnection, sink: RawConnection) -> None:
    try:
        while data := await source.receive():
            await sink.send(data)
        if source.gone:
            raise ClientGone("the other end is gone")  # it will not take what the sink still sends
        sink.end()
    except ClientGone:
        sink.abort()
        raise
