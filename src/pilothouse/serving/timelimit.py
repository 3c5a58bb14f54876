"""One time limit for much work: what is carried on shares a single timer, instead of having one each.

A timer of the loop costs as much as the parsing of a request. All work here has the same time, so what began first ends
first, and only the first needs a timer. Ten times a second it is looked where those are that wait for long, so that the
log can tell what a slow request waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from types import coroutine
from typing import Any, Final, TypeVar

from pilothouse.kit.whereabouts import whereabouts

T = TypeVar("T")
LOOK: Final = 0.1  # seconds between two looks at what waits
_MOST_PLACES: Final = 20  # of one piece of work


class Waits:
    """Where a request waited for long, and for how many seconds; attached to it."""

    __slots__ = ("places",)

    def __init__(self, places: dict[str, float]) -> None:
        self.places = places

    def __str__(self) -> str:
        return ", ".join(f"{seconds * 1e3:.0f} ms in {place}" for place, seconds in self.places.items())


class _Entry:
    """A piece of work, its task, when its time is over (seconds of the loop), and whether it was told so.

    `places`: where it was found waiting, and for how long.
    """

    __slots__ = ("end", "over", "places", "task", "work")

    def __init__(
        self, task: asyncio.Task[Any], work: Coroutine[Any, Any, Any], end: float, places: dict[str, float]
    ) -> None:
        self.task = task
        self.work = work
        self.end = end
        self.over = False
        self.places = places


class TimeLimit:
    """`seconds` for each piece of work."""

    __slots__ = ("_looking", "_loop", "_seconds", "_timer", "_waiting")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._looking = False
        self._waiting: dict[_Entry, None] = {}  # in the order of their ends

    @coroutine
    def carry_on(
        self, work: Coroutine[Any, Any, T], waits_for: Any, places: dict[str, float]
    ) -> Generator[Any, Any, T]:
        """Carry on a coroutine that was stepped once and then waited. Its time begins now.

        `places` is told where it waited for long, and for how many seconds. Raises TimeoutError after the work was
        cancelled.
        """
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        if loop is not self._loop:
            self._loop, self._timer, self._waiting, self._looking = loop, None, {}, False
        before = task.cancelling()
        entry = self._enter(_Entry(task, work, loop.time() + self._seconds, places), loop)
        try:
            while True:  # as go_on does, without another generator between
                try:
                    value = yield waits_for
                except BaseException as thrown:  # whatever was thrown in is for the work to handle
                    waits_for = work.throw(thrown)
                else:
                    waits_for = work.send(value)
        except StopIteration as done:
            result: T = done.value
            return result
        except asyncio.CancelledError as error:
            if entry.over and task.cancelling() <= before + 1:  # nobody else wanted it to end
                raise TimeoutError from error
            raise
        finally:
            self._waiting.pop(entry, None)
            if entry.over:
                task.uncancel()

    def _enter(self, entry: _Entry, loop: asyncio.AbstractEventLoop) -> _Entry:
        self._waiting[entry] = None
        if self._timer is None:
            self._timer = loop.call_at(entry.end, self._expire, loop)
        if not self._looking:
            self._looking = True
            loop.call_later(LOOK, self._look, loop)
        return entry

    def _expire(self, loop: asyncio.AbstractEventLoop) -> None:
        """End what had its time."""
        now = loop.time()
        self._timer = None
        for entry in list(self._waiting):
            if entry.end > now:
                self._timer = loop.call_at(entry.end, self._expire, loop)
                break
            del self._waiting[entry]
            entry.over = True
            entry.task.cancel()

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Note where those are that have been waiting for a while. The oldest come first."""
        self._looking = bool(self._waiting)
        young = loop.time() + self._seconds - LOOK / 2
        for entry in self._waiting:
            if entry.end > young:
                break
            place = whereabouts(entry.work)
            if place and (place in entry.places or len(entry.places) < _MOST_PLACES):
                entry.places[place] = entry.places.get(place, 0.0) + LOOK
        if self._looking:
            loop.call_later(LOOK, self._look, loop)
