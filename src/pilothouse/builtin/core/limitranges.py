"""LimitRanges: least and most of resources, and what containers get that say nothing."""

from __future__ import annotations

from collections.abc import KeysView, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from pilothouse.builtin.shared.amounts import NANO, nanos, round_amounts
from pilothouse.builtin.shared.resources import container_resource_name, overcommits, resource_name
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, defaults, rules
from pilothouse.registry.behaviour import Behaviour

_STANDARD: Final = ("Pod", "Container", "PersistentVolumeClaim")
_ALL: Final = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")

Amounts = Mapping[str, str]


def _fill(item: dict[str, Any]) -> None:
    """Containers get the most as their limit, and the limit, or else the least, as their request."""
    for name in _ALL:
        if item.get(name):
            round_amounts(item[name])
    if item.get("type") != "Container":
        return
    limits = {**(item.get("max") or {}), **(item.get("default") or {})}
    if limits:
        item["default"] = limits
    requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
    if requests:
        item["defaultRequest"] = requests


def _names(item: Mapping[str, Any], field: Field, of: str) -> KeysView[str]:
    """Judge the resources of one map; return them."""
    found: Amounts = item.get(of) or {}
    for name in field.names(found):
        path = f"{of}[{name}]"
        if item.get("type") in ("Container", "Pod"):
            container_resource_name(name, field, path)
        else:
            resource_name(name, field, path)
    return found.keys()


def _orders(item: Mapping[str, Any], name: str, field: Field) -> None:
    """Least, request, limit and most may not be the other way round."""
    least, most = (item.get("min") or {}).get(name), (item.get("max") or {}).get(name)
    request, limit = (item.get("defaultRequest") or {}).get(name), (item.get("default") or {}).get(name)
    # smaller, larger, where it is told, which value is shown, in which words
    for smaller, larger, where, shown, text in (
        (least, most, "min", least, "min value {} is greater than max value {}"),
        (least, request, "defaultRequest", request, "min value {} is greater than default request value {}"),
        (request, most, "defaultRequest", request, "default request value {} is greater than max value {}"),
        (request, limit, "defaultRequest", request, "default request value {} is greater than default limit value {}"),
        (least, limit, "default", least, "min value {} is greater than default value {}"),
        (limit, most, "default", most, "default value {} is greater than max value {}"),
    ):
        if smaller is not None and larger is not None and nanos(smaller) > nanos(larger):
            field.invalid(f"{where}[{name}]", shown, text.format(smaller, larger))


def _agreeing(item: Mapping[str, Any], name: str, field: Field) -> None:
    """Of what cannot be overcommitted, request and limit are the same."""
    limit, request = (item.get("default") or {}).get(name), (item.get("defaultRequest") or {}).get(name)
    if limit is None or request is None or overcommits(name) or nanos(limit) == nanos(request):
        return
    why = f"default value {limit} must equal to defaultRequest value {request} in {name}"
    field.invalid(f"defaultRequest[{name}]", request, why)


def _ratio(item: Mapping[str, Any], name: str, field: Field) -> None:
    text = (item.get("maxLimitRequestRatio") or {}).get(name)
    if text is None:
        return
    path = f"maxLimitRequestRatio[{name}]"
    if nanos(text) < NANO:
        field.invalid(path, text, f"ratio {text} is less than 1")
    least, most = (item.get("min") or {}).get(name), (item.get("max") or {}).get(name)
    if least is not None and most is not None and nanos(least):
        largest = nanos(most) / nanos(least)
        if nanos(text) / NANO > largest:
            field.invalid(path, text, f"ratio {text} is greater than max/min = {largest:.6f}")


def _type(kind: str, field: Field) -> None:
    whys = names.qualified_name(kind)
    if whys:
        field.all_invalid("type", kind, whys)
    elif "/" not in kind and kind not in _STANDARD:
        field.invalid("type", kind, "must be a standard limit type or fully qualified")


def _item(item: Mapping[str, Any], field: Field) -> None:
    kind = item.get("type", "")
    keys = [_names(item, field, "max"), _names(item, field, "min")]
    if kind == "Pod":
        for name in ("default", "defaultRequest"):
            if item.get(name):
                field.forbidden(name, "may not be specified when `type` is 'Pod'")
    else:
        keys += [_names(item, field, "default"), _names(item, field, "defaultRequest")]
    keys.append(_names(item, field, "maxLimitRequestRatio"))
    if kind == "PersistentVolumeClaim":
        if "storage" not in (item.get("min") or {}) and "storage" not in (item.get("max") or {}):
            why = "either minimum or maximum storage value is required, but neither was provided"
            field.required("limits", why)
    for name in () if field.full else field.names(set(chain.from_iterable(keys))):
        _orders(item, name, field)
        _ratio(item, name, field)
        if kind != "Pod":
            _agreeing(item, name, field)


def _limits(items: Sequence[Mapping[str, Any]], field: Field) -> None:
    seen: set[str] = set()
    for index, item in field.numbered(items):
        before = len(field.found)
        _type(item.get("type", ""), field)
        if item.get("type", "") in seen:
            field.duplicate("type", item.get("type", ""))
        seen.add(item.get("type", ""))
        _item(item, field)
        if len(field.found) > before:
            field.prefix(before, f"[{index}]")


behaviour = Behaviour(
    defaults=defaults({"spec.limits[]": _fill}),
    validate=rules(at("spec.limits", _limits)),
)
