"""The Node authorizer: a node reads what its pods need and writes what is its own.

Kinds of `_ASKED` are decided here alone. For all others, and where such a function has nothing to say, the rules of the
role system:node count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pilothouse.auth.attributes import Attributes, Decision, Rules
from pilothouse.auth.node.graph import NodeGraph
from pilothouse.auth.rbac.rules import Grants
from pilothouse.auth.usernames import NODE_PREFIX, is_node
from pilothouse.machinery.goquote import quote
from pilothouse.registry.request import Caller

_READING: Final = frozenset({"get", "list", "watch"})
_OWN: Final = frozenset({"get", "create", "update", "patch", "delete"})
_LEASES: Final = "kube-node-lease"
_ALLOWED: Final = (Decision.ALLOW, "")
Answer = tuple[Decision, str]


def _no(why: str) -> Answer:
    return Decision.NO_OPINION, why


class NodeAuthorizer:
    """`graph`: what belongs to which node. `grants`: the rules of system:node."""

    def __init__(self, graph: NodeGraph, grants: Grants) -> None:
        self._graph = graph
        self._grants = grants

    def authorize(self, attributes: Attributes) -> Answer:
        if not is_node(attributes.caller):
            return _no("")
        node = attributes.caller.name.removeprefix(NODE_PREFIX)
        if not node:
            return _no(f"unknown node for user {quote(attributes.caller.name)}")
        if not attributes.is_resource:
            allowed = self._grants.allow_path(attributes.verb, attributes.path)
            return _ALLOWED if allowed else _no("")
        asked = _ASKED.get((attributes.group, attributes.resource))
        if asked is not None:
            answer = asked(self._graph, node, attributes)
            if answer is not None:
                return answer
        allowed = self._grants.allow(
            attributes.verb, attributes.group, attributes.resource, attributes.subresource, attributes.name
        )
        return _ALLOWED if allowed else _no("")

    def rules(self, caller: Caller, namespace: str) -> Rules:
        if not is_node(caller):
            return Rules()
        return Rules(incomplete=True, errors=("node authorizer does not support user rule resolution",))


def _related(graph: NodeGraph, node: str, asked: Attributes) -> Answer:
    """Whether the node has to do with the object that is named."""
    if not asked.name:
        return _no("No Object name found")
    if graph.related(node, asked.resource, asked.namespace, asked.name):
        return _ALLOWED
    return _no(f"no relationship found between node '{node}' and this object")


def _read_only(graph: NodeGraph, node: str, asked: Attributes) -> Answer | None:
    """Secrets and config maps."""
    if asked.verb not in _READING:
        return _no("can only read resources of this type")
    if asked.subresource:
        return _no("cannot read subresource")
    if not asked.namespace:
        return _no("can only read namespaced object of this type")
    return _related(graph, node, asked)


def _get_only(graph: NodeGraph, node: str, asked: Attributes) -> Answer | None:
    """Volumes, attachments and claims of devices."""
    if asked.verb != "get":
        return _no("can only get individual resources of this type")
    if asked.subresource:
        return _no("cannot get subresource")
    return _related(graph, node, asked)


def _claim(graph: NodeGraph, node: str, asked: Attributes) -> Answer | None:
    if asked.subresource != "status":
        return _get_only(graph, node, asked)
    if asked.verb not in ("get", "update", "patch"):
        return _no("can only get/update/patch this type")
    return _related(graph, node, asked)


def _account(graph: NodeGraph, node: str, asked: Attributes) -> Answer | None:
    if asked.verb == "get" and not asked.subresource:
        return _related(graph, node, asked)
    if asked.verb != "create" or asked.subresource != "token":
        return _no("can only create tokens for individual service accounts")
    return _related(graph, node, asked)


def _lease(graph: NodeGraph, node: str, asked: Attributes) -> Answer | None:
    if asked.verb not in _OWN:
        return _no("can only get, create, update, patch, or delete a node lease")
    if asked.namespace != _LEASES:
        return _no(f"can only access leases in the {quote(_LEASES)} system namespace")
    if asked.verb != "create" and asked.name != node:
        return _no("can only access node lease with the same name as the requesting node")
    return _ALLOWED


def _csi_node(graph: NodeGraph, node: str, asked: Attributes) -> Answer | None:
    if asked.subresource:
        return _no("cannot authorize CSINode subresources")
    if asked.verb not in _OWN:
        return _no("can only get, create, update, patch, or delete a CSINode")
    if asked.verb != "create" and asked.name != node:
        return _no("can only access CSINode with the same name as the requesting node")
    return _ALLOWED


def _node(graph: NodeGraph, node: str, asked: Attributes) -> Answer | None:
    if asked.verb not in _READING or asked.subresource:
        return None
    if asked.name == node:
        return _ALLOWED
    if not asked.name:
        return _no(f"node '{node}' cannot read all nodes, only its own Node object")
    return _no(f"node '{node}' cannot read '{asked.name}', only its own Node object")


def _pod(graph: NodeGraph, node: str, asked: Attributes) -> Answer | None:
    if asked.subresource or asked.verb not in _READING:
        return None
    if asked.verb == "get" or asked.name:
        return _related(graph, node, asked)
    if _selects(asked, "spec.nodeName", node):
        return _ALLOWED
    return _no("can only list/watch pods with spec.nodeName field selector")


def _slice(graph: NodeGraph, node: str, asked: Attributes) -> Answer | None:
    if asked.subresource:
        return _no("cannot authorize ResourceSlice subresources")
    if asked.verb == "create":
        return _ALLOWED
    if asked.verb in ("get", "update", "patch", "delete"):
        return _related(graph, node, asked)
    if asked.verb in ("list", "watch", "deletecollection"):
        if _selects(asked, "spec.nodeName", node):
            return _ALLOWED
        return _no("can only list/watch/deletecollection resourceslices with nodeName field selector")
    return _no(
        "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete"
    )


def _pod_certificate(graph: NodeGraph, node: str, asked: Attributes) -> Answer | None:
    if asked.subresource:
        return _no("nodes may not access the podcertificaterequests subresources")
    if asked.verb == "create":
        return _ALLOWED
    if asked.verb == "get":
        return _related(graph, node, asked)
    if asked.verb in ("list", "watch"):
        if _selects(asked, "spec.nodeName", node):
            return _ALLOWED
        return _no("can only list/watch podcertificaterequests with nodeName field selector")
    return _no("only the following verbs are allowed for a PodCertificateRequest: get, list, watch, create")


def _selects(asked: Attributes, label: str, node: str) -> bool:
    return asked.field_selector is not None and asked.field_selector.exact(label) == node


_ASKED: Final[dict[tuple[str, str], Callable[[NodeGraph, str, Attributes], Answer | None]]] = {
    ("", "secrets"): _read_only,
    ("", "configmaps"): _read_only,
    ("", "persistentvolumes"): _get_only,
    ("", "persistentvolumeclaims"): _claim,
    ("", "serviceaccounts"): _account,
    ("", "nodes"): _node,
    ("", "pods"): _pod,
    ("resource.k8s.io", "resourceclaims"): _get_only,
    ("resource.k8s.io", "resourceslices"): _slice,
    ("storage.k8s.io", "volumeattachments"): _get_only,
    ("storage.k8s.io", "csinodes"): _csi_node,
    ("coordination.k8s.io", "leases"): _lease,
    ("certificates.k8s.io", "podcertificaterequests"): _pod_certificate,
}
