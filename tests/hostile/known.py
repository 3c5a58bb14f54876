"""Objects that are good, small and there: what patches and updates of strangers are for."""

from __future__ import annotations

from typing import Any

from hostile import strong
from hostile.stranger import Seed, named
from support.api import Api
from support.server import eventually

NAMESPACE = "/api/v1/namespaces/default"
CONTAINER = {"name": "c", "image": "i", "ports": [{"containerPort": 80}], "env": [{"name": "A", "value": "b"}]}
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "f", "labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["example.com/f"]},
    "spec": {"containers": [CONTAINER], "volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}]},
}
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "f"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"a": "b"}},
        "strategy": {"rollingUpdate": {"maxSurge": "25%"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": POD["spec"]},
    },
}
SERVICE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "f"},
    "spec": {"selector": {"a": "b"}, "ports": [{"port": 80, "targetPort": "http"}], "type": "NodePort"},
}
PLACES = {
    "Pod": (f"{NAMESPACE}/pods", POD),
    "Service": (f"{NAMESPACE}/services", SERVICE),
    "Deployment": ("/apis/apps/v1/namespaces/default/deployments", DEPLOYMENT),
}


def known() -> dict[str, tuple[str, dict[str, Any]]]:
    """Where they are, and the objects, by kind. One of the kinds is custom."""
    return {**PLACES, "Strong": (strong.PATH, strong.strong("new"))}


def known_seeds() -> list[Seed]:
    return [Seed(path, named(body, "new"), "", ("create", "update", "patch")) for path, body in known().values()]


def prepare(api: Api) -> None:
    """Each of them is stored as `there`."""
    assert api.post(strong.DEFINITIONS, strong.definition()).status == 201
    eventually(lambda: api.get(strong.PATH).status == 200)
    for path, body in known().values():
        answer = api.post(path, named(body))
        assert answer.status == 201, answer.text
