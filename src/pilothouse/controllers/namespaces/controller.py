"""Deletes namespaces: the content of a marked one goes, its conditions tell how far, at last its finalizer.

Not marked namespaces are none of its business, so it costs nothing until one is deleted.
"""

from __future__ import annotations

from typing import Final

from pilothouse.controllers.client import Refusal
from pilothouse.controllers.context import NAMESPACES, Context
from pilothouse.controllers.informer import Key
from pilothouse.controllers.namespaces.conditions import Findings, conditions_of
from pilothouse.controllers.namespaces.content import Emptying
from pilothouse.controllers.streams import Object
from pilothouse.controllers.tasks import together
from pilothouse.controllers.workqueue import Later, WorkQueue, work
from pilothouse.machinery.times import format_time, parse_time

IDENTITY: Final = "namespace-controller"
FINALIZER: Final = "kubernetes"
_WORKERS: Final = 4
_SETTLE: Final = 0.3  # seconds: a write that was let in just before the mark may still be on its way
_SOONEST: Final = 0.25  # seconds between passes; doubles to what the remaining content is estimated to need
_DOUBLINGS: Final = 6


class NamespaceDeleter:
    """`run` until it is cancelled."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._clock = context.clock
        self._client = context.client(IDENTITY)
        self._queue: WorkQueue[str] = WorkQueue(context.clock, "namespace", context.queues)
        self._passes: dict[str, tuple[float, int]] = {}  # when it was first worked on, how often since

    async def run(self) -> None:
        with self._context.namespaces.telling(self._told):
            try:
                workers = [work(self._queue, self._delete, "deletion of namespace") for _ in range(_WORKERS)]
                await together(*workers)
            finally:
                self._queue.close()

    def _told(self, key: Key, namespace: Object | None) -> None:
        if namespace is None:
            self._passes.pop(key[1], None)
        elif "deletionTimestamp" in namespace["metadata"]:
            self._queue.add(key[1])

    async def _delete(self, name: str) -> None:
        """One pass. Raises Later while something remains, Refusal."""
        namespace = await self._live(name)
        if namespace is None:
            return
        metadata = namespace["metadata"]
        if not (namespace.get("spec") or {}).get("finalizers"):
            return
        began, count = self._passes.get(name) or (self._clock.now(), 0)
        self._passes[name] = began, count + 1
        now = self._clock.moment()
        emptying = Emptying(self._client, name, parse_time(metadata["deletionTimestamp"]), now)
        await emptying.run(await self._context.discovery.catalog())
        findings = emptying.findings
        await self._tell(namespace, findings)
        if findings.remaining or findings.failures or findings.undiscovered:
            pause = _SOONEST * 2.0 ** min(count, _DOUBLINGS)
            raise Later("content remains", min(pause, emptying.estimate / 2 + 1) if emptying.estimate else pause)
        settled = began + _SETTLE - self._clock.now()
        if settled > 0:
            raise Later("writes may be on their way", settled)
        await self._finalize(name)

    async def _live(self, name: str) -> Object | None:
        """The namespace, if it is still one to delete."""
        try:
            namespace = await self._client.get(f"{NAMESPACES}/{name}")
        except Refusal as refusal:
            if refusal.not_found:
                return None
            raise
        return namespace if "deletionTimestamp" in namespace["metadata"] else None

    async def _tell(self, namespace: Object, findings: Findings) -> None:
        """Write the conditions where they changed."""
        status = namespace.get("status") or {}
        conditions = conditions_of(status.get("conditions") or (), findings, format_time(self._clock.moment()))
        if conditions is None:
            return
        namespace["status"] = {**status, "phase": "Terminating", "conditions": conditions}
        await self._client.update(f"{NAMESPACES}/{namespace['metadata']['name']}/status", namespace)

    async def _finalize(self, name: str) -> None:
        """Nothing is left: take our finalizer away."""
        namespace = await self._live(name)
        if namespace is None:
            return
        kept = [one for one in (namespace.get("spec") or {}).get("finalizers") or () if one != FINALIZER]
        namespace["spec"] = {**(namespace.get("spec") or {}), "finalizers": kept}
        await self._client.update(f"{NAMESPACES}/{name}/finalize", namespace)
