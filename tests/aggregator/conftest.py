"""Fixtures of the front's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from serving.support import make_pki


@pytest.fixture(scope="session")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_pki(tmp_path_factory.mktemp("far-pki"))
