"""Long loops that leave others their turn: after a few milliseconds the event loop goes round once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

A = TypeVar("A")
B = TypeVar("B")

TURN: Final = 0.004  # seconds
_LOOK: Final = 8  # items between two looks at the clock, which may cost more than an item
Now = Callable[[], float]  # any clock in seconds; not the loop's, which stands still within a turn


async def in_turns(items: Iterable[A], make: Callable[[A], B], now: Now = time.monotonic) -> list[B]:
    """What `make` gives for each item. `items` must not change meanwhile."""
    made: list[B] = []
    end = now() + TURN
    for item in items:
        made.append(make(item))
        if now() > end:
            await asyncio.sleep(0)
            end = now() + TURN
    return made


async def accepted(
    items: Iterable[A], accept: Callable[[A], bool], limit: int = 0, now: Now = time.monotonic
) -> tuple[list[A], int]:
    """Those that `accept` takes, at most `limit` (0: all), and how many were looked at."""
    chosen: list[A] = []
    looked = 0
    end = now() + TURN
    for item in items:
        looked += 1
        if accept(item):
            chosen.append(item)
            if len(chosen) == limit:
                break
        if not looked % _LOOK and now() > end:
            await asyncio.sleep(0)
            end = now() + TURN
    return chosen, looked
