"""A collection held in memory, by namespace and name, for controllers that ask and want to be told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from pilothouse.controllers.streams import Object

Key = tuple[str, str]  # namespace ("" for none), name
Told = Callable[[Key, Object | None], None]  # None: it is gone


def key_of(obj: Object) -> Key:
    metadata = obj["metadata"]
    return metadata.get("namespace") or "", metadata["name"]


class Informer:
    """A Sink. Every change is passed on to `told`, also what a new list shows to be gone."""

    def __init__(self, keep: Callable[[Object], Object] = lambda obj: obj) -> None:
        """`keep`: what of an object is held."""
        self._told: list[Told] = []
        self._keep = keep
        self._objects: dict[Key, Object] = {}
        self._unseen: set[Key] | None = None

    @contextmanager
    def telling(self, told: Told) -> Iterator[None]:
        """Tell of every change while the context lasts; what is here already is told at once."""
        self._told.append(told)
        try:
            for key, obj in list(self._objects.items()):
                told(key, obj)
            yield
        finally:
            self._told.remove(told)

    def get(self, key: Key) -> Object | None:
        return self._objects.get(key)

    def items(self) -> Iterable[tuple[Key, Object]]:
        return self._objects.items()

    # As a Sink

    def begin(self) -> None:
        self._unseen = set(self._objects)

    def put(self, obj: Object) -> None:
        key = key_of(obj)
        if self._unseen is not None:
            self._unseen.discard(key)
        held = self._objects[key] = self._keep(obj)
        for told in self._told:
            told(key, held)

    def remove(self, obj: Object) -> None:
        self._forget(key_of(obj))

    def end(self) -> None:
        unseen, self._unseen = self._unseen or set(), None
        for key in unseen:
            self._forget(key)

    def _forget(self, key: Key) -> None:
        if self._objects.pop(key, None) is not None:
            for told in self._told:
                told(key, None)
