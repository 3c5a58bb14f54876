"""The flow schemas and priority levels that every server has, as the table of a fresh one shows them.

Two of each are mandatory, the rest is a suggestion that administrators may change or turn off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

Object = dict[str, Any]

MANDATORY: Final = frozenset({"exempt", "catch-all"})
_EVERYONE: Final = ("system:unauthenticated", "system:authenticated")
_EVERYTHING: Final = (["*"], ["*"], ["*"], True)
_LEASES: Final = ["coordination.k8s.io"], ["leases"]

# Name -> shares, percentage that may be lent, and queues, hand size and length of a queue where requests wait.
_LIMITED: Final[dict[str, tuple[int, int, tuple[int, int, int] | None]]] = {
    "catch-all": (5, 0, None),
    "system": (30, 33, (64, 6, 50)),
    "node-high": (40, 25, (64, 6, 50)),
    "leader-election": (10, 0, (16, 4, 50)),
    "workload-high": (40, 50, (128, 6, 50)),
    "workload-low": (100, 90, (128, 6, 50)),
    "global-default": (20, 50, (128, 6, 50)),
}


def _limited(shares: int, lendable: int, queuing: tuple[int, int, int] | None) -> Object:
    response: Object = {"type": "Reject"}
    if queuing is not None:
        queues, hand, length = queuing
        response = {"type": "Queue", "queuing": {"queues": queues, "handSize": hand, "queueLengthLimit": length}}
    limited = {"nominalConcurrencyShares": shares, "limitResponse": response, "lendablePercent": lendable}
    return {"type": "Limited", "limited": limited}


def levels() -> dict[str, Object]:
    """Specs of the priority levels by name; the caller's to keep."""
    exempt = {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}}
    return {"exempt": exempt, **{name: _limited(*row) for name, row in _LIMITED.items()}}


def _group(name: str) -> Object:
    return {"kind": "Group", "group": {"name": name}}


def _user(name: str) -> Object:
    return {"kind": "User", "user": {"name": name}}


def _accounts_of(namespace: str) -> Object:
    return {"kind": "ServiceAccount", "serviceAccount": {"namespace": namespace, "name": "*"}}


def _resources(verbs: Sequence[str], groups: Sequence[str], resources: Sequence[str], cluster: bool) -> Object:
    made: Object = {"verbs": list(verbs), "apiGroups": list(groups), "resources": list(resources)}
    if cluster:
        made["clusterScope"] = True
    return {**made, "namespaces": ["*"]}


def _paths(verbs: Sequence[str], *paths: str) -> Object:
    return {"verbs": list(verbs), "nonResourceURLs": list(paths)}


def _schema(level: str, precedence: int, by: str, subjects: list[Object], rules: Object) -> Object:
    made: Object = {"priorityLevelConfiguration": {"name": level}, "matchingPrecedence": precedence}
    if by:
        made["distinguisherMethod"] = {"type": by}
    return {**made, "rules": [{"subjects": subjects, **rules}]}


def schemas() -> dict[str, Object]:
    """Specs of the flow schemas by name; the caller's to keep."""
    everyone = [_group(name) for name in _EVERYONE]
    everything: Object = {"resourceRules": [_resources(*_EVERYTHING)], "nonResourceRules": [_paths(["*"], "*")]}
    probes: Object = {"nonResourceRules": [_paths(["get"], "/healthz", "/readyz", "/livez")]}
    leases: Object = {"resourceRules": [_resources(["get", "create", "update"], *_LEASES, False)]}
    of_nodes: Object = {
        "resourceRules": [_resources(["*"], [""], ["nodes", "nodes/status"], True), _resources(["*"], *_LEASES, False)]
    }
    manager, scheduler = _user("system:kube-controller-manager"), _user("system:kube-scheduler")
    system, nodes = _accounts_of("kube-system"), [_group("system:nodes")]
    services = [_group("system:serviceaccounts")]
    return {
        "exempt": _schema("exempt", 1, "", [_group("system:masters")], everything),
        "probes": _schema("exempt", 2, "", everyone, probes),
        "system-leader-election": _schema("leader-election", 100, "ByUser", [manager, scheduler, system], leases),
        "system-node-high": _schema("node-high", 400, "ByUser", nodes, of_nodes),
        "system-nodes": _schema("system", 500, "ByUser", nodes, everything),
        "kube-controller-manager": _schema("workload-high", 800, "ByNamespace", [manager], everything),
        "kube-scheduler": _schema("workload-high", 800, "ByNamespace", [scheduler], everything),
        "kube-system-service-accounts": _schema("workload-high", 900, "ByNamespace", [system], everything),
        "service-accounts": _schema("workload-low", 9000, "ByUser", services, everything),
        "global-default": _schema("global-default", 9900, "ByUser", everyone, everything),
        "catch-all": _schema("catch-all", 10000, "ByUser", everyone, everything),
    }
