"""Who somebody is, as objects of the API show it: in reviews of oneself, in requests for certificates."""

from __future__ import annotations

from typing import Any

Extra = tuple[tuple[str, tuple[str, ...]], ...]


def user_fields(name: str, uid: str, groups: tuple[str, ...], extra: Extra) -> dict[str, Any]:
    """The members username, uid, groups and extra, without those that are empty."""
    shown: dict[str, Any] = {}
    if name:
        shown["username"] = name
    if uid:
        shown["uid"] = uid
    if groups:
        shown["groups"] = list(groups)
    if extra:
        shown["extra"] = {key: list(values) for key, values in sorted(extra)}
    return shown
