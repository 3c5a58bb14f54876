"""Errands of kubectl that ask several kinds at once: exposing, autoscaling, draining, tokens, rights, kustomize."""

from __future__ import annotations

import json
import os
import re

from support.api import Api
from support.commands import Shell

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "berth-7"}}
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: boat
  labels:
    app: boat
spec:
  nodeName: berth-7
  terminationGracePeriodSeconds: 0
  containers:
  - name: boat
    image: registry.example/boat:1.0
"""
KUSTOMIZATION = """\
namePrefix: blue-
configMapGenerator:
- name: colours
  literals:
  - hull=blue
"""


def test_a_deployment_is_exposed_and_scaled_by_itself(home: Shell) -> None:
    home.kubectl("create", "deployment", "web", "--image=registry.example/web:1.0", "--port=80")
    assert home.kubectl("expose", "deployment", "web", "--target-port=8080").out == "service/web exposed\n"
    address = home.kubectl("get", "service", "web", "-o", "jsonpath={.spec.clusterIP} {.spec.ports[0].targetPort}").out
    assert re.fullmatch(r"10\.0\.0\.\d+ 8080", address)
    assert "autoscaled" in home.kubectl("autoscale", "deployment", "web", "--min=2", "--max=5", "--cpu=50%").out
    assert re.search(r"^web +Deployment/web +cpu: <unknown>/50% +2 +5 ", home.kubectl("get", "hpa").out, re.MULTILINE)


def test_a_node_is_cordoned_drained_and_tainted(home: Shell, caller: Api) -> None:
    assert caller.post("/api/v1/nodes", NODE).status == 201
    home.kubectl("create", "serviceaccount", "default", code=None)  # the controller may have been quicker
    home.kubectl("create", "-f", "-", given=POD)
    assert home.kubectl("cordon", "berth-7").out == "node/berth-7 cordoned\n"
    assert "SchedulingDisabled" in home.kubectl("get", "node", "berth-7").out
    drained = home.kubectl("drain", "berth-7", "--force", "--timeout=20s")
    assert f"evicting pod {home.namespace}/boat" in drained.out
    assert home.kubectl("get", "pods", "-o", "name").out == ""
    assert home.kubectl("taint", "node", "berth-7", "tide=low:NoSchedule").out == "node/berth-7 tainted\n"
    home.kubectl("uncordon", "berth-7")
    taints = home.kubectl("get", "node", "berth-7", "-o", "jsonpath={.spec.taints[*].key}").out.split()
    assert "tide" in taints
    home.kubectl("delete", "node", "berth-7")


def test_a_disruption_budget_holds_a_pod(home: Shell, caller: Api) -> None:
    home.kubectl("create", "serviceaccount", "default", code=None)  # the controller may have been quicker
    home.kubectl("create", "-f", "-", given=POD)
    pods = f"/api/v1/namespaces/{home.namespace}/pods/boat"
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    assert caller.patch(f"{pods}/status", {"status": ready}).status == 200
    home.kubectl("create", "poddisruptionbudget", "all", "--selector=app=boat", "--min-available=1")
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "boat"}}
    assert caller.post(f"{pods}/eviction", eviction).status == 429
    assert home.kubectl("get", "pods", "-o", "name").out == "pod/boat\n"


def test_a_token_says_who_asks(home: Shell) -> None:
    home.kubectl("create", "serviceaccount", "keeper")
    token = home.kubectl("create", "token", "keeper", "--duration=1h").out.strip()
    assert token.count(".") == 2
    asked = json.loads(home.kubectl("auth", "whoami", "-o", "json").out)
    assert "system:masters" in asked["status"]["userInfo"]["groups"]
    keeper = f"system:serviceaccount:{home.namespace}:keeper"
    asked = json.loads(home.kubectl("auth", "whoami", "-o", "json", "--as", keeper).out)
    assert asked["status"]["userInfo"]["username"] == keeper


def test_rights_are_made_and_told(home: Shell) -> None:
    home.kubectl("create", "role", "reader", "--verb=get,list", "--resource=pods,deployments.apps")
    home.kubectl("create", "rolebinding", "readers", "--role=reader", "--user=ann")
    told = home.kubectl("describe", "role", "reader").out
    assert re.search(r"^  deployments\.apps +\[\] +\[\] +\[get list\]$", told, re.MULTILINE)
    assert home.kubectl("auth", "can-i", "create", "pods").out == "yes\n"
    assert home.kubectl("auth", "reconcile", "-f", "-", given=home.kubectl("get", "role", "-o", "yaml").out).code == 0


def test_a_kustomization_is_applied(home: Shell) -> None:
    home.write("site/kustomization.yaml", KUSTOMIZATION)
    made = home.kubectl("apply", "-k", "site").out
    assert re.fullmatch(r"configmap/blue-colours-\w+ created\n", made)
    assert home.kubectl("apply", "-k", "site").out == made.replace("created", "unchanged")
    assert home.kubectl("delete", "-k", "site").out.startswith('configmap "blue-colours-')


def test_an_editor_changes_an_object(home: Shell) -> None:
    home.kubectl("create", "configmap", "lamp", "--from-literal=colour=red")
    home.environment["EDITOR"] = "sed -i s/red/blue/"
    assert home.kubectl("edit", "configmap", "lamp").out == "configmap/lamp edited\n"
    assert home.kubectl("get", "cm", "lamp", "-o", "jsonpath={.data.colour}").out == "blue"


def test_lists_in_pieces_sorted_and_by_fields(home: Shell) -> None:
    names = [f"lamp-{number}" for number in range(7)]
    for name in names:
        home.kubectl("create", "configmap", name)
    pieces = home.kubectl("get", "cm", "--chunk-size=2", "--sort-by=.metadata.name", "-o", "name").out.split()
    assert [piece for piece in pieces if "lamp" in piece] == [f"configmap/{name}" for name in names]
    one = home.kubectl("get", "cm", "--field-selector=metadata.name=lamp-3", "-o", "name").out
    assert one == "configmap/lamp-3\n"


def test_events_are_told_with_their_object(home: Shell, caller: Api) -> None:
    home.kubectl("create", "configmap", "lamp")
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "lamp.1", "namespace": home.namespace},
        "involvedObject": {"apiVersion": "v1", "kind": "ConfigMap", "name": "lamp", "namespace": home.namespace},
        "reason": "Lit",
        "message": "it shines",
        "type": "Normal",
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "count": 1,
    }
    assert caller.post(f"/api/v1/namespaces/{home.namespace}/events", event).status == 201
    assert re.search(r"Normal +Lit +ConfigMap/lamp +it shines", home.kubectl("events", "--for=configmap/lamp").out)


def test_a_secret_is_shown_by_size_only(home: Shell) -> None:
    home.write("key", os.urandom(32).hex())
    home.kubectl("create", "secret", "generic", "keys", "--from-file=key")
    assert re.search(r"^key: +64 bytes$", home.kubectl("describe", "secret", "keys").out, re.MULTILINE)
