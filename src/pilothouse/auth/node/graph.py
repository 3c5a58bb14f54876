"""Which objects each node has to do with: through its pods, their claims and the volumes of those, and by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from pilothouse.auth.node.references import CLAIMS, Reference, pod_references, volume_secrets

Object = Mapping[str, Any]
Name = tuple[str, str]  # namespace ("" for none) and name


class NodeGraph:
    """Fed with each change of what it follows. `wake` is called with every question until `awake`: nobody follows pods
    before some node asks.
    """

    def __init__(self) -> None:
        self._wake: Callable[[], None] | None = None
        self._pods: dict[Name, tuple[str, frozenset[Reference]]] = {}
        self._used: dict[str, Counter[Reference]] = {}  # of each node, by how many of its pods
        self._claims: dict[str, Reference] = {}  # volume -> its claim
        self._secrets: dict[str, frozenset[Reference]] = {}  # volume -> the secrets that it names
        self._by_secret: dict[Reference, set[str]] = {}  # secret -> volumes
        self._nodes: dict[tuple[str, str, str], str] = {}  # objects that name their node: resource, namespace, name

    def wakes(self, wake: Callable[[], None]) -> None:
        """`wake` is called at the first question."""
        self._wake = wake

    def related(self, node: str, resource: str, namespace: str, name: str) -> bool:
        """Whether the node has to do with the object."""
        if self._wake is not None:
            self._wake()
            self._wake = None
        if resource == "pods":
            return self._pods.get((namespace, name), ("",))[0] == node
        if resource == "persistentvolumes":
            return self._uses_volume(node, name)
        if (resource, namespace, name) in self._nodes:
            return self._nodes[resource, namespace, name] == node
        wanted = (resource, namespace, name)
        if self._uses(node, wanted):
            return True
        return any(self._uses_volume(node, volume) for volume in self._by_secret.get(wanted, ()))

    def _uses_volume(self, node: str, volume: str) -> bool:
        claim = self._claims.get(volume)
        return claim is not None and self._uses(node, claim)

    def _uses(self, node: str, wanted: Reference) -> bool:
        used = self._used.get(node)
        return used is not None and wanted in used

    def knows_pod(self, namespace: str, name: str) -> bool:
        return (namespace, name) in self._pods

    def set_pod(self, namespace: str, name: str, pod: Object | None) -> None:
        """A pod is new, changed or (None) gone. One without a node concerns nobody."""
        old = self._pods.pop((namespace, name), None)
        if old is not None:
            node, references = old
            used = self._used[node]
            used.subtract(references)
            for reference in references:
                if used[reference] <= 0:
                    del used[reference]
            if not used:
                del self._used[node]
        node = ((pod or {}).get("spec") or {}).get("nodeName") or ""
        if pod is not None and node:
            references = pod_references(pod)
            self._pods[namespace, name] = (node, references)
            self._used.setdefault(node, Counter()).update(references)

    def set_volume(self, namespace: str, name: str, volume: Object | None) -> None:
        """A persistent volume is new, changed or (None) gone."""
        self._claims.pop(name, None)
        for secret in self._secrets.pop(name, ()):
            self._by_secret[secret].discard(name)
            if not self._by_secret[secret]:
                del self._by_secret[secret]
        if volume is None:
            return
        claim = (volume.get("spec") or {}).get("claimRef")
        if claim:
            self._claims[name] = (CLAIMS, claim.get("namespace", ""), claim.get("name", ""))
        self._secrets[name] = volume_secrets(volume)
        for secret in self._secrets[name]:
            self._by_secret.setdefault(secret, set()).add(name)

    def named_by(self, resource: str) -> Callable[[str, str, Object | None], None]:
        """Takes the changes of a kind whose objects name their node (`spec.nodeName`)."""

        def take(namespace: str, name: str, obj: Object | None) -> None:
            node = ((obj or {}).get("spec") or {}).get("nodeName")
            if node:
                self._nodes[resource, namespace, name] = node
            else:
                self._nodes.pop((resource, namespace, name), None)

        return take
