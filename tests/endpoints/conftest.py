"""One server for all tests of this folder, and a namespace for each."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator

import pytest

from endpoints.served import Served, start


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    loop = asyncio.new_event_loop()
    application = loop.run_until_complete(start(tmp_path_factory.mktemp("served")))
    yield Served(application, loop)
    loop.run_until_complete(application.begin_shutdown())
    loop.run_until_complete(application.stop())
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
