"""Keeps the status of resource quotas: what is limited, and how much of it is used.

Admission charges a quota before an object is written; here that is put right when objects go, change or were never
written. Kinds are watched only while some quota is about them, so without quotas this costs nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from pilothouse.controllers.clock import sleep
from pilothouse.controllers.context import NAMESPACES, Context
from pilothouse.controllers.informer import Informer, Key
from pilothouse.controllers.quotas.count import limited, used_by
from pilothouse.controllers.reflector import Reflector, Source
from pilothouse.controllers.resources import Served
from pilothouse.controllers.streams import Object
from pilothouse.controllers.tasks import TaskOwner, together
from pilothouse.controllers.workqueue import WorkQueue, work

IDENTITY: Final = "resourcequota-controller"
_WORKERS: Final = 2
_FREED: Final = 0.05  # seconds until what is gone is counted
_CHANGED: Final = 5.0  # and what is new or other: admission has charged it already
_SHARE: Final = 10.0  # a count is made again no sooner than after so many times what it took
_ANEW: Final = 300.0  # seconds between counts of everything
_GATHER: Final = 0.02


class _Changes:
    """A Sink that only tells where something changed."""

    def __init__(self, changed: Callable[[str, float], None]) -> None:
        self._changed = changed
        self._listing = False

    def begin(self) -> None:
        self._listing = True

    def put(self, obj: Object) -> None:
        if not self._listing:
            self._changed(obj["metadata"].get("namespace") or "", _CHANGED)

    def remove(self, obj: Object) -> None:
        self._changed(obj["metadata"].get("namespace") or "", _FREED)

    def end(self) -> None:
        self._listing = False


class QuotaController:
    """`run` until it is cancelled."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._client = context.client(IDENTITY)
        self._queue: WorkQueue[Key] = WorkQueue(context.clock, "resourcequota_primary", context.queues)
        self._quotas = Informer()
        self._hard: dict[Key, Object] = {}  # what each quota limits, as last seen
        self._took: dict[Key, float] = {}  # seconds of the last count
        self._limits_changed = asyncio.Event()
        self._watches = TaskOwner(context.clock)

    async def run(self) -> None:
        quotas = self._context.reflector(Source("/api/v1/resourcequotas", metadata=False), self._quotas)
        try:
            with self._quotas.telling(self._told):
                workers = [work(self._queue, self._count, "count of quota") for _ in range(_WORKERS)]
                await together(quotas.run(), self._follow(), self._count_anew(), *workers)
        finally:
            self._queue.close()
            await self._watches.stop()

    def _told(self, key: Key, quota: Object | None) -> None:
        """New limits are counted at once. What admission charges does not need it: then only the status changes."""
        if quota is None:
            self._took.pop(key, None)
            if self._hard.pop(key, None) is not None:
                self._limits_changed.set()
            return
        hard = _hard(quota)
        if self._hard.get(key) != hard:
            self._hard[key] = hard
            self._limits_changed.set()
            self._queue.add(key)

    def _changed(self, namespace: str, seconds: float) -> None:
        for key in self._hard:
            if key[0] == namespace:
                self._queue.add_after(key, max(seconds, _SHARE * self._took.get(key, 0.0)))

    async def _count(self, key: Key) -> None:
        """Raises Refusal, for a conflict where admission charged meanwhile."""
        quota = self._quotas.get(key)
        if quota is None or "deletionTimestamp" in quota["metadata"]:
            return
        began = self._context.clock.now()
        used = await used_by(self._client, await self._context.discovery.catalog(), quota)
        self._took[key] = self._context.clock.now() - began
        status = quota.get("status") or {}
        hard = _hard(quota)
        if status.get("hard") == hard and (status.get("used") or {}) == used:
            return
        new = {**quota, "kind": "ResourceQuota", "apiVersion": "v1", "status": {"hard": hard, "used": used}}
        await self._client.update(f"{NAMESPACES}/{key[0]}/resourcequotas/{key[1]}/status", new)

    async def _count_anew(self) -> None:
        while True:
            await sleep(self._context.clock, _ANEW)
            self._limits_changed.set()  # there may be kinds that were not served before
            for key in self._hard:
                self._queue.add(key)

    async def _follow(self) -> None:
        """Watch exactly the kinds that quotas are about."""
        running: dict[str, Served] = {}
        while True:
            await self._limits_changed.wait()
            self._limits_changed.clear()
            hard = {name for limits in self._hard.values() for name in limits}
            catalog = await self._context.discovery.catalog()
            wanted = {served.path(): served for served in limited(catalog, hard)} if hard else {}
            for path in running.keys() - wanted.keys():
                del running[path]
                await self._watches.end(path)
            for path in wanted.keys() - running.keys():
                running[path] = wanted[path]
                self._watches.start(path, self._watch_of(path).run)

    def _watch_of(self, path: str) -> Reflector:
        context = self._context
        source = Source(path, gather=_GATHER)
        return Reflector(context.reader, source, _Changes(self._changed), context.clock, context.random)


def _hard(quota: Object) -> Object:
    found: Object = (quota.get("spec") or {}).get("hard") or {}
    return found
