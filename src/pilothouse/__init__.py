"""pilothouse: the Kubernetes API server in Python. docs/architecture.md is the map of this package."""

__version__ = "0.1.0"
