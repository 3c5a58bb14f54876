"""`backend`: each test of the suite runs over all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .backends import NAMES, Backend


@pytest.fixture(params=NAMES)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    return Backend(request.param, tmp_path)


@pytest.fixture(params=[name for name in NAMES if "sqlite" in name])
def durable(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    return Backend(request.param, tmp_path)
