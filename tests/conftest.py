"""Fixtures for every folder: see support/fixtures.py. A server starts only when a test asks for one."""

pytest_plugins = ("support.fixtures",)
