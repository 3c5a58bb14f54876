"""Fixtures of the edge's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from .support import make_pki


@pytest.fixture(scope="session")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_pki(tmp_path_factory.mktemp("pki"))
