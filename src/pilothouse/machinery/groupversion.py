"""How a group and a version are written together."""

from __future__ import annotations


def api_version(group: str, version: str) -> str:
    """`apps/v1`; the core group ("") has its version alone: `v1`."""
    return f"{group}/{version}" if group else version
