"""NodeRestriction: a node's agent changes its own objects only, and not what decides which pods come to it (Kubernetes
documentation, "Using Node Authorization").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pilothouse.admission.optional.nodelabels import forbidden_labels
from pilothouse.admission.optional.nodepods import refused_mirror
from pilothouse.admission.plugin import CREATE, DELETE, UPDATE, Attributes
from pilothouse.admission.refusals import refuse
from pilothouse.registry.request import Caller
from pilothouse.registry.resource import Object, Resource

_GROUP: Final = "system:nodes"
_PREFIX: Final = "system:node:"
_LEASES: Final = "kube-node-lease"


def node_of(caller: Caller) -> str:
    """The name of the node that asks; "" for everybody else."""
    if caller.name.startswith(_PREFIX) and _GROUP in caller.groups:
        return caller.name.removeprefix(_PREFIX)
    return ""


class NodeRestriction:
    name = "NodeRestriction"

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) in _RULES and operation in (CREATE, UPDATE, DELETE)

    async def admit(self, attributes: Attributes) -> None:
        """Looked at with the mutating plug-ins, before anything that the node may not do has an effect."""
        self._look(attributes)

    async def check(self, attributes: Attributes) -> None:
        """Deletes have no mutating step."""
        if attributes.operation == DELETE:
            self._look(attributes)

    def _look(self, attributes: Attributes) -> None:
        node = node_of(attributes.write.caller)
        if not node:
            return
        why = _RULES[attributes.resource.group, attributes.resource.plural](node, attributes)
        if why:
            raise refuse(attributes, why)


def _spec(obj: Object | None) -> dict[str, Any]:
    return (obj or {}).get("spec") or {}


def _metadata(obj: Object | None) -> dict[str, Any]:
    return (obj or {}).get("metadata") or {}


def _pods(node: str, attributes: Attributes) -> str:
    here = _spec(attributes.old).get("nodeName") == node
    if attributes.write.subresource == "status":
        if not here:
            return f'node "{node}" can only update pod status for pods with spec.nodeName set to itself'
        if (_metadata(attributes.obj).get("labels") or {}) != (_metadata(attributes.old).get("labels") or {}):
            return f'node "{node}" cannot update labels through pod status'
        return ""
    if attributes.write.subresource:
        return f'unexpected pod subresource "{attributes.write.subresource}", only "status" and "eviction" are allowed'
    if attributes.operation == CREATE:
        return refused_mirror(node, attributes.obj or {})
    if attributes.operation == DELETE:
        return "" if here else f'node "{node}" can only delete pods with spec.nodeName set to itself'
    return f'unexpected operation "{attributes.operation}", node "{node}" can only create and delete mirror pods'


def _nodes(node: str, attributes: Attributes) -> str:
    name = attributes.write.name or _metadata(attributes.obj).get("name", "")
    if name != node:
        return f'node "{node}" is not allowed to modify node "{name}"'
    new, old = _metadata(attributes.obj), _metadata(attributes.old)
    labels = forbidden_labels(new.get("labels") or {}, old.get("labels") or {})
    if attributes.operation == CREATE:
        told = ", ".join(labels)
        return f'node "{node}" is not allowed to set the following labels: {told}' if labels else ""
    if attributes.operation == DELETE:
        return ""
    if (_spec(attributes.obj).get("taints") or []) != (_spec(attributes.old).get("taints") or []):
        return f'node "{node}" is not allowed to modify taints'
    if labels:
        return f"is not allowed to modify labels: {', '.join(labels)}"
    if (new.get("ownerReferences") or []) != (old.get("ownerReferences") or []):
        return f'node "{node}" is not allowed to modify ownerReferences'
    return ""


def _leases(node: str, attributes: Attributes) -> str:
    if attributes.write.namespace != _LEASES:
        return f'can only access leases in the "{_LEASES}" system namespace'
    return _own_name(node, attributes, "node lease")


def _csi_nodes(node: str, attributes: Attributes) -> str:
    return _own_name(node, attributes, "CSINode")


def _own_name(node: str, attributes: Attributes, what: str) -> str:
    name = attributes.write.name or _metadata(attributes.obj).get("name", "")
    return "" if name == node else f"can only access {what} with the same name as the requesting node"


def _slices(node: str, attributes: Attributes) -> str:
    verb = "delete" if attributes.operation == DELETE else "create"
    held = attributes.old if attributes.operation == DELETE else attributes.obj
    if attributes.operation == UPDATE or _spec(held).get("nodeName") == node:
        return ""
    return f"can only {verb} ResourceSlice with the same NodeName as the requesting node"


_RULES: Final[dict[tuple[str, str], Callable[[str, Attributes], str]]] = {
    ("", "pods"): _pods,
    ("", "nodes"): _nodes,
    ("coordination.k8s.io", "leases"): _leases,
    ("storage.k8s.io", "csinodes"): _csi_nodes,
    ("resource.k8s.io", "resourceslices"): _slices,
}
