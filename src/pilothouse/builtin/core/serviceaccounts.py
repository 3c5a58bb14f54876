"""ServiceAccounts: references to secrets keep their name alone."""

from __future__ import annotations

from pilothouse.registry.behaviour import Behaviour, Context, Object


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    """Namespace and kind of a reference mean nothing and are not kept."""
    found = new.get("secrets")
    if found and any(len(one) != 1 or "name" not in one for one in found):
        new["secrets"] = [{"name": one["name"]} if one.get("name") else {} for one in found]


behaviour = Behaviour(prepare=_prepare)
