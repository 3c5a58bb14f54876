"""A server that these tests may hurt."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hostile.assault import ended_well
from support.server import CONFORMANCE_FLAGS, Server


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for each module. It must be alive and well at the end, and end in good order."""
    server = Server(tmp_path_factory.mktemp("target"), *CONFORMANCE_FLAGS)
    yield server
    ended_well(server)
