"""Two connections after an upgrade, joined: each byte of one goes to the other, and the end of each half too."""

from __future__ import annotations

import asyncio

from pilothouse.serving.http import RawConnection
from pilothouse.serving.stream import RawPipe


async def tunnel(front: RawConnection, back: RawPipe) -> None:
    """Until both halves have ended, or either connection is gone. The front is closed by who called."""
    loop = asyncio.get_running_loop()
    to_back = loop.create_task(_copy(front, back), name="tunnel to the back")
    to_front = loop.create_task(_copy(back, front), name="tunnel to the front")
    try:
        done, left = await asyncio.wait((to_back, to_front), return_when=asyncio.FIRST_COMPLETED)
        source = front if to_back in done else back
        if left and not source.gone and not any(half.exception() for half in done):
            await asyncio.wait(left)
    finally:
        for half in (to_back, to_front):
            half.cancel()
        await asyncio.gather(to_back, to_front, return_exceptions=True)
        back.close()  # what was written is sent first


async def _copy(source: RawConnection, sink: RawConnection) -> None:
    """Raises ClientGone where the sink is."""
    while data := await source.receive():
        await sink.send(data)
    sink.end()
