"""Long work beside the loop: what a big body asks for is done in a thread, so that nobody else waits for it.

The interpreter runs one thread at a time, so this makes nothing faster. It lets the loop have its turn every few
milliseconds, while few threads keep the big ones waiting for each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

HEAVY: Final = 32 << 10  # bytes; less than that is done in less time than a thread needs to be worth it
_THREADS: Final = 2
_MANY_CONTAINERS: Final = 800  # in a small document they may stand in each other, and deep ones are read slowly


def effort(data: bytes) -> int:
    """How much work JSON is, counted in bytes of usual JSON."""
    size = len(data)
    if 2 * _MANY_CONTAINERS < size < HEAVY:
        # What is left without them tells how many there are, four times as fast as bytes.count.
        without = len(data.replace(b"{", b"")) + len(data.replace(b"[", b""))
        if 2 * size - without > _MANY_CONTAINERS:
            return HEAVY
    return size


class Aside:
    """Where heavy work is done. Threads begin when they are first needed."""

    def __init__(self, threads: int = _THREADS) -> None:
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None

    async def run(self, size: int, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """`work(...)`: at once when what it works on is small (`size`, bytes), else in a thread.

        `work` must touch nothing that belongs to the loop, and nothing that another request might change.
        """
        if size < HEAVY:
            return work(*arguments, **named)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="aside")
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: work(*arguments, **named))

    def close(self) -> None:
        """Begin nothing more."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
