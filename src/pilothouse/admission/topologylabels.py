"""PodTopologyLabels: a pod that comes with its node carries the labels that say where that node is."""

from __future__ import annotations

from typing import Final

from pilothouse.admission.lookups import Reader
from pilothouse.admission.plugin import CREATE, Attributes
from pilothouse.registry.resource import Object, Resource

TOPOLOGY: Final = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


def topology_of(node: Object | None) -> dict[str, str]:
    """The labels of a node that its pods share."""
    labels = ((node or {}).get("metadata") or {}).get("labels") or {}
    return {key: labels[key] for key in TOPOLOGY if key in labels}


class PodTopologyLabels:
    """`nodes` reads the nodes. What a Binding copies is the matter of pods/binding, which asks `topology_of`."""

    name = "PodTopologyLabels"

    def __init__(self, nodes: Reader) -> None:
        self._nodes = nodes

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) == ("", "pods") and operation == CREATE

    async def admit(self, attributes: Attributes) -> None:
        obj = attributes.obj
        if obj is None or attributes.write.subresource:
            return
        name = (obj.get("spec") or {}).get("nodeName", "")
        if not name:
            return
        found = topology_of(await self._nodes.get("", name))
        if found:
            metadata = obj.setdefault("metadata", {})
            metadata["labels"] = {**(metadata.get("labels") or {}), **found}
