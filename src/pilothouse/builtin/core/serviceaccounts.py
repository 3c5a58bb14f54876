"""ServiceAccounts: references to secrets keep their name alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pilothouse.registry.behaviour import Behaviour, Context, Object

_MOUNTABLE: Final = "kubernetes.io/enforce-mountable-secrets"
_APART: Final = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    """Namespace and kind of a reference mean nothing and are not kept."""
    found = new.get("secrets")
    if found and any(len(one) != 1 or "name" not in one for one in found):
        new["secrets"] = [{"name": one["name"]} if one.get("name") else {} for one in found]


def _has_mountable(thing: Object | None) -> bool:
    return thing is not None and _MOUNTABLE in (thing["metadata"].get("annotations") or {})


def _warn(new: Object, old: Object | None) -> Sequence[str]:
    newly = _has_mountable(new) and not _has_mountable(old)
    return [f"metadata.annotations[{_MOUNTABLE}]: {_APART}"] if newly else []


behaviour = Behaviour(prepare=_prepare, warn=_warn)
