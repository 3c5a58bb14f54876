"""Applied configurations of the wrong shape: refused with a reason, whatever stands where."""

from __future__ import annotations

from typing import Any

import pytest

from endpoints.served import Served

APPLY = "application/apply-patch+yaml"


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        ({"apiVersion": 1, "kind": "ConfigMap"}, "/, Kind=ConfigMap"),
        ({"apiVersion": True, "kind": "ConfigMap"}, "/, Kind=ConfigMap"),
        ({"apiVersion": 1.5, "kind": ["x"]}, "/, Kind="),
        ({"apiVersion": "v1", "kind": 7}, "/v1, Kind="),
        ({"apiVersion": "apps/v1", "kind": "ConfigMap"}, "apps/v1, Kind=ConfigMap"),
        ({"apiVersion": "a/b/c", "kind": "ConfigMap"}, "/, Kind="),
        ({}, "/, Kind="),
    ],
)
def test_a_configuration_names_the_kind_of_the_path(
    served: Served, place: str, named: dict[str, Any], shown: str
) -> None:
    found = served.ask(f"PATCH {place}/configmaps/a?fieldManager=m", {**named, "metadata": {"name": "a"}}, APPLY)
    assert (found.status, found.message) == (400, f"invalid object type: {shown}")


@pytest.fixture
def deployment(served: Served, place: str) -> str:
    """The path of a Deployment."""
    home = place.replace("/api/v1", "/apis/apps/v1") + "/deployments"
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    served.make(home, {"metadata": {"name": "d"}, "spec": spec})
    return f"{home}/d"


SCALES: list[tuple[dict[str, Any], str]] = [
    ({"spec": {"replicas": "3"}}, ".spec.replicas: expected numeric (int or float), got string"),
    ({"spec": "three"}, ".spec: expected map, got"),
    ({"metadata": "d"}, ".metadata: expected map, got"),
    ({"specs": {"replicas": 3}}, ".specs: field not declared in schema"),
]


@pytest.mark.parametrize(("wrong", "why"), SCALES)
def test_a_scale_has_its_type(served: Served, deployment: str, wrong: dict[str, Any], why: str) -> None:
    config = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, **wrong}
    found = served.ask(f"PATCH {deployment}/scale?fieldManager=m", config, APPLY)
    assert found.status == 500
    assert "failed to create typed patch object (" in found.message
    assert why in found.message


def test_a_scale_can_be_applied(served: Served, deployment: str) -> None:
    config = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": 3}}
    found = served.ask(f"PATCH {deployment}/scale?fieldManager=m&force=true", config, APPLY)
    assert (found.status, found.json()["spec"]) == (200, {"replicas": 3})
