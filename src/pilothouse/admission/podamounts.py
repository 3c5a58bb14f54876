"""What a pod asks for as a whole, as LimitRanger and ResourceQuota count it (Kubernetes documentation, "Sidecar
Containers" and "Pod Overhead").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pilothouse.machinery import quantity
from pilothouse.machinery.quantity import Quantity

Amounts = dict[str, Quantity]
_WHOLE_POD: Final = ("cpu", "memory")
_HUGE_PAGES: Final = "hugepages-"


def parsed(amounts: Mapping[str, str] | None) -> Amounts:
    return {name: quantity.parse(text) for name, text in (amounts or {}).items()}


def add(total: Amounts, amounts: Amounts) -> None:
    for name, amount in amounts.items():
        total[name] = total[name] + amount if name in total else amount


def raise_to(total: Amounts, amounts: Iterable[tuple[str, Quantity]]) -> None:
    """The larger of the two, name by name."""
    for name, amount in amounts:
        if name not in total or amount > total[name]:
            total[name] = amount


def of_containers(spec: Mapping[str, Any], kind: str) -> Amounts:
    """`kind` is requests or limits: the sum of what runs at once, or the largest phase of the start."""
    total: Amounts = {}
    for container in spec.get("containers") or ():
        add(total, parsed((container.get("resources") or {}).get(kind)))
    sidecars: Amounts = {}
    phases: Amounts = {}
    for container in spec.get("initContainers") or ():
        own = parsed((container.get("resources") or {}).get(kind))
        if container.get("restartPolicy") == "Always":
            add(total, own)
            add(sidecars, own)
            raise_to(phases, sidecars.items())
        else:
            phase = dict(sidecars)
            add(phase, own)
            raise_to(phases, phase.items())
    raise_to(total, phases.items())
    return total


def of_pod(spec: Mapping[str, Any], kind: str) -> Amounts:
    """As `of_containers`; what the pod sets as a whole goes before it, and its overhead comes on top.

    Overhead is part of a limit only where there is one.
    """
    total = of_containers(spec, kind)
    for name, amount in parsed((spec.get("resources") or {}).get(kind)).items():
        if name in _WHOLE_POD or name.startswith(_HUGE_PAGES):
            total[name] = amount
    overhead = spec.get("overhead")
    if overhead:
        extra = parsed(overhead)
        add(total, extra if kind == "requests" else {name: one for name, one in extra.items() if name in total})
    return total
