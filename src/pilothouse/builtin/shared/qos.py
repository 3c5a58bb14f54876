"""The quality of service class of a pod: Guaranteed, Burstable or BestEffort."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.builtin.shared.amounts import nanos

_COUNTED: Final = ("cpu", "memory")

Object = Mapping[str, Any]


def _add(total: dict[str, int], amounts: Object | None) -> int:
    """Add what is counted and above zero; return how many resources that were."""
    count = 0
    for name in _COUNTED if amounts else ():
        text = amounts.get(name) if amounts else None
        amount = nanos(text) if text is not None else 0
        if amount > 0:
            count += 1
            total[name] = total.get(name, 0) + amount
    return count


def _counts(resources: Object) -> bool:
    """Whether a pod's own resources say anything."""
    return bool(_add({}, resources.get("requests")) or _add({}, resources.get("limits")))


def qos_class(spec: Object) -> str:
    """By the pod's own resources where it has some, else by those of its containers."""
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    guaranteed = True
    whole = spec.get("resources")
    holders = (
        [spec] if whole and _counts(whole) else [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    )
    for holder in holders:
        resources = holder.get("resources")
        if not resources:
            guaranteed = False
            continue
        _add(requests, resources.get("requests"))
        guaranteed = _add(limits, resources.get("limits")) == len(_COUNTED) and guaranteed
    if not requests and not limits:
        return "BestEffort"
    if guaranteed and len(requests) == len(limits) and all(limits.get(name) == one for name, one in requests.items()):
        return "Guaranteed"
    return "Burstable"
