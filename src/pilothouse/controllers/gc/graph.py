"""The graph of who owns whom, by uid, from the metadata of every object (Kubernetes docs, "Garbage Collection").

Pure: it is told of objects and says which of them need a closer look. Whether something may be deleted is decided
elsewhere, by asking the server; the graph may lag behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from sys import intern
from typing import Any, Final, NamedTuple

from pilothouse.controllers.resources import Served

Object = dict[str, Any]
ORPHAN: Final = "orphan"
FOREGROUND: Final = "foregroundDeletion"


class Reference(NamedTuple):
    """One entry of ownerReferences."""

    uid: str
    api_version: str
    kind: str
    name: str
    blocks: bool  # blockOwnerDeletion

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]


class Node:
    """One object. `served` None: known only from references to it; it keeps their place until it is seen."""

    __slots__ = ("deleting", "dependents", "foreground", "name", "namespace", "orphaning", "owners", "served", "uid")

    def __init__(self, uid: str) -> None:
        self.uid = uid
        self.served: Served | None = None
        self.namespace = ""
        self.name = ""
        self.owners: tuple[Reference, ...] = ()
        self.dependents: set[Node] | None = None
        self.deleting = False  # it has a deletionTimestamp
        self.foreground = False  # and waits for its dependents to go
        self.orphaning = False  # or to be let go

    def blockers(self) -> list[Node]:
        """Dependents that hold up its foreground deletion."""
        uid = self.uid
        return [
            dependent for dependent in self.dependents or ()
            if dependent is not self and any(owner.blocks and owner.uid == uid for owner in dependent.owners)
        ]  # fmt: skip

    def is_what(self, reference: Reference, namespace: str) -> bool:
        """Whether a reference from an object in `namespace` means this object: kind, name and place agree."""
        served = self.served
        return (
            served is not None
            and served.kind == reference.kind
            and served.group == reference.group
            and self.name == reference.name
            and (not served.namespaced or self.namespace == namespace)
        )


def references_of(metadata: Object) -> tuple[Reference, ...]:
    found = metadata.get("ownerReferences")
    if not found:
        return ()
    return tuple(
        Reference(
            intern(owner.get("uid", "")),
            intern(owner.get("apiVersion", "")),
            intern(owner.get("kind", "")),
            intern(owner.get("name", "")),
            bool(owner.get("blockOwnerDeletion")),
        )
        for owner in found
    )


class Graph:
    """`look`: this object may have to be deleted, or to be finished. `let_go`: its dependents shall be orphaned."""

    def __init__(self, look: Callable[[str], None], let_go: Callable[[str], None]) -> None:
        self._look = look
        self._let_go = let_go
        self._nodes: dict[str, Node] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def get(self, uid: str) -> Node | None:
        return self._nodes.get(uid)

    def of(self, served: Served) -> list[Node]:
        """All objects of a resource. Slow: it looks at every node."""
        return [node for node in self._nodes.values() if node.served is served]

    def put(self, served: Served, metadata: Object) -> Node:
        """An object as it is now."""
        uid = metadata["uid"]
        node = self._nodes.get(uid)
        if node is None:
            node = self._nodes[uid] = Node(uid)
        if node.served is None:
            self._seen(node, served, metadata)
        owners = references_of(metadata)
        if owners != node.owners:
            self._own(node, owners)
        if "deletionTimestamp" in metadata:
            self._marked(node, metadata.get("finalizers") or ())
        return node

    def _seen(self, node: Node, served: Served, metadata: Object) -> None:
        """For the first time. Who meant something else by this uid has a wrong reference, which must be looked at."""
        node.served = served
        node.namespace = intern(metadata.get("namespace") or "")  # many objects share it
        node.name = metadata["name"]
        for dependent in node.dependents or ():
            if not all(node.is_what(ref, dependent.namespace) for ref in dependent.owners if ref.uid == node.uid):
                self._look(dependent.uid)

    def _own(self, node: Node, owners: tuple[Reference, ...]) -> None:
        """It has these owners now. Owners that it does not hold up any more may have waited for that."""
        before, node.owners = node.owners, owners
        now = {owner.uid for owner in owners}
        blocked = {owner.uid for owner in owners if owner.blocks}
        for owner in before:
            if owner.uid not in now:
                self._part(node, owner.uid)
            if owner.blocks and owner.uid not in blocked:
                self._released(owner.uid)
        suspicious = False
        for owner in owners:
            other = self._nodes.get(owner.uid)
            if other is None:
                other = self._nodes[owner.uid] = Node(owner.uid)
            if other.dependents is None:
                other.dependents = set()
            other.dependents.add(node)
            suspicious = suspicious or not other.is_what(owner, node.namespace) or (other.deleting and other.foreground)
        if suspicious or len(owners) < len(before):
            self._look(node.uid)

    def _part(self, node: Node, owner: str) -> None:
        other = self._nodes.get(owner)
        if other is None or other.dependents is None:
            return
        other.dependents.discard(node)
        if not other.dependents:
            other.dependents = None
            if other.served is None:
                del self._nodes[owner]

    def _released(self, owner: str) -> None:
        other = self._nodes.get(owner)
        if other is not None and other.foreground:
            self._look(owner)

    def _marked(self, node: Node, finalizers: Iterable[str]) -> None:
        """It is being deleted. Looked at once for each thing that begins."""
        foreground, orphaning = FOREGROUND in finalizers, ORPHAN in finalizers
        node.deleting = True
        if foreground and not node.foreground:
            node.foreground = True
            for dependent in node.dependents or ():
                self._look(dependent.uid)
            self._look(node.uid)
        if orphaning and not node.orphaning:
            self._let_go(node.uid)
        node.foreground, node.orphaning = foreground, orphaning

    def remove(self, uid: str) -> bool:
        """It is gone. True where others depend on it: they are to be looked at."""
        node = self._nodes.get(uid)
        if node is None or node.served is None:
            return False
        owners, node.owners = node.owners, ()
        for owner in owners:
            self._part(node, owner.uid)
            self._released(owner.uid)
        node.served = None
        node.deleting = node.foreground = node.orphaning = False
        if node.dependents is None:
            del self._nodes[uid]
            return False
        for dependent in node.dependents:
            self._look(dependent.uid)
        return True

    def settled(self, node: Node) -> bool:
        """True where nothing has to be done: the graph knows all owners, and none waits for its end."""
        if node.foreground:
            return False
        return all(
            self.knows(reference, node) and not self._nodes[reference.uid].foreground for reference in node.owners
        )

    def knows(self, reference: Reference, node: Node) -> bool:
        """Whether the owner that `node` refers to was seen, and not only heard of."""
        owner = self._nodes.get(reference.uid)
        return owner is not None and owner.is_what(reference, node.namespace)
