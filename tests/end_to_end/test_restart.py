"""What is told to be written is there after any end, and an end asked for is a polite one."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from support.api import Api
from support.commands import Shell
from support.fixtures import StartServer, needs
from support.server import DEADLINE, Server, eventually

MAPS = "/api/v1/namespaces/default/configmaps"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "lamps.harbour.example"},
    "spec": {
        "group": "harbour.example",
        "scope": "Namespaced",
        "names": {"kind": "Lamp", "plural": "lamps"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}
LAMP = {"apiVersion": "harbour.example/v1", "kind": "Lamp", "metadata": {"name": "north"}, "spec": {"on": True}}
LAMPS = "/apis/harbour.example/v1/namespaces/default/lamps"


def configmap(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"colour": "red"}}


def version(obj: dict[str, Any]) -> int:
    return int(obj["metadata"]["resourceVersion"])


@contextmanager
def asked_to_end(server: Server) -> Iterator[subprocess.Popen[bytes]]:
    """The server has been sent SIGTERM; at the end of the block it must end by itself, with success."""
    process = server.process
    assert process is not None
    process.send_signal(signal.SIGTERM)
    yield process
    assert process.wait(DEADLINE) == 0, server.said()[-4000:]
    server.process = None


def refuses_connections(server: Server) -> bool:
    try:
        with server.api(timeout=1.0) as api:
            api.get("/readyz")
    except OSError:
        return True
    return False


@pytest.mark.parametrize("end", [Server.stop, Server.kill], ids=["SIGTERM", "SIGKILL"])
def test_objects_survive(start_server: StartServer, end: Callable[[Server], object]) -> None:
    server = start_server()
    kubeconfig = server.kubeconfig.read_bytes()
    with server.api() as api:
        assert api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION).status == 201
        eventually(lambda: api.get(LAMPS).status == 200)
        lamp = api.post(LAMPS, LAMP)
        assert lamp.status == 201, lamp.text
        made = api.post(MAPS, configmap("made")).json()
        assert api.post(MAPS, configmap("gone")).status == 201
        assert api.delete(f"{MAPS}/gone").status == 200
        changed = api.patch(f"{MAPS}/made", {"data": {"colour": "blue"}}).json()
    end(server)
    server.start()
    with server.api() as api:
        assert api.get(f"{MAPS}/made").json() == changed
        assert changed["metadata"]["uid"] == made["metadata"]["uid"]
        assert api.get(f"{MAPS}/gone").status == 404
        eventually(lambda: api.get(f"{LAMPS}/north").status == 200)
        assert api.get(f"{LAMPS}/north").json() == lamp.json()
        assert version(api.post(MAPS, configmap("later")).json()) > version(changed)
    assert server.kubeconfig.read_bytes() == kubeconfig


def test_every_answered_write_survives_a_kill_in_the_middle(start_server: StartServer) -> None:
    server = start_server()
    written: list[dict[str, Any]] = []

    def write(writer: int) -> None:
        with server.api() as api:
            try:
                for number in range(100_000):
                    answer = api.post(MAPS, configmap(f"w{writer}-{number}"))
                    if answer.status != 201:
                        return
                    written.append(answer.json())
            except (OSError, HTTPException):  # the kill
                return

    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for writer in writers:
        writer.start()
    eventually(lambda: len(written) > 150)
    server.kill()
    for writer in writers:
        writer.join(DEADLINE)
    server.start()
    with server.api() as api:
        items = {item["metadata"]["name"]: item for item in api.get(MAPS).json()["items"]}
    for obj in written:
        found = items[obj["metadata"]["name"]]
        assert (found["metadata"], found["data"]) == (obj["metadata"], obj["data"])


def test_tokens_are_believed_after_a_restart(start_server: StartServer) -> None:
    server = start_server()
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "keeper"}}
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    with server.api() as api:
        assert api.post(accounts, account).status == 201
        token = api.post(f"{accounts}/keeper/token", request).json()["status"]["token"]
    server.stop()
    server.start()
    with server.api(token=token) as api:
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        answer = api.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", review).json()
    assert answer["status"]["userInfo"]["username"] == "system:serviceaccount:default:keeper"


def test_a_watch_goes_on_where_it_was(start_server: StartServer) -> None:
    server = start_server()
    with server.api() as api:
        seen = api.post(MAPS, configmap("one")).json()
        api.post(MAPS, configmap("two"))
    server.stop()
    server.start()
    with server.api() as api, api.watch(f"{MAPS}?watch=1&resourceVersion={version(seen)}") as watch:
        assert watch.status == 200
        api.post(MAPS, configmap("three"))
        names = [(event["type"], event["object"]["metadata"]["name"]) for event in watch.take(2)]
    assert names == [("ADDED", "two"), ("ADDED", "three")]


def test_a_watch_of_kubectl_ends(start_server: StartServer, tmp_path: Path) -> None:
    needs("kubectl")
    server = start_server()
    shell = Shell(tmp_path / "home", server.kubeconfig, tmp_path / "cache")
    shell.kubectl("create", "configmap", "lamp")
    watch = shell.begin("kubectl", "get", "configmaps", "-w", "-o", "name")
    try:
        assert watch.stdout is not None
        assert watch.stdout.readline() == "configmap/lamp\n"
        assert server.stop() == 0
        watch.communicate(timeout=DEADLINE)
    finally:
        watch.kill()
        watch.wait()
    server.start()
    assert shell.kubectl("get", "configmaps", "-o", "name").out == "configmap/lamp\n"


def test_a_request_that_is_under_way_is_finished(start_server: StartServer) -> None:
    server = start_server()
    body = json.dumps(configmap("late")).encode()
    api = server.api()
    connection = api.connect()
    try:
        connection.putrequest("POST", MAPS)
        for name, value in (
            ("Authorization", f"Bearer {server.token}"),
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
        ):
            connection.putheader(name, value)
        connection.endheaders()
        connection.send(body[:10])
        with server.api() as other:
            in_flight(other)
        with asked_to_end(server) as process:
            eventually(lambda: refuses_connections(server))
            assert process.poll() is None
            connection.send(body[10:])
            answer = connection.getresponse()
            assert answer.status == 201
            assert json.loads(answer.read())["metadata"]["name"] == "late"
    finally:
        connection.close()
    server.start()
    with server.api() as api:
        assert api.get(f"{MAPS}/late").status == 200


def in_flight(api: Api) -> None:
    """Waits until the server has begun with a writing request."""
    wanted = 'apiserver_current_inflight_requests{request_kind="mutating"} 1'
    eventually(lambda: any(line.startswith(wanted) for line in api.get("/metrics").text.splitlines()))


def test_not_ready_but_still_serving_before_the_end(start_server: StartServer) -> None:
    server = start_server("--shutdown-delay-duration", "3s")
    with server.api() as api:
        assert api.get("/readyz").status == 200
        with asked_to_end(server):
            eventually(lambda: api.get("/readyz").status == 500)
            assert "[-]shutdown failed" in api.get("/readyz?verbose").text
            assert api.get("/livez").status == 200
            assert api.post(MAPS, configmap("late")).status == 201
            with server.api() as other:
                assert other.get(f"{MAPS}/late").status == 200
