"""A server as users start it, one for each module, and a shell with its kubeconfig."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.api import Api
from support.commands import Shell
from support.fixtures import needs
from support.places import TOKENS
from support.server import Server


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`pilothouse serve` with its controllers and with SQLite; the tokens are for the tests' own connections."""
    server = Server(tmp_path_factory.mktemp("end-to-end"), "--token-auth-file", str(TOKENS))
    yield server
    assert server.stop() == 0, server.said()[-4000:]


@pytest.fixture
def caller(real: Server) -> Iterator[Api]:
    """A connection as the administrator."""
    with real.api() as api:
        yield api


@pytest.fixture
def home(real: Server, caller: Api, tmp_path: Path, kubectl_cache: Path, words: Iterator[str]) -> Shell:
    """A shell in a namespace of the test's own."""
    needs("kubectl")
    name = next(words)
    answer = caller.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    assert answer.status == 201, answer.text
    return Shell(tmp_path / "home", real.kubeconfig, kubectl_cache, name)
