"""Resources of a pod as a whole: defaults, and how they go with those of its containers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pilothouse.admission.podamounts import of_containers
from pilothouse.builtin.shared.resources import HUGE_PAGES, claims, requirements
from pilothouse.machinery import quantity
from pilothouse.machinery.rules import Field

SUPPORTED: Final = ("cpu", "hugepages-", "memory")

Object = Mapping[str, Any]


def is_supported(name: str) -> bool:
    """Whether a pod as a whole can have this resource."""
    return name in ("cpu", "memory") or name.startswith(HUGE_PAGES)


def _amounts(container: Object, kind: str) -> Object:
    return (container.get("resources") or {}).get(kind) or {}


def pod_resource_defaults(spec: dict[str, Any]) -> None:
    """Requests of a pod that has limits: what its containers ask for together, else the limit."""
    resources = spec.get("resources")
    limits = resources.get("limits") if resources else None
    if not resources or not limits:
        return
    asked = of_containers(spec, "requests")
    requests = dict(resources.get("requests") or {})
    for name in asked:
        if name not in requests and is_supported(name) and not name.startswith(HUGE_PAGES):
            requests[name] = str(asked[name])
    for name, limit in limits.items():
        if name not in requests and is_supported(name):
            requests[name] = limit
    if requests:
        resources["requests"] = requests


def pod_resources(spec: Object, field: Field, known_claims: list[str]) -> None:
    """`resources` of a pod, told from it."""
    value = spec["resources"]
    if value.get("claims"):
        field.forbidden("claims", "claims may not be set for Resources at pod-level")
    for kind in ("limits", "requests"):
        for name in sorted(value.get(kind) or ()):
            if not is_supported(name):
                field.not_supported(f"{kind}[{name}]", name, SUPPORTED)
    requirements(value, field)
    if value.get("claims"):
        field.within("claims", claims(known_claims), value["claims"])
    _consistency(spec, value, field)


def _consistency(spec: Object, value: Object, field: Field) -> None:
    requests, limits = value.get("requests") or {}, value.get("limits") or {}
    asked = of_containers(spec, "requests")
    for name in sorted(asked):
        if is_supported(name) and asked[name] > quantity.parse(requests.get(name, "0")):
            why = f"must be greater than or equal to aggregate container requests of {asked[name]}"
            field.invalid(f"requests[{name}]", requests.get(name, "0"), why)
    for index, container in enumerate(spec.get("containers") or ()):
        own = _amounts(container, "limits")
        for name in sorted(own):
            if name in limits and is_supported(name) and quantity.parse(own[name]) > quantity.parse(limits[name]):
                why = f"must be less than or equal to pod limits of {limits[name]}"
                field.invalid(f"containers[{index}][{name}].limits", own[name], why)
