"""Requests and limits of containers, pods and claims."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.shared.amounts import NANO, nanos
from pilothouse.machinery import names as words
from pilothouse.machinery.rules import NOT_NEGATIVE, Field, Rule, one_of

HUGE_PAGES: Final = "hugepages-"
STANDARD: Final = frozenset({"cpu", "memory", "ephemeral-storage"})  # what a container may ask for, beside huge pages
STANDARD_NAMES: Final = STANDARD | {
    "requests.cpu", "requests.memory", "requests.ephemeral-storage", "limits.cpu", "limits.memory",
    "limits.ephemeral-storage", "pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps",
    "persistentvolumeclaims", "storage", "requests.storage", "services.nodeports", "services.loadbalancers",
}  # fmt: skip
INTEGERS: Final = frozenset(
    {
        "pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps",
        "persistentvolumeclaims", "services.nodeports", "services.loadbalancers",
    }
)  # fmt: skip
NO_FRACTION: Final = "must be an integer"

Object = Mapping[str, Any]


def is_native(name: str) -> bool:
    """A resource of the original's own: without a domain, or in one of kubernetes.io."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """A device of a vendor, `example.com/gpu`: counted in whole pieces and never overcommitted."""
    if is_native(name) or name.startswith("requests."):
        return False
    return not words.qualified_name("requests." + name)


def overcommits(name: str) -> bool:
    """Requests of it may be lower than limits."""
    return is_native(name) and not name.startswith(HUGE_PAGES)


def resource_name(name: str, field: Field, path: str) -> None:
    """Any resource: qualified, and standard where it has no domain."""
    whys = words.qualified_name(name)
    if whys:
        field.all_invalid(path, name, whys)
    elif "/" not in name and name not in STANDARD_NAMES and not name.startswith((HUGE_PAGES, "requests." + HUGE_PAGES)):
        field.invalid(path, name, "must be a standard resource type or fully qualified")


def container_resource_name(name: str, field: Field, path: str) -> None:
    """A resource that a container may ask for."""
    if name in STANDARD:
        return
    resource_name(name, field, path)
    if "/" not in name:
        if not name.startswith(HUGE_PAGES):
            field.invalid(path, name, "must be a standard resource for containers")
    elif not is_native(name) and not is_extended(name):
        field.invalid(path, name, "doesn't follow extended resource name standard")


def amount(name: str, text: str, field: Field, path: str) -> None:
    """An amount of a resource: not negative, and whole where it is counted in pieces."""
    value = nanos(text)
    if value < 0:
        field.invalid(path, text, NOT_NEGATIVE)
    if (name in INTEGERS or is_extended(name)) and value % NANO:
        field.invalid(path, text, NO_FRACTION)


def _huge_pages(name: str, text: str, field: Field, path: str) -> None:
    size = name.removeprefix(HUGE_PAGES)
    if not re.fullmatch(r"\d+([KMGTPE]i?|k)?", size) or nanos(size) <= 0:
        field.invalid(path, text, f"invalid page size format for {name}")
    elif nanos(text) % nanos(size):
        field.invalid(path, text, f"{text} is not positive integer multiple of {name}")


def _checked(name: str, text: str, field: Field, path: str) -> None:
    """One line of a container's limits or requests."""
    if name in STANDARD:
        if nanos(text) < 0:
            field.invalid(path, text, NOT_NEGATIVE)
        return
    container_resource_name(name, field, path)
    amount(name, text, field, path)
    if name.startswith(HUGE_PAGES):
        _huge_pages(name, text, field, path)


def _compared(name: str, request: str, limits: Object, field: Field) -> None:
    """A request against the limit of the same resource."""
    if name in limits:
        limit = limits[name]
        if not overcommits(name):
            if nanos(request) != nanos(limit):
                field.invalid("requests", request, f"must be equal to {name} limit of {limit}")
        elif nanos(request) > nanos(limit):
            field.invalid("requests", request, f"must be less than or equal to {name} limit of {limit}")
    elif not overcommits(name):
        field.required("limits", "Limit must be set for non overcommitable resources")


def requirements(value: Object, field: Field) -> None:
    """Limits and requests of a container (claims apart): names, amounts, and requests within limits."""
    limits, requests = value.get("limits") or {}, value.get("requests") or {}
    plain = huge = False
    for name in limits if len(limits) < 2 else field.names(limits):
        _checked(name, limits[name], field, f"limits[{name}]")
        plain = plain or name in ("cpu", "memory")
        huge = huge or name.startswith(HUGE_PAGES)
    for name in requests if len(requests) < 2 else field.names(requests):
        _checked(name, requests[name], field, f"requests[{name}]")
        _compared(name, requests[name], limits, field)
        plain = plain or name in ("cpu", "memory")
        huge = huge or name.startswith(HUGE_PAGES)
    if huge and not plain:
        field.forbidden("", "HugePages require cpu or memory")


def claims(names: Sequence[str]) -> Rule:
    """The claims a container uses: each once, and one of the pod's."""
    every = frozenset(names)
    known = f": must be one of the names in pod.spec.resourceClaims: {', '.join(sorted(names))}"
    if not names:
        known = ": must be one of the names in pod.spec.resourceClaims which is empty"

    def run(items: Sequence[Object], field: Field) -> None:
        seen: set[str] = set()
        of_requests: set[str] = set()  # claims that are seen with a request
        for index, item in field.numbered(items):
            name, request = item.get("name", ""), item.get("request", "")
            if not name:
                field.required(f"[{index}]")
                continue
            whole = f"{name}/{request}" if request else name
            if whole in seen:
                field.duplicate(f"[{index}]", whole)
            elif name in (seen if request else of_requests):
                field.duplicate(f"[{index}]", name)
            else:
                seen.add(whole)
                if request:
                    of_requests.add(name)
            if request:
                field.all_invalid(f"[{index}].request", request, words.label(request))
            if name not in every:
                field.add(f"[{index}]", "FieldValueNotFound", f'Not found: "{name}"{known}')

    return run


_RESIZED: Final = one_of("cpu", "memory")
_RESTARTS: Final = one_of("NotRequired", "RestartContainer")


def resize_policies(items: Sequence[Object], field: Field) -> None:
    """What changing a resource does to a container."""
    seen: set[str] = set()
    for index, item in field.numbered(items):
        name = item.get("resourceName", "")
        if name in seen:
            field.duplicate(f"[{index}]", name)
        seen.add(name)
        _RESIZED(name, field)
        _RESTARTS(item.get("restartPolicy", ""), field)
