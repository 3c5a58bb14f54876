"""Opens the watch caches of a server, and knows for metrics which kind each of them is of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pilothouse.cache.listmetrics import ListMetrics
from pilothouse.cache.metrics import Cache, CacheMetrics, Kinds
from pilothouse.cache.storage import CachedStorage
from pilothouse.kit.metrics import Registry
from pilothouse.registry.store import GenericStore
from pilothouse.storage.api import Engine

_CUSTOM_PARTS: Final = 5  # "", registry, group, resource, "": the prefix of a custom resource


class Caches:
    """`stores`: those of built-in kinds, set once they are made."""

    def __init__(self, registry: Registry, engine: Engine) -> None:
        self.stores: Mapping[tuple[str, str], GenericStore] = {}
        self._engine = engine
        self._metrics = CacheMetrics(registry, self._kinds)
        self.lists = ListMetrics(registry, self._metrics.loads)

    def open(self, prefix: str) -> CachedStorage:
        cache = CachedStorage(self._engine, prefix, stats=self._metrics.stats())
        self._metrics.opened(cache)
        return cache

    def _kinds(self, caches: Mapping[str, Cache]) -> Kinds:
        """A kind whose definition was made anew has two caches: the last one counts."""
        builtin = {id(store.storage): kind for kind, store in list(self.stores.items())}
        found: dict[tuple[str, str], str] = {}
        for number, cache in list(caches.items()):
            kind = builtin.get(id(cache)) or _custom(cache)
            if kind is not None:
                found[kind] = number
        return {number: kind for kind, number in found.items()}


def _custom(cache: Cache) -> tuple[str, str] | None:
    """The group and plural of a custom resource; None for anything else."""
    parts = cache.prefix.split("/") if isinstance(cache, CachedStorage) else []
    return (parts[2], parts[3]) if len(parts) == _CUSTOM_PARTS and "." in parts[2] else None
