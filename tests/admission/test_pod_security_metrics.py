"""Each decision about a pod is told with the standard that it was made by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.measured import Measured, measured

NAME = "pod_security_evaluations_total"
LABEL = "pod-security.kubernetes.io/"
GOOD = {"containers": [{"name": "a", "image": "b"}]}
BAD = {"containers": [{"name": "a", "image": "b", "securityContext": {"privileged": True}}]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    with measured(tmp_path_factory.mktemp("pods")) as server:
        for name, labels in (
            ("free", {}),
            ("base", {f"{LABEL}enforce": "baseline", f"{LABEL}enforce-version": "v1.30"}),
            ("told", {f"{LABEL}warn": "baseline", f"{LABEL}warn-version": "v1.99"}),
        ):
            server.make("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
        yield server


def pod(server: Measured, namespace: str, spec: dict[str, Any]) -> int:
    body = {"metadata": {"generateName": "a-"}, "spec": spec}
    return server.ask(f"POST /api/v1/namespaces/{namespace}/pods", body).status


def test_a_pod_where_nothing_is_demanded_is_allowed(server: Measured) -> None:
    labels = {
        "decision": "allow", "policy_level": "privileged", "policy_version": "latest", "mode": "enforce",
        "request_operation": "create", "resource": "pod", "subresource": "",
    }  # fmt: skip
    with server.grows(NAME, **labels):
        assert pod(server, "free", BAD) == 201


def test_what_is_enforced_is_told_either_way(server: Measured) -> None:
    labels = {"policy_level": "baseline", "policy_version": "v1.30", "mode": "enforce", "resource": "pod"}
    with server.grows(NAME, decision="allow", **labels), server.grows(NAME, 0, decision="deny", **labels):
        assert pod(server, "base", GOOD) == 201
    with server.grows(NAME, 0, decision="allow", **labels), server.grows(NAME, decision="deny", **labels):
        assert pod(server, "base", BAD) == 403


def test_warnings_are_told_where_there_are_any(server: Measured) -> None:
    labels = {"policy_level": "baseline", "policy_version": "future", "mode": "warn"}
    with server.grows(NAME, 0, **labels):
        assert pod(server, "told", GOOD) == 201
    with server.grows(NAME, decision="deny", resource="pod", **labels):
        assert pod(server, "told", BAD) == 201
    template = {"metadata": {"labels": {"a": "b"}}, "spec": BAD}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    with server.grows(NAME, decision="deny", resource="controller", **labels):
        server.make("/apis/apps/v1/namespaces/told/deployments", {"metadata": {"name": "a"}, "spec": spec})
