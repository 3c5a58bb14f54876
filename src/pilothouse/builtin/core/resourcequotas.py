"""ResourceQuotas: what is counted, and for which pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.shared.amounts import round_amounts
from pilothouse.builtin.shared.internals import internal
from pilothouse.builtin.shared.prepared import fresh_status
from pilothouse.builtin.shared.resources import amount, resource_name
from pilothouse.machinery import names
from pilothouse.machinery.rules import IMMUTABLE, Field, at, defaults, on_update, rules
from pilothouse.registry.behaviour import Behaviour, Part

_STANDARD: Final = frozenset(
    {
        "cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.ephemeral-storage",
        "limits.cpu", "limits.memory", "limits.ephemeral-storage", "pods", "resourcequotas", "services",
        "replicationcontrollers", "secrets", "persistentvolumeclaims", "configmaps", "services.nodeports",
        "services.loadbalancers", "requests.storage",
    }
)  # fmt: skip
_HUGE: Final = ("requests.hugepages-", "hugepages-")
_BY_POD: Final = frozenset(
    {"Terminating", "NotTerminating", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity"}
)
_SCOPES: Final = _BY_POD | {"BestEffort", "VolumeAttributesClass"}
_EXISTS_ONLY: Final = frozenset(
    {"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity"}
)
_CONFLICTS: Final = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
_OF_PODS: Final = frozenset(
    {
        "pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory",
    }
)  # fmt: skip
_ONLY_EXISTS: Final = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)

Object = Mapping[str, Any]


def _resource(name: str, field: Field, path: str) -> None:
    resource_name(name, field, path)
    if "/" not in name and not names.qualified_name(name) and name not in _STANDARD and not name.startswith(_HUGE):
        field.invalid(path, name, "must be a standard resource for quota")


def _hard(values: Object, field: Field) -> None:
    for name in field.names(values):
        _resource(name, field, f"[{name}]")
        amount(name, values[name], field, f"[{name}]")


def _applies(scope: str, resource: str) -> bool:
    if scope == "BestEffort":
        return resource == "pods"
    if scope == "VolumeAttributesClass":
        return resource in ("persistentvolumeclaims", "requests.storage")
    return resource in _OF_PODS


def _misapplied(scope: str, spec: Object) -> bool:
    """Whether something is counted that the scope does not tell apart."""
    standard = (name for name in spec.get("hard") or () if name in _STANDARD or name.startswith(_HUGE))
    return any(not _applies(scope, name) for name in standard)


def _scopes(spec: Object, field: Field) -> None:
    found: list[str] = spec.get("scopes") or []
    for scope in found:
        if field.full:
            return
        if scope not in _SCOPES:
            field.invalid("scopes", found, "unsupported scope")
        elif _misapplied(scope, spec):
            field.invalid("scopes", found, "unsupported scope applied to resource")
    _conflicts("scopes", set(found), found, field)


def _conflicts(path: str, scopes: set[str], shown: Any, field: Field) -> None:
    for pair in _CONFLICTS:
        if pair <= scopes:
            field.invalid(path, shown, "conflicting scopes")


def _selector(spec: Object, field: Field) -> None:
    selector = spec.get("scopeSelector")
    if selector is None:
        return
    expressions: Sequence[Object] = selector.get("matchExpressions") or ()
    for one in field.until_full(expressions):
        before = len(field.found)
        _expression(one, spec, field)
        if len(field.found) > before:
            field.prefix(before, "scopeSelector.matchExpressions")
    if field.full:
        return
    scopes = {one.get("scopeName", "") for one in expressions}
    _conflicts("scopeSelector.matchExpressions", scopes, spec.get("scopes") or None, field)


def _expression(one: Object, spec: Object, field: Field) -> None:
    scope, operator, values = one.get("scopeName", ""), one.get("operator", ""), one.get("values") or []
    if scope not in _SCOPES:
        field.invalid("scopeName", scope, "unsupported scope")
    elif _misapplied(scope, spec):
        field.invalid("", internal("ScopeSelector", spec["scopeSelector"]), "unsupported scope applied to resource")
    if scope in _EXISTS_ONLY and operator != "Exists":
        field.invalid("operator", operator, _ONLY_EXISTS)
    if operator in ("In", "NotIn"):
        if not values:
            field.required("values", "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            field.invalid("values", values, why)
    else:
        field.invalid("operator", operator, "not a valid selector operator")


def _fixed(spec: Object, field: Field) -> None:
    if set(spec.get("scopes") or ()) != set(field.old.get("scopes") or ()):
        field.invalid("scopes", spec.get("scopes"), IMMUTABLE)


_fill: Final = defaults({"spec.hard": round_amounts, "status.hard": round_amounts, "status.used": round_amounts})
_status: Final = rules(at("status", at("hard", _hard), at("used", _hard)))

behaviour = Behaviour(
    defaults=_fill,
    prepare=fresh_status({}),
    validate=rules(at("spec", at("hard", _hard), _scopes, _selector, on_update(_fixed))),
    parts={"status": Part(validate=_status)},
)
