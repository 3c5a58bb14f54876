"""Pods of one template are judged once: what is told of the next ones must still be about them."""

from __future__ import annotations

from typing import Any

from writes import Kind

PODS = Kind("", "pods")
CRITICAL = "scheduler.alpha.kubernetes.io/critical-pod"


def pod(name: str, annotations: Any = None, **container: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"annotations": annotations} if annotations else {})}
    return {"metadata": metadata, "spec": {"containers": [{"name": "c", "image": "i", **container}]}}


def test_a_fault_is_told_each_time() -> None:
    told = [PODS.causes(pod(name, ports=[{"containerPort": 0}])) for name in ("a", "b")]
    assert told[0] == told[1] != []


def test_a_fault_after_a_good_one_is_told() -> None:
    PODS.create(pod("a", env=[{"name": "A", "value": "1"}]))
    PODS.create(pod("b", env=[{"name": "A", "value": "1"}]))
    assert [path for path, _ in PODS.causes(pod("c", env=[{"name": "=", "value": "1"}]))] == [
        "spec.containers[0].env[0].name"
    ]


def test_claims_that_are_named_after_the_pod_are_judged_for_each_pod() -> None:
    claim = {
        "volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}}}
    }

    def sent(name: str) -> dict[str, Any]:
        made = pod(name)
        made["spec"]["volumes"] = [{"name": "v" * 20, "ephemeral": claim}]
        return made

    PODS.create(sent("short"))
    assert PODS.causes(sent("l" * 250)) != []


def test_ports_of_the_node_are_judged_in_pods_though_a_template_may_leave_them_open() -> None:
    spec = {**pod("a", ports=[{"containerPort": 80, "protocol": "TCP"}])["spec"], "hostNetwork": True}
    labels = {"matchLabels": {"a": "b"}}
    template = {"metadata": {"labels": labels["matchLabels"]}, "spec": spec}
    Kind("apps", "replicasets").create({"metadata": {"name": "r"}, "spec": {"selector": labels, "template": template}})
    wrong = {**spec, "containers": [{**spec["containers"][0], "ports": [{"containerPort": 80, "hostPort": 81}]}]}
    assert PODS.causes({"metadata": {"name": "a"}, "spec": wrong}) != []


def test_warnings_are_about_each_pod() -> None:
    twice = {"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}
    assert [len(PODS.create(pod(name, **twice))[1]) for name in ("a", "b")] == [1, 1]
    assert [len(PODS.create(pod("a", annotations))[1]) for annotations in (None, {CRITICAL: ""}, {"other": "x"})] == [
        0,
        1,
        0,
    ]
