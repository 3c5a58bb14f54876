"""What a running process can say of itself: where it spends its time, what its tasks wait for, what it allocates.

Each profile takes what it costs only while somebody asks for it, and one may be taken at a time.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, Final

from pilothouse.serving.pprof import Line, Profile, Stack

LONGEST_SECONDS: Final = 300.0
_RATE: Final = 100  # samples a second
_DEEPEST: Final = 200  # frames of one stack
_MOST_STACKS: Final = 50_000
_IDLE: Final = frozenset({"select", "poll", "run_forever", "run_until_complete", "_worker", "wait"})


class Busy(Exception):
    """Another profile is being taken."""


class Profiler:
    """Takes profiles of this process, one at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    async def cpu(self, seconds: float) -> bytes:
        """Where all threads were, 100 times a second. Raises Busy."""
        return await asyncio.to_thread(self._alone, _sample, seconds)

    async def heap(self, seconds: float, allocated: bool) -> bytes:
        """What is allocated within `seconds` and (unless `allocated`) still held at their end. Raises Busy."""
        return await asyncio.to_thread(self._alone, _allocations, seconds, allocated)

    def _alone(self, take: Any, *arguments: Any) -> bytes:
        if not self._lock.acquire(blocking=False):
            raise Busy("another profile is being taken")
        try:
            profile: Profile = take(*arguments)
            return profile.encode()
        finally:
            self._lock.release()


def _sample(seconds: float) -> Profile:
    own = threading.get_ident()
    counts: dict[Stack, int] = {}
    began, wall = time.monotonic(), time.time_ns()
    end = began + seconds
    step = 1.0 / _RATE
    due = began
    while (now := time.monotonic()) < end:
        for ident, frame in sys._current_frames().items():
            if ident == own or frame.f_code.co_name in _IDLE:
                continue
            stack = tuple(_lines(frame))
            if stack in counts or len(counts) < _MOST_STACKS:
                counts[stack] = counts.get(stack, 0) + 1
        due += step
        time.sleep(max(0.0, min(due, end) - now))
    period = 1_000_000_000 // _RATE
    samples = {stack: (count, count * period) for stack, count in counts.items()}
    took = int((time.monotonic() - began) * 1e9)
    return Profile((("samples", "count"), ("wall", "nanoseconds")), samples, wall, took, period)


def _lines(frame: FrameType | None) -> Iterator[Line]:
    for _ in range(_DEEPEST):
        if frame is None:
            return
        yield _line(frame.f_code, frame.f_lineno)
        frame = frame.f_back


def _line(code: CodeType, line: int | None) -> Line:
    return code.co_qualname, code.co_filename, code.co_firstlineno, line or 0


def _allocations(seconds: float, allocated: bool) -> Profile:
    """tracemalloc for a while: it slows the process down, so it only runs now."""
    began, wall = time.monotonic(), time.time_ns()
    tracemalloc.start(12)
    try:
        time.sleep(seconds)
        snapshot = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    samples: dict[Stack, tuple[int, ...]] = {}
    for statistic in snapshot.statistics("traceback")[:_MOST_STACKS]:
        stack = tuple(
            (f"{frame.filename}:{frame.lineno}", frame.filename, 0, frame.lineno)
            for frame in reversed(statistic.traceback)
        )
        samples[stack] = statistic.count, statistic.size
    words = ("alloc_objects", "alloc_space") if allocated else ("inuse_objects", "inuse_space")
    took = int((time.monotonic() - began) * 1e9)
    return Profile(((words[0], "count"), (words[1], "bytes")), samples, wall, took, 1)


def task_stacks() -> list[tuple[str, Stack]]:
    """Every task of the running loop: its name, and where it waits (innermost first)."""
    return [(task.get_name(), tuple(_waiting(task))) for task in asyncio.all_tasks()]


def _waiting(task: asyncio.Task[Any]) -> list[Line]:
    found: list[Line] = []
    step: Any = task.get_coro()
    while step is not None and len(found) < _DEEPEST:
        code = getattr(step, "cr_code", None) or getattr(step, "gi_code", None)
        if code is not None:
            frame = getattr(step, "cr_frame", None) or getattr(step, "gi_frame", None)
            found.append(_line(code, frame.f_lineno if frame is not None else None))
        step = getattr(step, "cr_await", None) or getattr(step, "gi_yieldfrom", None)
    return found[::-1]


def thread_stacks() -> list[tuple[str, Stack]]:
    """Every thread: its name, and where it is."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return [(names.get(ident, str(ident)), tuple(_lines(frame))) for ident, frame in sys._current_frames().items()]


def stacks_as_profile(stacks: list[tuple[str, Stack]], kind: str) -> bytes:
    """For viewers: how many are at the same place."""
    counts: dict[Stack, tuple[int, ...]] = {}
    for _, stack in stacks:
        counts[stack] = (counts.get(stack, (0,))[0] + 1,)
    return Profile(((kind, "count"),), counts, time.time_ns(), 0, 1).encode()


def stacks_as_text(stacks: list[tuple[str, Stack]], what: str) -> str:
    """For people."""
    parts = [f"{what}: {len(stacks)}\n"]
    for name, stack in stacks:
        parts.append(f"\n{what} {name}\n")
        parts += [f"  {function} ({file}:{line})\n" for function, file, _, line in stack]
    return "".join(parts)
