"""Deletes objects whose owners are gone, finishes foreground deletions, and lets dependents go that shall be orphaned.

The graph only says where to look. Every change here names the version of the object that it was decided on, so that
what changed meanwhile is looked at again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pilothouse.controllers.client import METADATA, LoopbackClient, Refusal
from pilothouse.controllers.gc.graph import FOREGROUND, ORPHAN, Graph, Node, Object, references_of
from pilothouse.controllers.gc.owners import OwnerCheck, Owners, Unresolvable
from pilothouse.controllers.resources import Served
from pilothouse.controllers.workqueue import Later, WorkQueue


class Collector:
    """Works on uids. `queue` takes those that have to be looked at next."""

    def __init__(
        self,
        client: LoopbackClient,
        graph: Graph,
        owners: OwnerCheck,
        queue: WorkQueue[str],
        caught_up: Callable[[], Awaitable[None]],
    ) -> None:
        """`caught_up`: waits until the graph knows what was written before now."""
        self._client = client
        self._graph = graph
        self._owners = owners
        self._queue = queue
        self._caught_up = caught_up

    def gone(self, uid: str) -> None:
        """An object does not exist any more."""
        if self._graph.remove(uid):
            self._owners.absent.add(uid)

    async def look(self, uid: str) -> None:
        """Delete the object if nobody owns it any more; if it is being deleted in the foreground, go on with that.

        Raises Refusal, Later: look again.
        """
        node = self._graph.get(uid)
        if node is None or node.served is None or (node.deleting and not node.foreground) or self._graph.settled(node):
            return
        live = await self._live(node, node.served)
        if live is None:
            return
        if "deletionTimestamp" in live:
            if FOREGROUND in (live.get("finalizers") or ()):
                await self._finish(node, node.served, live)
            return
        references = references_of(live)
        if not references:
            return
        try:
            owners = await self._owners.sort(node, references)
        except Unresolvable:
            return
        await self._decide(node, node.served, live, owners)

    async def _decide(self, node: Node, served: Served | None, live: Object, owners: Owners) -> None:
        if served is None:  # gone while its owners were asked for
            return
        if owners.solid:
            lost = {reference.uid for reference in (*owners.dangling, *owners.waiting)}
            if lost:
                await self._drop_references(node, served, live, lost)
            if not all(self._graph.knows(reference, node) for reference in owners.solid):
                raise Later("an owner is not followed yet, so nobody would tell of its end")
        elif owners.waiting and node.dependents:
            if any(dependent.foreground for dependent in node.dependents):  # a circle: somebody has to give way
                await self._unblock(node, served, live)
            await self._delete(node, served, live, "Foreground")
        else:
            await self._delete(node, served, live, _policy(live))

    async def _finish(self, node: Node, served: Served, live: Object) -> None:
        """Its blocking dependents first; without any, it may go."""
        if not node.blockers():
            await self._caught_up()  # there may be some that the graph has not seen yet
        blockers = node.blockers()
        for blocker in blockers:
            if not blocker.foreground:
                self._queue.add(blocker.uid)
        if not blockers:
            await self._drop_finalizer(node, served, live, FOREGROUND)

    async def let_go(self, uid: str) -> None:
        """Orphan the dependents of an object that is being deleted, then let it go. Raises Refusal."""
        node = self._graph.get(uid)
        served = node.served if node is not None else None
        if node is None or served is None or not node.orphaning:
            return
        await self._caught_up()
        for dependent in list(node.dependents or ()):
            if dependent.served is not None:
                live = await self._live(dependent, dependent.served)
                if live is not None:
                    await self._drop_references(dependent, dependent.served, live, {uid})
        live = await self._live(node, served)
        if live is not None and "deletionTimestamp" in live:
            await self._drop_finalizer(node, served, live, ORPHAN)

    # Requests

    async def _live(self, node: Node, served: Served) -> Object | None:
        """The object's metadata as it is now; None (and the graph knows) where it is gone."""
        try:
            found = await self._client.get(served.path(node.namespace, node.name), accept=METADATA)
        except Refusal as refusal:
            if not refusal.not_found:
                raise
            self.gone(node.uid)
            return None
        metadata: Object = found["metadata"]
        if metadata.get("uid") != node.uid:
            self.gone(node.uid)
            return None
        return metadata

    async def _delete(self, node: Node, served: Served, live: Object, policy: str) -> None:
        exactly = {"uid": node.uid}
        if "resourceVersion" in live:  # `_unblock` took it away: that was our own change
            exactly["resourceVersion"] = live["resourceVersion"]
        try:
            await self._client.delete(
                served.path(node.namespace, node.name), {"propagationPolicy": policy, "preconditions": exactly}
            )
        except Refusal as refusal:
            if not refusal.not_found:
                raise
            self.gone(node.uid)

    async def _drop_references(self, node: Node, served: Served, live: Object, uids: set[str]) -> None:
        """Take references to these owners off the object."""
        before: list[Any] = live.get("ownerReferences") or []
        kept = [reference for reference in before if reference.get("uid") not in uids]
        if len(kept) != len(before):
            await self._change(node, served, live, {"ownerReferences": kept or None})

    async def _unblock(self, node: Node, served: Served, live: Object) -> None:
        """Its references hold up no owner any more."""
        references = [{**reference, "blockOwnerDeletion": False} for reference in live.get("ownerReferences") or ()]
        changed = await self._change(node, served, live, {"ownerReferences": references})
        if changed is not None:
            live["resourceVersion"] = changed["resourceVersion"]

    async def _drop_finalizer(self, node: Node, served: Served, live: Object, finalizer: str) -> None:
        before: list[str] = live.get("finalizers") or []
        if finalizer in before:
            kept = [name for name in before if name != finalizer]
            await self._change(node, served, live, {"finalizers": kept or None})

    async def _change(self, node: Node, served: Served, live: Object, metadata: Object) -> Object | None:
        """Patch this version's metadata; None where the object is gone. Raises Refusal, for a conflict too."""
        patch = {"metadata": {**metadata, "resourceVersion": live["resourceVersion"]}}
        try:
            answer = await self._client.patch(served.path(node.namespace, node.name), patch)
        except Refusal as refusal:
            if refusal.not_found:
                self.gone(node.uid)
                return None
            raise
        changed: Object = answer["metadata"]
        return changed


def _policy(live: Object) -> str:
    """What becomes of the dependents of an object that is deleted: its own finalizers say, else they follow it."""
    finalizers = live.get("finalizers") or ()
    if ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in finalizers else "Background"
