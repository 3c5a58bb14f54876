"""helm installs, changes, tests and removes releases of a small chart."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.api import Api
from support.commands import Shell
from support.fixtures import needs
from support.server import Server, eventually

CHART = str(Path(__file__).with_name("chart"))


@pytest.fixture
def helm(home: Shell) -> Shell:
    needs("helm")
    return home


def value(shell: Shell, what: str, path: str) -> str:
    return shell.kubectl("get", what, "-o", f"jsonpath={{{path}}}").out


def releases(shell: Shell) -> list[tuple[str, str, str]]:
    found: list[dict[str, Any]] = json.loads(shell.helm("list", "-o", "json").out or "[]")
    return [(release["name"], release["revision"], release["status"]) for release in found]


@contextmanager
def pods_end(server: Server, namespace: str, phase: str) -> Iterator[None]:
    """What a kubelet would do: every Pod that appears in the namespace ends in `phase`."""
    path = f"/api/v1/namespaces/{namespace}/pods"
    statuses: list[int] = []
    with server.api() as api, api.watch(f"{path}?watch=1") as watch:

        def run() -> None:
            for event in watch:
                if event["type"] == "ADDED":
                    name = event["object"]["metadata"]["name"]
                    answer = api.patch(f"{path}/{name}/status", {"status": {"phase": phase}})
                    statuses.append(answer.status)
                    return

        thread = threading.Thread(target=run)
        thread.start()
        yield
        thread.join(20)
        assert statuses == [200]


def test_a_release_is_installed(helm: Shell) -> None:
    said = helm.helm("install", "lamp", CHART, "--set", "colour=red").out
    assert "STATUS: deployed" in said
    assert "REVISION: 1" in said
    made = helm.kubectl("get", "sa,cm,svc,deploy", "-l", "app.kubernetes.io/instance=lamp", "-o", "name").out.split()
    assert made == ["serviceaccount/lamp", "configmap/lamp", "service/lamp", "deployment.apps/lamp"]
    assert value(helm, "cm/lamp", ".data.colour") == "red"
    assert value(helm, "secrets", ".items[*].type") == "helm.sh/release.v1"
    assert releases(helm) == [("lamp", "1", "deployed")]
    assert helm.helm("get", "values", "lamp", "-o", "json").out.strip() == '{"colour":"red"}'


def test_a_release_moves_forward_and_back(helm: Shell) -> None:
    helm.helm("install", "lamp", CHART)
    before = value(helm, "deploy/lamp", ".metadata.uid")
    helm.helm("upgrade", "lamp", CHART, "--set", "replicas=3,colour=green")
    assert value(helm, "deploy/lamp", ".spec.replicas") == "3"
    assert value(helm, "cm/lamp", ".data.colour") == "green"
    assert "Rollback was a success" in helm.helm("rollback", "lamp", "1").out
    assert value(helm, "deploy/lamp", ".spec.replicas") == "1"
    assert value(helm, "cm/lamp", ".data.colour") == "white"
    assert value(helm, "deploy/lamp", ".metadata.uid") == before
    history = json.loads(helm.helm("history", "lamp", "-o", "json").out)
    assert [(entry["revision"], entry["status"]) for entry in history] == [
        (1, "superseded"),
        (2, "superseded"),
        (3, "deployed"),
    ]


def test_a_release_is_removed_with_all_it_made(helm: Shell) -> None:
    helm.helm("install", "lamp", CHART)
    assert 'release "lamp" uninstalled' in helm.helm("uninstall", "lamp", "--wait").out
    assert releases(helm) == []
    left = helm.kubectl("get", "sa,cm,svc,deploy,secrets", "-l", "app.kubernetes.io/instance=lamp", "-o", "name").out
    assert left == ""
    assert value(helm, "secrets", ".items[*].type") == ""


def test_an_uninstalled_release_may_be_remembered(helm: Shell) -> None:
    helm.helm("install", "lamp", CHART)
    helm.helm("uninstall", "lamp", "--keep-history")
    assert releases(helm) == [("lamp", "1", "uninstalled")]


def test_the_test_of_a_release_runs_its_pod(helm: Shell, real: Server, caller: Api) -> None:
    helm.helm("install", "lamp", CHART)
    with pods_end(real, helm.namespace, "Succeeded"):
        said = helm.helm("test", "lamp", "--timeout", "30s").out
    assert "TEST SUITE:     lamp-lamp-test" in said
    assert "Phase:          Succeeded" in said
    pod = f"/api/v1/namespaces/{helm.namespace}/pods/lamp-lamp-test"
    eventually(lambda: caller.get(pod).status == 404)  # hook-succeeded deletes it


def test_a_failed_test_is_told_and_its_pod_stays(helm: Shell, real: Server) -> None:
    helm.helm("install", "lamp", CHART)
    with pods_end(real, helm.namespace, "Failed"):
        failed = helm.helm("test", "lamp", "--timeout", "30s", code=1)
    assert "Phase:          Failed" in failed.out
    assert value(helm, "pod/lamp-lamp-test", ".status.phase") == "Failed"


def test_what_the_server_refuses_fails_the_release(helm: Shell) -> None:
    failed = helm.helm("install", "lamp", CHART, "--set", "port=70000", code=1)
    assert "spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive" in failed.err
    assert releases(helm) == [("lamp", "1", "failed")]
    helm.helm("upgrade", "--install", "--reset-values", "lamp", CHART)
    assert releases(helm) == [("lamp", "2", "deployed")]
    assert value(helm, "svc/lamp", ".spec.ports[0].port") == "8080"


def test_objects_of_others_are_not_taken_over(helm: Shell) -> None:
    helm.kubectl("create", "configmap", "lamp", "--from-literal=colour=mine")
    failed = helm.helm("install", "lamp", CHART, code=1)
    assert "cannot be imported into the current release" in failed.err
    assert value(helm, "cm/lamp", ".data.colour") == "mine"


def test_the_server_judges_a_dry_run(helm: Shell) -> None:
    said = helm.helm("install", "lamp", CHART, "--dry-run=server").out
    assert "kind: Deployment" in said
    assert releases(helm) == []
    assert helm.kubectl("get", "deploy", "-o", "name").out == ""
