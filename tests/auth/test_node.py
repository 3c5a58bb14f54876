"""What nodes may do, and what they are told."""

from __future__ import annotations

from typing import Any

import pytest
from asked import ALLOW, NO_OPINION, caller, resource, role, rule

from pilothouse.auth.node.authorizer import NodeAuthorizer
from pilothouse.auth.node.graph import NodeGraph
from pilothouse.auth.rbac.rules import Grants

NODE = caller("system:node:n1", "system:nodes")
OTHER = caller("system:node:n2", "system:nodes")
RIGHTS = Grants(role(rule("get list watch", "services"), rule("create get", "nodes"), rule("patch", "nodes/status")))


def authorizer(graph: NodeGraph | None = None) -> NodeAuthorizer:
    return NodeAuthorizer(graph or NodeGraph(), RIGHTS)


def pod(node: str = "n1", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "web", "namespace": "ns"}, "spec": {"nodeName": node, **spec}}


def test_only_nodes_are_heard() -> None:
    asked = resource(caller("n1", "system:nodes"), "get", "nodes", "n1")
    assert authorizer().authorize(asked) == (NO_OPINION, "")
    assert authorizer().authorize(resource(caller("system:node:n1"), "get", "nodes", "n1")) == (NO_OPINION, "")
    nameless = resource(caller("system:node:", "system:nodes"), "get", "nodes", "n1")
    assert authorizer().authorize(nameless) == (NO_OPINION, 'unknown node for user "system:node:"')


@pytest.mark.parametrize(
    ("verb", "what", "name", "namespace", "fields", "answer"),
    [
        ("get", "nodes", "n1", "", "", None),
        ("get", "nodes", "n2", "", "", "node 'n1' cannot read 'n2', only its own Node object"),
        ("list", "nodes", "", "", "", "node 'n1' cannot read all nodes, only its own Node object"),
        ("patch", "nodes/status", "n2", "", "", None),
        ("delete", "nodes", "n1", "", "", ""),
        ("list", "pods", "", "", "", "can only list/watch pods with spec.nodeName field selector"),
        ("list", "pods", "", "", "spec.nodeName=n1", None),
        ("list", "pods", "", "", "spec.nodeName=n2", "can only list/watch pods with spec.nodeName field selector"),
        ("get", "csinodes.storage.k8s.io", "n1", "", "", None),
        (
            "get", "csinodes.storage.k8s.io", "n2", "", "",
            "can only access CSINode with the same name as the requesting node",
        ),
        ("update", "leases.coordination.k8s.io", "n1", "kube-node-lease", "", None),
        (
            "get", "leases.coordination.k8s.io", "n2", "kube-node-lease", "",
            "can only access node lease with the same name as the requesting node",
        ),
        (
            "get", "leases.coordination.k8s.io", "n1", "default", "",
            'can only access leases in the "kube-node-lease" system namespace',
        ),
        ("create", "configmaps", "", "ns", "", "can only read resources of this type"),
        ("list", "secrets", "", "ns", "", "No Object name found"),
        ("list", "persistentvolumes", "", "", "", "can only get individual resources of this type"),
        ("list", "services", "", "", "", None),
        ("create", "deployments.apps", "", "ns", "", ""),
    ],
)  # fmt: skip
def test_what_is_a_nodes_own(verb: str, what: str, name: str, namespace: str, fields: str, answer: str | None) -> None:
    asked = resource(NODE, verb, what, name, namespace=namespace, fields=fields)
    expected = (ALLOW, "") if answer is None else (NO_OPINION, answer)
    assert authorizer().authorize(asked) == expected


PROJECTED = {"sources": [{"secret": {"name": "projected"}}, {"configMap": {"name": "also"}}]}
USES = pod(
    imagePullSecrets=[{"name": "pull"}],
    serviceAccountName="robot",
    volumes=[
        {"name": "s", "secret": {"secretName": "mounted"}},
        {"name": "c", "configMap": {"name": "files"}},
        {"name": "p", "projected": PROJECTED},
        {"name": "d", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "e", "ephemeral": {"volumeClaimTemplate": {}}},
    ],
    initContainers=[{"name": "i", "envFrom": [{"secretRef": {"name": "first"}}]}],
    containers=[
        {
            "name": "c",
            "envFrom": [{"configMapRef": {"name": "env"}}],
            "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "key", "key": "k"}}}],
        }
    ],
    resourceClaims=[{"name": "gpu", "resourceClaimName": "claimed"}],
)


@pytest.mark.parametrize(
    ("what", "name"),
    [
        *(("secrets", name) for name in ("pull", "mounted", "projected", "first", "key")),
        *(("configmaps", name) for name in ("files", "also", "env")),
        *(("persistentvolumeclaims", name) for name in ("data", "web-e")),
        ("resourceclaims.resource.k8s.io", "claimed"),
        ("serviceaccounts", "robot"),
        ("pods", "web"),
    ],
)
def test_a_node_reads_what_its_pods_name(what: str, name: str) -> None:
    graph = NodeGraph()
    node = authorizer(graph)
    asked, elsewhere = (resource(who, "get", what, name, namespace="ns") for who in (NODE, OTHER))
    missing = "no relationship found between node 'n1' and this object"
    assert node.authorize(asked) == (NO_OPINION, missing)
    graph.set_pod("ns", "web", USES)
    assert node.authorize(asked)[0] is ALLOW
    assert node.authorize(elsewhere)[0] is NO_OPINION
    graph.set_pod("ns", "web", None)
    assert node.authorize(asked) == (NO_OPINION, missing)


def test_what_two_pods_name_stays_open_until_both_are_gone() -> None:
    graph = NodeGraph()
    volumes = [{"name": "s", "secret": {"secretName": "a"}}]
    graph.set_pod("ns", "one", pod(volumes=volumes))
    graph.set_pod("ns", "two", pod(volumes=volumes))
    graph.set_pod("ns", "one", None)
    assert graph.related("n1", "secrets", "ns", "a")
    graph.set_pod("ns", "two", pod("n2", volumes=volumes))
    assert not graph.related("n1", "secrets", "ns", "a")
    assert graph.related("n2", "secrets", "ns", "a")


def test_a_mirror_pod_opens_nothing() -> None:
    graph = NodeGraph()
    mirror = pod(volumes=[{"name": "s", "secret": {"secretName": "a"}}])
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    graph.set_pod("ns", "web", mirror)
    assert graph.related("n1", "pods", "ns", "web")
    assert not graph.related("n1", "secrets", "ns", "a")


def test_volumes_are_reached_through_claims_and_secrets_through_volumes() -> None:
    graph = NodeGraph()
    claim = {"namespace": "ns", "name": "data"}
    secret = {"name": "csi", "namespace": "drivers"}
    graph.set_volume("", "pv", {"spec": {"claimRef": claim, "csi": {"nodeStageSecretRef": secret}}})
    assert not graph.related("n1", "persistentvolumes", "", "pv")
    graph.set_pod("ns", "web", USES)
    assert graph.related("n1", "persistentvolumes", "", "pv")
    assert graph.related("n1", "secrets", "drivers", "csi")
    graph.set_volume("", "pv", None)
    assert not graph.related("n1", "secrets", "drivers", "csi")


def test_attachments_name_their_node() -> None:
    graph = NodeGraph()
    take = graph.named_by("volumeattachments")
    take("", "va", {"spec": {"nodeName": "n1"}})
    asked = resource(NODE, "get", "volumeattachments.storage.k8s.io", "va")
    assert authorizer(graph).authorize(asked)[0] is ALLOW
    take("", "va", None)
    assert authorizer(graph).authorize(asked)[0] is NO_OPINION


def test_pods_are_not_looked_at_before_a_node_asks() -> None:
    woken: list[bool] = []
    graph = NodeGraph()
    graph.wakes(lambda: woken.append(True))
    node = authorizer(graph)
    node.authorize(resource(NODE, "get", "nodes", "n1"))
    assert not woken
    for _ in range(2):
        node.authorize(resource(NODE, "get", "secrets", "a", namespace="ns"))
    assert woken == [True]


def test_a_nodes_rules_cannot_be_listed() -> None:
    found = authorizer().rules(NODE, "ns")
    assert found.incomplete
    assert found.errors == ("node authorizer does not support user rule resolution",)
    assert not authorizer().rules(caller("bob"), "ns").incomplete
