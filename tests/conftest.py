"""Fixtures for every folder: see support/fixtures.py. A server starts only when a test asks for one.

Hypothesis tries the same examples in every run, so that a change is judged by what it changed;
`HYPOTHESIS_PROFILE=search` looks for new ones, several times as many.
"""

import os

from hypothesis import HealthCheck, settings

pytest_plugins = ("support.fixtures",)

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
