"""Finds who watches a key, in the time of a few dictionary look-ups however many watch something else.

Engines and the cache both use it. A watch is over one key, over a folder (a prefix ending in "/"), or over any range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

from pilothouse.storage.api import prefix_end


class Keyed(Protocol):
    @property
    def key(self) -> str: ...


W = TypeVar("W")
E = TypeVar("E", bound=Keyed)


class Dispatch(Generic[W]):
    """Watchers (any hashable objects) by the range of keys they asked for."""

    __slots__ = ("_folders", "_keys", "_ranges", "_shortest")

    def __init__(self) -> None:
        self._keys: dict[str, dict[W, None]] = {}
        self._folders: dict[str, dict[W, None]] = {}
        self._ranges: dict[W, tuple[str, str]] = {}
        self._shortest = 0  # length of the shortest watched folder: shorter ones need no look-up

    def add(self, start: str, end: str, watcher: W) -> None:
        """Watch the keys in [start, end)."""
        if start.endswith("/") and end == prefix_end(start):
            self._folders.setdefault(start, {})[watcher] = None
            self._measure()
        elif end == start + "\0":
            self._keys.setdefault(start, {})[watcher] = None
        else:
            self._ranges[watcher] = (start, end)

    def remove(self, start: str, end: str, watcher: W) -> None:
        """Undo `add` with the same arguments; unknown watchers are fine."""
        if start.endswith("/") and end == prefix_end(start):
            self._drop(self._folders, start, watcher)
            self._measure()
        elif end == start + "\0":
            self._drop(self._keys, start, watcher)
        else:
            self._ranges.pop(watcher, None)

    @staticmethod
    def _drop(table: dict[str, dict[W, None]], name: str, watcher: W) -> None:
        watchers = table.get(name)
        if watchers is not None:
            watchers.pop(watcher, None)
            if not watchers:
                del table[name]

    def _measure(self) -> None:
        lengths = {len(folder) for folder in self._folders} if len(self._folders) < 64 else {1}
        self._shortest = min(lengths, default=0)

    def all(self) -> list[W]:
        """Every watcher, each once."""
        found: dict[W, None] = dict.fromkeys(self._ranges)
        for table in (self._keys, self._folders):
            for watchers in table.values():
                found.update(watchers)
        return list(found)

    def matching(self, key: str) -> Iterator[W]:
        """Who watches this key. Not to be used further once watchers come or go."""
        if self._folders:
            folders = self._folders
            cut = key.find("/", max(self._shortest - 1, 0)) + 1
            while cut:
                if (watchers := folders.get(key[:cut])) is not None:
                    yield from watchers
                cut = key.find("/", cut) + 1
        if self._keys and (watchers := self._keys.get(key)) is not None:
            yield from watchers
        for watcher, (start, end) in self._ranges.items():
            if start <= key < end:
                yield watcher

    def send(self, events: Sequence[E], receive: Callable[[W, Sequence[E]], None]) -> None:
        """Call `receive(watcher, its events)` once for each watcher that some of the events concern."""
        if not (self._folders or self._keys or self._ranges):
            return
        if len(events) == 1:
            for watcher in list(self.matching(events[0].key)):
                receive(watcher, events)
            return
        shares: dict[W, list[E]] = {}
        for event in events:
            for watcher in self.matching(event.key):
                share = shares.get(watcher)
                if share is None:
                    shares[watcher] = [event]
                else:
                    share.append(event)
        for watcher, share in shares.items():
            receive(watcher, share)
