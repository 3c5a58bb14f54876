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
    """What a pod with resources of its own does not say of them, in this order: limits of huge pages as those of its
    containers together; requests as those of its containers, else its limits; limits where all its containers have one.
    """
    resources = spec.get("resources") or {}
    requests, limits = dict(resources.get("requests") or {}), dict(resources.get("limits") or {})
    if not requests and not limits:
        return
    asked, most = of_containers(spec, "requests"), of_containers(spec, "limits")
    for name in most:
        if name.startswith(HUGE_PAGES) and name not in requests:
            limits.setdefault(name, str(most[name]))
    for name in asked:
        if is_supported(name) and not name.startswith(HUGE_PAGES):
            requests.setdefault(name, str(asked[name]))
    for name, limit in limits.items():
        if is_supported(name):
            requests.setdefault(name, limit)
    for name in most:
        if name not in limits and is_supported(name) and _all_limited(spec, name):
            limits[name] = str(max(most[name], quantity.parse(requests.get(name, "0"))))
    _set(spec, limits, requests)


def _set(spec: dict[str, Any], limits: Object, requests: Object) -> None:
    """The old members are left alone: another object may have them, too."""
    filled = {kind: found for kind, found in (("limits", limits), ("requests", requests)) if found}
    spec["resources"] = {**filled, **{name: one for name, one in spec["resources"].items() if name not in filled}}


def _all_limited(spec: Object, name: str) -> bool:
    """Containers for debugging count, and never have a limit."""
    kinds = ("containers", "initContainers", "ephemeralContainers")
    return all(name in _amounts(one, "limits") for kind in kinds for one in spec.get(kind) or ())


def keep_pod_resources(spec: dict[str, Any], old: Object) -> None:
    """An update that does not tell what was filled in leaves it as it is."""
    if spec.get("resources"):
        limits, requests = ({**_amounts(old, kind), **_amounts(spec, kind)} for kind in ("limits", "requests"))
        _set(spec, limits, requests)


def pod_resources(spec: Object, field: Field, known_claims: list[str]) -> None:
    """`resources` of a pod, told from it."""
    value = spec["resources"]
    if value.get("claims"):
        field.forbidden("claims", "claims may not be set for Resources at pod-level")
    for kind in ("limits", "requests"):
        for name in field.names(value.get(kind)):
            if not is_supported(name):
                field.not_supported(f"{kind}[{name}]", name, SUPPORTED)
    requirements(value, field)
    if value.get("claims"):
        field.within("claims", claims(known_claims), value["claims"])
    _consistency(spec, value, field)


def _consistency(spec: Object, value: Object, field: Field) -> None:
    requests, limits = value.get("requests") or {}, value.get("limits") or {}
    asked = of_containers(spec, "requests")
    for name in field.names(asked):
        if is_supported(name) and asked[name] > quantity.parse(requests.get(name, "0")):
            why = f"must be greater than or equal to aggregate container requests of {asked[name]}"
            field.invalid(f"requests[{name}]", requests.get(name, "0"), why)
    for index, container in field.numbered(spec.get("containers") or ()):
        own = _amounts(container, "limits")
        for name in field.names(own):
            if name in limits and is_supported(name) and quantity.parse(own[name]) > quantity.parse(limits[name]):
                why = f"must be less than or equal to pod limits of {limits[name]}"
                field.invalid(f"containers[{index}][{name}].limits", own[name], why)
