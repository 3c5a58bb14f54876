"""Which objects a quota is about: its scopes and its scope selector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from pilothouse.registry.resource import Object, Resource

Test = Callable[[Object, Mapping[str, Any]], bool]  # (object, requirement) -> whether it is met


def matches(quota: Object, resource: Resource, obj: Object) -> bool:
    """Whether every scope holds. A kind that has no such scope is never meant."""
    tests = _TESTS.get((resource.group, resource.plural), {})
    for requirement in _requirements(quota.get("spec") or {}):
        test = tests.get(requirement["scopeName"])
        if test is None or not test(obj, requirement):
            return False
    return True


def _requirements(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for name in spec.get("scopes") or ():
        yield {"scopeName": name, "operator": "Exists"}
    yield from (spec.get("scopeSelector") or {}).get("matchExpressions") or ()


def _chosen(value: str | None, requirement: Mapping[str, Any]) -> bool:
    operator, values = requirement.get("operator"), requirement.get("values") or ()
    if operator == "Exists":
        return bool(value)
    if operator == "DoesNotExist":
        return not value
    if operator == "In":
        return bool(value) and value in values
    return not value or value not in values


def _deadline(obj: Object) -> bool:
    return (obj.get("spec") or {}).get("activeDeadlineSeconds") is not None


def _best_effort(obj: Object) -> bool:
    return bool((obj.get("status") or {}).get("qosClass") == "BestEffort")


def _far_affinity(obj: Object) -> bool:
    """Affinity that looks at pods of other namespaces."""
    affinity = (obj.get("spec") or {}).get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind) or {}
        terms = list(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        for weighted in rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            terms.append(weighted.get("podAffinityTerm") or {})
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms):
            return True
    return False


def _priority_class(obj: Object, requirement: Mapping[str, Any]) -> bool:
    return _chosen((obj.get("spec") or {}).get("priorityClassName"), requirement)


def _attributes_class(obj: Object, requirement: Mapping[str, Any]) -> bool:
    return _chosen((obj.get("spec") or {}).get("volumeAttributesClassName"), requirement)


_POD: Final[dict[str, Test]] = {
    "Terminating": lambda obj, requirement: _deadline(obj),
    "NotTerminating": lambda obj, requirement: not _deadline(obj),
    "BestEffort": lambda obj, requirement: _best_effort(obj),
    "NotBestEffort": lambda obj, requirement: not _best_effort(obj),
    "PriorityClass": _priority_class,
    "CrossNamespacePodAffinity": lambda obj, requirement: _far_affinity(obj),
}
_TESTS: Final[dict[tuple[str, str], dict[str, Test]]] = {
    ("", "pods"): _POD,
    ("", "persistentvolumeclaims"): {"VolumeAttributesClass": _attributes_class},
}
