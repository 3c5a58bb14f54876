"""Keeps one object of a fixed name in every namespace that is not being deleted."""

from __future__ import annotations

from collections.abc import Callable

from pilothouse.controllers.client import Refusal
from pilothouse.controllers.context import NAMESPACES, Context
from pilothouse.controllers.informer import Informer, Key
from pilothouse.controllers.reflector import Source
from pilothouse.controllers.streams import Object
from pilothouse.controllers.tasks import together
from pilothouse.controllers.workqueue import WorkQueue, work
from pilothouse.kit.record import record

_WORKERS = 2


@record
class Wanted:
    """What shall be in every namespace. `identity`: the ServiceAccount that writes it.

    `restored`: the object as it should be, given what is there; None where that is right already. `metadata_only`: it
    is enough that the object is there. `queue`: its name in metrics.
    """

    identity: str
    plural: str
    name: str
    make: Callable[[], Object]
    restored: Callable[[Object], Object | None]
    metadata_only: bool
    queue: str


class EverywhereController:
    """`run` until it is cancelled."""

    def __init__(self, context: Context, wanted: Wanted) -> None:
        self._context = context
        self._wanted = wanted
        self._client = context.client(wanted.identity)
        self._queue: WorkQueue[str] = WorkQueue(context.clock, wanted.queue, context.queues)
        self._held = Informer()

    async def run(self) -> None:
        wanted = self._wanted
        source = Source(f"/api/v1/{wanted.plural}", f"metadata.name={wanted.name}", metadata=wanted.metadata_only)
        reflector = self._context.reflector(source, self._held)

        async def keep() -> None:
            await reflector.synced.wait()
            with self._context.namespaces.telling(self._told), self._held.telling(self._told_of_ours):
                await together(*(work(self._queue, self._keep, f"{wanted.name} in") for _ in range(_WORKERS)))

        try:
            await together(reflector.run(), keep())
        finally:
            self._queue.close()

    def _told(self, key: Key, namespace: Object | None) -> None:
        if namespace is not None and "deletionTimestamp" not in namespace["metadata"]:
            self._queue.add(key[1])

    def _told_of_ours(self, key: Key, obj: Object | None) -> None:
        if obj is None or self._wanted.restored(obj) is not None:
            self._queue.add(key[0])

    async def _keep(self, namespace: str) -> None:
        """Raises Refusal."""
        known = self._context.namespaces.get(("", namespace))
        if known is None or "deletionTimestamp" in known["metadata"]:
            return
        wanted = self._wanted
        path = f"{NAMESPACES}/{namespace}/{wanted.plural}"
        held = self._held.get((namespace, wanted.name))
        try:
            if held is None:
                await self._client.create(path, wanted.make())
                return
            better = wanted.restored(held)
            if better is not None:
                await self._client.update(f"{path}/{wanted.name}", better)
        except Refusal as refusal:
            exists = held is None and refusal.reason == "AlreadyExists"
            if not (exists or refusal.not_found or refusal.namespace_ends):
                raise
