"""The stores that one suite runs over, and the small helpers of its stories."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pilothouse.cache import CachedStorage, HistoryLimits
from pilothouse.storage.api import Change, Engine, ListRequest, Page, Read, Storage, StoredObject
from pilothouse.storage.engines.memory import MemoryEngine
from pilothouse.storage.engines.sqlite import SqliteEngine, SqliteSettings
from pilothouse.storage.errors import StorageError
from pilothouse.storage.store import EngineStorage

PREFIX = "/registry/pods/"
WAIT = 0.15  # seconds that a read waits for a revision of the future


class Clock:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.time = 1_000_000.0

    def __call__(self) -> float:
        return self.time


@dataclass
class Opened:
    storage: Storage
    engine: MemoryEngine | SqliteEngine
    clock: Clock

    def again(self, limits: HistoryLimits | None = None) -> Storage:
        """A second storage of the same kind over the same engine."""
        kind = type(self.storage)
        if kind is CachedStorage:
            return CachedStorage(self.engine, PREFIX, wait=WAIT, limits=limits)
        return EngineStorage(self.engine, PREFIX, wait=WAIT)


@dataclass
class Backend:
    name: str
    folder: Path
    settings: SqliteSettings = field(default_factory=lambda: SqliteSettings(check_seconds=0, housekeeping=0.01))

    @property
    def durable(self) -> bool:
        return "sqlite" in self.name

    @contextlib.asynccontextmanager
    async def open(self, limits: HistoryLimits | None = None) -> AsyncIterator[Opened]:
        clock = Clock()
        engine: MemoryEngine | SqliteEngine
        if self.durable:
            engine = await SqliteEngine.open(str(self.folder / "store.db"), self.settings, now=clock)
        else:
            engine = MemoryEngine(now=clock, interval=0.01)
        try:
            storage: Storage
            if self.name.startswith("cache"):
                storage = CachedStorage(engine, PREFIX, wait=WAIT, limits=limits)
            else:
                storage = EngineStorage(engine, PREFIX, wait=WAIT)
            yield Opened(storage, engine, clock)
        finally:
            await engine.close()


NAMES = ["memory", "sqlite", "cache-around-memory", "cache-around-sqlite"]


def run(story: Awaitable[None], seconds: float = 30.0) -> None:
    """Run a story to its end; a hang is a failure."""

    async def bounded() -> None:
        async with asyncio.timeout(seconds):
            await story

    asyncio.run(bounded())


def story(told: Callable[[Opened], Awaitable[None]]) -> Callable[[Backend], None]:
    """A test of an open store, over each backend."""

    def test(backend: Backend) -> None:
        async def tell() -> None:
            async with backend.open() as opened:
                await told(opened)

        run(tell())

    functools.update_wrapper(test, told)
    del test.__wrapped__  # pytest would look for the fixtures of the story itself
    test.__annotations__ = {}
    return test


class Seen:
    """Takes what a watch delivers."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.ends: list[StorageError | None] = []

    def deliver(self, changes: Sequence[Change]) -> None:
        self.changes.extend(changes)

    def ended(self, error: StorageError | None) -> None:
        self.ends.append(error)

    @property
    def short(self) -> list[tuple[str, str, int]]:
        """(what happened, name of the object, revision) of each change."""
        return [(kind(change), change.key.removeprefix(PREFIX), change.revision) for change in self.changes]

    async def until(self, enough: Callable[[Seen], bool], seconds: float = 5.0) -> None:
        """Wait until what was seen is enough."""
        async with asyncio.timeout(seconds):
            while not enough(self):
                await asyncio.sleep(0.001)


def kind(change: Change) -> str:
    if change.object is None:
        return "deleted"
    return "created" if change.previous is None else "changed"


def key(name: str) -> str:
    return PREFIX + name


def to(value: bytes) -> Callable[[StoredObject | None], Awaitable[bytes]]:
    """A transform that sets the value."""

    async def transform(current: StoredObject | None) -> bytes:
        return value

    return transform


def asks(prefix: str = PREFIX, **more: object) -> ListRequest:
    return ListRequest(prefix, **more)  # type: ignore[arg-type]


def names(page: Page) -> list[str]:
    return [item.key.removeprefix(PREFIX) for item in page.items]


async def fill(storage: Storage, count: int, pattern: str = "ns/{:03}") -> list[StoredObject]:
    return [await storage.create(key(pattern.format(number)), b"v%d" % number) for number in range(count)]


async def at(storage: Storage, revision: int, **more: object) -> Page:
    """The list as it was at a revision."""
    return await storage.list(asks(read=Read.EXACT, revision=revision, **more))


__all__ = ["NAMES", "PREFIX", "WAIT", "Backend", "Clock", "Engine", "Opened", "Seen"]
