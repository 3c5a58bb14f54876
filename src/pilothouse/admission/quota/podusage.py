"""What a pod costs a quota, and what a quota makes a pod say (Kubernetes documentation, "Resource Quotas")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pilothouse.admission.podamounts import Amounts, of_pod
from pilothouse.machinery.quantity import Quantity
from pilothouse.registry.resource import Object

ONE: Final = Quantity(10**9)
_HUGE_PAGES: Final = "hugepages-"
_BOTH_NAMES: Final = ("cpu", "memory", "ephemeral-storage")  # known with and without "requests."
_DEMANDED: Final = frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})
_FIXED: Final = frozenset(
    {
        *_BOTH_NAMES,
        *(f"requests.{name}" for name in _BOTH_NAMES),
        *(f"limits.{name}" for name in _BOTH_NAMES),
        "pods",
        "count/pods",
    }
)


def counts(name: str) -> bool:
    """Whether pods have to do with this resource of a quota."""
    if name in _FIXED or name.startswith((_HUGE_PAGES, f"requests.{_HUGE_PAGES}")):
        return True
    asked = name.removeprefix("requests.")
    return asked != name and "/" in asked and "kubernetes.io/" not in asked


def usage(pod: Object) -> Amounts:
    """A pod that has ended is only counted as an object."""
    found: Amounts = {"count/pods": ONE}
    if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return found
    found["pods"] = ONE
    spec = pod.get("spec") or {}
    for name, amount in of_pod(spec, "requests").items():
        if name in _BOTH_NAMES or name.startswith(_HUGE_PAGES):
            found[name] = amount
        found[f"requests.{name}"] = amount
    for name, amount in of_pod(spec, "limits").items():
        found[f"limits.{name}"] = amount
    return found


def demands(pod: Object, counted: Iterable[str]) -> str:
    """What containers must say because a quota counts it, and do not; "" where nothing is missing."""
    wanted = sorted(_DEMANDED.intersection(counted))
    if not wanted:
        return ""
    spec = pod.get("spec") or {}
    whole = _said(spec)
    missing: dict[str, list[str]] = {}
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        said = _said(container)
        for name in wanted:
            if name not in said and name not in whole:
                missing.setdefault(name, []).append(container.get("name", ""))
    told = "; ".join(f"{name} for: {','.join(sorted(missing[name]))}" for name in wanted if name in missing)
    return f"must specify {told}" if told else ""


def _said(holder: Mapping[str, Any]) -> set[str]:
    resources = holder.get("resources") or {}
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    return {*requests, *(f"requests.{name}" for name in requests), *(f"limits.{name}" for name in limits)}
