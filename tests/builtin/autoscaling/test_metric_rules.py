"""Metrics of autoscalers that name no source, another one, or several."""

from __future__ import annotations

from typing import Any

from writes import Kind


def causes(metric: Any) -> list[tuple[str, str]]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    sent = {"spec": {"scaleTargetRef": target, "maxReplicas": 2, "metrics": [metric]}}
    found = Kind("autoscaling", "horizontalpodautoscalers").causes(sent)
    return [(path.removeprefix("spec.metrics[0]."), message) for path, message in found]


def test_a_metric_has_a_type() -> None:
    assert causes({}) == [
        ("type", "Required value: must specify a metric source type"),
        (
            "type",
            'Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
        ),
    ]


def test_the_first_source_is_judged_whatever_the_type() -> None:
    assert causes({"type": "Resource", "pods": {"target": {"type": "AverageValue"}}}) == [
        ("pods.metric.name", "Required value: must specify a metric name"),
        ("pods.target.averageValue", "Required value: must specify a positive target averageValue"),
        ("resource", "Required value: must populate information for the given metric source"),
    ]


def test_other_sources_are_forbidden() -> None:
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 5}}
    pods = {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "1"}}
    assert causes({"type": "Resource", "resource": cpu, "pods": pods}) == [
        ("pods", "Forbidden: must populate the given metric source only")
    ]
