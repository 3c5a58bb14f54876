"""Fixtures for every folder: see support/fixtures.py. A server starts only when a test asks for one.

Hypothesis tries the same examples in every run, so that a change is judged by what it changed;
`HYPOTHESIS_PROFILE=search` looks for new ones, several times as many.

Nothing is tested where compiled modules are other than their sources (docs/designs/compiled.md).
"""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ("support.fixtures",)

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

sys.path.append(str(Path(__file__).parents[1]))


def pytest_configure() -> None:
    import hatch_build

    if hatch_build.is_stale():
        pytest.exit("compiled modules are older than their sources: run scripts/compile first", returncode=4)
