"""Which owners of an object exist, asked from the server: the graph may be wrong, and a delete is for good."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final

from pilothouse.controllers.client import METADATA, LoopbackClient, Refusal
from pilothouse.controllers.events import Recorder, Regarding
from pilothouse.controllers.gc.graph import FOREGROUND, Graph, Node, Object, Reference
from pilothouse.controllers.resources import Discovery, Served
from pilothouse.controllers.workqueue import Later

INVALID_NAMESPACE: Final = "OwnerRefInvalidNamespace"
_REMEMBERED: Final = 4096


class UnknownKind(Later):
    """An owner is of a kind that is not served, so nobody can say whether it is there."""


class Unresolvable(Exception):
    """A cluster-scoped object names an owner inside a namespace: it is never deleted on that ground."""


class Absent:
    """Owners that are known not to exist. A uid never comes back, so that stays true; the oldest are forgotten."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, None] = OrderedDict()

    def add(self, key: Hashable) -> None:
        self._known[key] = None
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._known


@dataclass(slots=True)
class Owners:
    """References by what became of their owners."""

    solid: list[Reference] = field(default_factory=list)
    dangling: list[Reference] = field(default_factory=list)
    waiting: list[Reference] = field(default_factory=list)  # for their dependents to go


class OwnerCheck:
    """Asks for owners. What is absent is remembered."""

    def __init__(self, client: LoopbackClient, discovery: Discovery, graph: Graph, events: Recorder) -> None:
        self._client = client
        self._discovery = discovery
        self._graph = graph
        self._events = events
        self.absent = Absent()

    async def sort(self, node: Node, references: Sequence[Reference]) -> Owners:
        """Raises UnknownKind, Unresolvable, Refusal."""
        found = Owners()
        for reference in references:
            owner = await self._owner(node, reference)
            if owner is None:
                found.dangling.append(reference)
            elif "deletionTimestamp" in owner and FOREGROUND in (owner.get("finalizers") or ()):
                found.waiting.append(reference)
            else:
                found.solid.append(reference)
        return found

    async def _owner(self, node: Node, reference: Reference) -> Object | None:
        """Metadata of the owner; None where it is not there, in the object's own namespace or cluster-wide."""
        key = (reference, node.namespace)
        known = reference.uid in self.absent or key in self.absent
        if known and node.namespace:
            return None
        served = await self._discovery.find(reference.api_version, reference.kind)
        if served is None:
            raise UnknownKind(f'no kind "{reference.kind}" in "{reference.api_version}"')
        if served.namespaced and not node.namespace:
            await self._report(node, reference)
            raise Unresolvable
        if known:
            return None
        metadata = await self._metadata(served, node.namespace, reference.name)
        if metadata is not None and metadata.get("uid") == reference.uid:
            return metadata
        self.absent.add(key)
        elsewhere = self._graph.get(reference.uid)
        if elsewhere is not None and elsewhere.served is not None and elsewhere.namespace != node.namespace:
            await self._report(node, reference)
        return None

    async def _metadata(self, served: Served, namespace: str, name: str) -> Object | None:
        try:
            found = await self._client.get(served.path(namespace, name), accept=METADATA)
        except Refusal as refusal:
            if refusal.not_found:
                return None
            raise
        metadata: Object = found["metadata"]
        return metadata

    async def _report(self, node: Node, reference: Reference) -> None:
        served = node.served
        if served is None:
            return
        about = Regarding(served.api_version, served.kind, node.namespace, node.name, node.uid)
        owner = (
            f"[{reference.api_version}/{reference.kind}, namespace: {node.namespace}, name: {reference.name}, "
            f"uid: {reference.uid}]"
        )
        text = f'ownerRef {owner} does not exist in namespace "{node.namespace}"'
        await self._events.warn(about, INVALID_NAMESPACE, text)
