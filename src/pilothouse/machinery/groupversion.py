"""How a group and a version are written together."""

from __future__ import annotations


def parts(text: str) -> tuple[str, str]:
    """Group and version of an apiVersion; nothing and "/" have neither. Raises ValueError for more than the two."""
    if text in ("", "/"):
        return "", ""
    if text.count("/") > 1:
        raise ValueError(f"unexpected GroupVersion string: {text}")
    group, _, version = text.rpartition("/")
    return group, version


def api_version(group: str, version: str) -> str:
    """`apps/v1`; the core group ("") has its version alone: `v1`."""
    return f"{group}/{version}" if group else version
