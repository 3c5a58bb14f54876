"""One server for all tests of this folder, and a namespace for each."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator

import pytest

from endpoints.served import Served
from support.inprocess import running


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    loop = asyncio.new_event_loop()
    life = running(tmp_path_factory.mktemp("served"), 'admin,admin,1,"system:masters"\n')
    yield Served(loop.run_until_complete(life.__aenter__()), loop)
    loop.run_until_complete(life.__aexit__(None, None, None))
    loop.close()


@pytest.fixture(scope="session")
def speaking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that speaks CBOR."""
    loop = asyncio.new_event_loop()
    gates = (("CBORServingAndStorage", "true"),)
    life = running(tmp_path_factory.mktemp("speaking"), 'admin,admin,1,"system:masters"\n', feature_gates=gates)
    yield Served(loop.run_until_complete(life.__aenter__()), loop)
    loop.run_until_complete(life.__aexit__(None, None, None))
    loop.close()


@pytest.fixture(scope="session")
def numbers() -> Iterator[int]:
    return itertools.count(1)


@pytest.fixture
def place(served: Served, numbers: Iterator[int]) -> str:
    """The path of a namespace of the test's own."""
    name = f"place-{next(numbers)}"
    served.make("/api/v1/namespaces", {"metadata": {"name": name}})
    return f"/api/v1/namespaces/{name}"
