"""Pytest fixtures: one server for the tests that only need one, servers of their own for those that hurt it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.api import Api
from support.commands import Shell
from support.places import tool
from support.server import CONFORMANCE_FLAGS, Server

StartServer = Callable[..., Server]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server of the recorded conversations, without controllers. Shared: leave it as it was."""
    server = Server(tmp_path_factory.mktemp("shared-server"), *CONFORMANCE_FLAGS)
    yield server
    assert server.stop() == 0, server.said()[-4000:]


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[StartServer]:
    """Starts servers of the test's own; more flags may be given. They are ended behind the test."""
    started: list[Server] = []

    def start(*flags: str) -> Server:
        started.append(Server(tmp_path / f"server-{len(started)}", *CONFORMANCE_FLAGS, *flags))
        return started[-1]

    yield start
    for server in started:
        server.kill()


@pytest.fixture
def api(server: Server) -> Iterator[Api]:
    """A connection to the shared server, as its administrator."""
    with server.api() as api:
        yield api


@pytest.fixture(scope="session")
def words() -> Iterator[str]:
    """Words that no other test of this session gets."""
    return (f"t{number}" for number in itertools.count(1))


@pytest.fixture
def namespace(api: Api, words: Iterator[str]) -> str:
    """A namespace of the test's own."""
    name = next(words)
    answer = api.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    assert answer.status == 201, answer.text
    return name


@pytest.fixture(scope="session")
def kubectl_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kubectl-cache")


@pytest.fixture
def shell(server: Server, tmp_path: Path, kubectl_cache: Path, namespace: str) -> Shell:
    """kubectl against the shared server, in a namespace of the test's own."""
    needs("kubectl")
    return Shell(tmp_path / "home", server.kubeconfig, kubectl_cache, namespace)


def needs(name: str) -> None:
    """Skips the test where a tool is not there."""
    if tool(name) is None:
        pytest.skip(f"{name} is not there; scripts/test fetches it into .tools/bin")
