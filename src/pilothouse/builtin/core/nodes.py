"""Nodes: taints, address ranges and the status that kubelets write."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.shared.addresses import network_warnings, old_network
from pilothouse.builtin.shared.amounts import NANO, nanos, round_amounts
from pilothouse.builtin.shared.internals import internal
from pilothouse.builtin.shared.resources import INTEGERS
from pilothouse.builtin.shared.scheduling import EFFECTS, TOLERATED
from pilothouse.machinery import names
from pilothouse.machinery.goquote import quote
from pilothouse.machinery.rules import NOT_NEGATIVE, Field, at, defaults, on_update, repeated, rules, shown
from pilothouse.machinery.rules.alike import are_alike
from pilothouse.registry.behaviour import Behaviour, Context, Object, Part

_INFO: Final = (
    "machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion", "kubeletVersion",
    "kubeProxyVersion", "operatingSystem", "architecture",
)  # fmt: skip
_FEATURE: Final = re.compile(r"[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*")
_TOO_LONG: Final = "must be no more than 253 characters"
_FEATURE_FORM: Final = (
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "
    "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
)
_ONE_EACH: Final = "may specify no more than one CIDR for each IP family"
_NO_CHANGE: Final = 'node updates may not change podCIDR except from "" to valid'


def _ranges(spec: Object) -> None:
    """`podCIDR` is the first of `podCIDRs`; whoever knows only the one is right."""
    one, every = spec.get("podCIDR", ""), spec.get("podCIDRs") or []
    if one and (not every or every[0] != one):
        spec["podCIDRs"] = [one]
    elif every and not one:
        spec["podCIDR"] = every[0]


def _allocatable(status: Object) -> None:
    if "allocatable" not in status and status.get("capacity"):
        status["allocatable"] = dict(status["capacity"])


_fill: Final = defaults(
    {
        "spec": _ranges,
        "status.capacity": round_amounts,
        "status": _allocatable,
        "status.allocatable": round_amounts,
    }
)


def _are_good_taints(items: Sequence[Any]) -> bool:
    """Whether surely nothing is wrong with some taints that all have other keys."""
    return "key" in items[0] and items[0].get("effect") in EFFECTS and are_alike(items, TOLERATED)


def taints(items: Sequence[Mapping[str, Any]], field: Field) -> None:
    """Told from the list. A key may have several effects, but each once."""
    seen: set[tuple[str, str]] = set()
    once = len({(one.get("key", ""), one.get("effect", "")) for one in items}) == len(items)
    for index, one in field.doubtful(items, _are_good_taints) if once else field.numbered(items):
        key, effect, value = one.get("key", ""), one.get("effect", ""), one.get("value", "")
        field.all_invalid(f"[{index}].key", key, names.qualified_name(key))
        whys = names.label_value(value)
        if whys:
            field.invalid(f"[{index}].value", value, ";".join(whys))
        if effect not in EFFECTS:
            field.outside(f"[{index}].effect", effect, EFFECTS)
        if (key, effect) in seen:
            text = shown(internal("Taint", one))
            why = f"Duplicate value: {text}: taints must be unique by key and effect pair"
            field.add(f"[{index}]", "FieldValueDuplicate", why)
        seen.add((key, effect))


def _addresses(items: Sequence[Mapping[str, Any]], field: Field) -> None:
    again = repeated(items, lambda one: (one.get("type", ""), one.get("address", "")))
    for index, one in field.until_full(again):
        field.duplicate(f"[{index}]", internal("NodeAddress", one))


def _amounts(kind: str, status: Mapping[str, Any], field: Field) -> None:
    found = status.get(kind) or {}
    for name in field.names(found):
        value = nanos(found[name])
        if value < 0:
            field.invalid(f"{kind}.{name}", found[name], NOT_NEGATIVE)
        if name in INTEGERS and value % NANO:
            field.invalid(f"{kind}.{name}", found[name], "must be an integer")


def _features(found: Sequence[str], field: Field) -> None:
    """Features that the node declares: names in the order of the alphabet, each once. Told from the list."""
    for index, name in field.numbered(found):
        why = _TOO_LONG if len(name) > 253 else "" if _FEATURE.fullmatch(name) else _FEATURE_FORM
        if why:
            field.invalid(f"[{index}]", name, f"invalid feature name {quote(name)}: {why}")
        after = found[index + 1] if index + 1 < len(found) else None
        if after == name:
            field.duplicate(f"[{index + 1}]", after)
        elif after is not None and after < name:
            field.invalid(f"[{index + 1}]", after, "list must be sorted alphabetically")


def _status(status: Mapping[str, Any], field: Field) -> None:
    _amounts("capacity", status, field)
    _amounts("allocatable", status, field)


def _swap(status: Mapping[str, Any], field: Field) -> None:
    capacity = ((status.get("nodeInfo") or {}).get("swap") or {}).get("capacity")
    if capacity is not None and capacity <= 0:
        before = len(field.found)
        field.invalid("capacity", capacity, "must be greater than zero")
        field.prefix(before, "/metadata.nodeSwapStatus")


def _taints(spec: Mapping[str, Any], field: Field) -> None:
    if spec.get("taints"):
        before = len(field.found)
        taints(spec["taints"], field)
        if len(field.found) > before:
            field.prefix(before, "/metadata.taints")


def _networks(spec: Mapping[str, Any], field: Field) -> None:
    every = spec.get("podCIDRs") or []
    kept = (field.old or {}).get("podCIDRs") or ()
    before = len(field.found)
    for index, text in field.numbered(every):
        old_network(f"podCIDRs[{index}]", text, field, kept)
    if len(field.found) > before or len(every) < 2:
        return
    families = {found.version for text in every if (found := names.parse_network(text)) is not None}
    if len(every) > 2 or len(families) != 2:
        field.invalid("podCIDRs", every, _ONE_EACH)


def _change(spec: Mapping[str, Any], field: Field) -> None:
    old = field.old
    before, after = old.get("podCIDRs") or [], spec.get("podCIDRs") or []
    if before and before != after:
        field.forbidden("podCIDRs", _NO_CHANGE)
    if old.get("providerID") and spec.get("providerID") != old["providerID"]:
        cleared = not spec.get("providerID")
        why = "field cannot be cleared once set" if cleared else "field cannot be modified once set"
        field.invalid("providerID", None, why)
    if (old.get("externalID") or "") != (spec.get("externalID") or ""):
        field.forbidden("externalID", "may not be updated")


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    """A source of configuration is a thing of the past. What a node is never told it keeps."""
    spec = new.setdefault("spec", {})
    spec.pop("configSource", None)
    if old is not None:
        before = old.get("spec") or {}
        for name in ("podCIDR", "podCIDRs"):
            if not spec.get(name) and before.get(name):
                spec[name] = before[name]
        return
    status = new.setdefault("status", {})
    status.setdefault("daemonEndpoints", {"kubeletEndpoint": {"Port": 0}})
    status.setdefault("nodeInfo", dict.fromkeys(_INFO, ""))


def _prepare_status(new: Object, old: Object | None, context: Context) -> None:
    """Where configuration came from is told no more, but by nodes that ever did."""
    if old is not None and "status" in new and "config" not in (old.get("status") or {}):
        new["status"].pop("config", None)


_validate: Final = rules(
    at("spec", _taints),
    at("status", _status, _swap, at("declaredFeatures", _features)),
    at("spec", _networks),
    at("spec", on_update(_change)),
)
_parts: Final = {
    "status": Part(
        prepare=_prepare_status,
        validate=rules(at("status", _status, at("declaredFeatures", _features), at("addresses", _addresses))),
    )
}


def _warn(new: Object, old: Object | None) -> list[str]:
    spec = new.get("spec") or {}
    found = []
    if spec.get("externalID"):
        found.append("spec.externalID: this field is deprecated, and is unused by Kubernetes")
    for index, text in enumerate(spec.get("podCIDRs") or ()):
        found += network_warnings(f"spec.podCIDRs[{index}]", text)
    return found


behaviour = Behaviour(defaults=_fill, prepare=_prepare, validate=_validate, warn=_warn, parts=_parts)
