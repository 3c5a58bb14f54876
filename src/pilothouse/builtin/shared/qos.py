"""The quality of service class of a pod: Guaranteed, Burstable or BestEffort."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.machinery import quantity

_COUNTED: Final = ("cpu", "memory")

Object = Mapping[str, Any]


def _positive(amounts: Object | None) -> dict[str, quantity.Quantity]:
    found = {}
    for name in _COUNTED:
        text = (amounts or {}).get(name)
        if text is not None:
            amount = quantity.parse(text)
            if amount.nanos > 0:
                found[name] = amount
    return found


def qos_class(spec: Object) -> str:
    """By the pod's own resources where it has some, else by those of its containers."""
    whole = spec.get("resources")
    if whole and (_positive(whole.get("requests")) or _positive(whole.get("limits"))):
        holders = [whole]
    else:
        every = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
        holders = [one.get("resources") or {} for one in every]
    requests: dict[str, quantity.Quantity] = {}
    limits: dict[str, quantity.Quantity] = {}
    guaranteed = True
    for holder in holders:
        for name, amount in _positive(holder.get("requests")).items():
            requests[name] = requests[name] + amount if name in requests else amount
        own = _positive(holder.get("limits"))
        for name, amount in own.items():
            limits[name] = limits[name] + amount if name in limits else amount
        guaranteed = guaranteed and len(own) == len(_COUNTED)
    if not requests and not limits:
        return "BestEffort"
    if guaranteed and len(requests) == len(limits) and all(limits.get(name) == one for name, one in requests.items()):
        return "Guaranteed"
    return "Burstable"
