"""Devices in a resource slice: attributes, capacities, taints, where they can be used, what they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.resource import taints, words
from pilothouse.builtin.resource.requestpolicies import request_policy
from pilothouse.builtin.shared.fields import one_member
from pilothouse.builtin.shared.selectors import node_selector
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, repeated
from pilothouse.registry.behaviour import Object

_VALUES: Final = ("int", "bool", "string", "version", "ints", "bools", "strings", "versions")
_LISTS: Final = _VALUES[4:]
_ONE_VALUE: Final = one_member(*_VALUES)
_LONGEST_TEXT: Final = 64
_MOST_BINDING: Final = 4
_MOST_PROPERTIES: Final = 32  # attributes and capacities together
_MOST_TAINTS: Final = 16
_MOST_CONSUMED: Final = 2  # sets of counters
MOST_COUNTERS: Final = 32
_PLACES: Final = ("nodeName", "nodeSelector", "allNodes")
_ONLY_PER_DEVICE: Final = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the "
    "ResourceSlice spec"
)
_PER_DEVICE: Final = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)


def drop_gated(device: Object) -> None:
    """Fields of features that are off."""
    device.pop("nodeAllocatableResources", None)
    for attribute in (device.get("attributes") or {}).values():
        for name in _LISTS:
            attribute.pop(name, None)
    for counters in device.get("consumesCounters") or ():
        counters.pop("compatibilityGroups", None)


# -- first half


def _is_long(attribute: Object) -> bool:
    """Whether there is a text in it that must be looked at."""
    return attribute.get("version") is not None or len(attribute.get("string") or "") > _LONGEST_TEXT


def _attributes(value: Mapping[str, Object], field: Field) -> None:
    for name in field.names(
        value, lambda some: words.are_plain(some) and not any(_is_long(value[one]) for one in some)
    ):
        attribute = value[name]
        field.within("attributes", words.qualified_name, name)
        text, version = attribute.get("string"), attribute.get("version")
        if text is not None and len(text) > _LONGEST_TEXT:
            field.too_long(f"attributes[{name}].string", _LONGEST_TEXT)
        if version is not None:
            if not words.is_version(version):
                why = "must be a string compatible with semver.org spec 2.0.0"
                field.invalid(f"attributes[{name}].version", version, why)
            if len(version) > _LONGEST_TEXT:
                field.too_long(f"attributes[{name}].version", _LONGEST_TEXT)


def _capacities(value: Object, field: Field) -> None:
    capacities: Mapping[str, Object] = value.get("capacity") or {}

    def limited(name: str) -> bool:
        return capacities[name].get("requestPolicy") is not None

    for name in field.names(capacities, lambda some: words.are_plain(some) and not any(map(limited, some))):
        field.within("capacity", words.qualified_name, name)
        policy = capacities[name].get("requestPolicy")
        if policy is None:
            continue
        path = f"capacity[{name}].requestPolicy"
        if not value.get("allowMultipleAllocations"):
            field.forbidden(path, "allowMultipleAllocations must be true")
            continue
        before = len(field.found)
        request_policy(policy, field, capacities[name].get("value", "0"))
        field.prefix(before, path)


def _place(value: Object, field: Field, per_device: bool) -> None:
    if not per_device:
        if any(value.get(name) is not None for name in _PLACES):
            field.invalid("", None, _ONLY_PER_DEVICE)
        return
    found = [name for name in _PLACES if value.get(name) not in (None, "", False)]
    name, selector = value.get("nodeName"), value.get("nodeSelector")
    if name == "":
        field.invalid("nodeName", name, "must not be empty")
    elif name is not None:
        field.all_invalid("nodeName", name, names.subdomain(name))
    if selector is not None:
        field.within("nodeSelector", node_selector, selector)
    if value.get("allNodes") is False:
        field.invalid("allNodes", False, "must be either unset or set to true")
    if not found:
        field.required("", _PER_DEVICE)
    elif len(found) > 1:
        field.invalid("", "{" + ", ".join(f"`{one}`" for one in found) + "}", _PER_DEVICE)


def binding(value: Object, field: Field) -> None:
    """Conditions that must hold before a pod is bound, and those that tell that they never will."""
    wanted: Sequence[str] = value.get("bindingConditions") or ()
    failed: Sequence[str] = value.get("bindingFailureConditions") or ()
    for name, items in (("bindingConditions", wanted), ("bindingFailureConditions", failed)):
        if len(items) > _MOST_BINDING:
            field.too_many(name, len(items), _MOST_BINDING)
        again = {index for index, _ in repeated(items, str)}
        others = set(wanted) if items is failed else set()
        fine = names.are_qualified_names
        for index, item in (
            field.numbered(items) if again or not others.isdisjoint(items) else field.doubtful(items, fine)
        ):
            path = f"{name}[{index}]"
            field.all_invalid(path, item, names.qualified_name(item))
            if index in again:
                field.duplicate(path, item)
            elif item in others:
                field.invalid(path, item, "bindingFailureConditions must not overlap with bindingConditions")
    if wanted and not failed:
        field.invalid(
            "bindingFailureConditions", failed, "bindingFailureConditions are required to use bindingConditions"
        )
    elif failed and not wanted:
        field.invalid("bindingConditions", wanted, "bindingConditions are required to use bindingFailureConditions")


def device(value: Object, field: Field) -> None:
    per_device = bool(field.root["spec"].get("perDeviceNodeSelection"))
    marks: Sequence[Object] = value.get("taints") or ()
    field.within("name", words.label, value.get("name", ""))
    properties = len(value.get("attributes") or ()) + len(value.get("capacity") or ())
    if properties > _MOST_PROPERTIES:
        why = f"the total number of attributes and capacities must not exceed {_MOST_PROPERTIES}"
        field.invalid("", properties, why)
    _attributes(value.get("attributes") or {}, field)
    _capacities(value, field)
    if len(marks) > _MOST_TAINTS:
        field.too_many("taints", len(marks), _MOST_TAINTS)
    else:
        field.each("taints", taints.taint, marks)
    _place(value, field, per_device)
    binding(value, field)


# -- second half


def counters(value: Object, field: Field) -> None:
    """Rule for what has counters: some, by label, and not too many."""
    found: Mapping[str, Object] = value.get("counters") or {}
    if not found:
        field.required("counters")
    elif len(found) > MOST_COUNTERS:
        field.too_many("counters", len(found), MOST_COUNTERS)
    else:
        for name in field.names(found):
            field.within("counters", words.label, name)


def _consumed(value: Object, field: Field) -> None:
    name: Any = value.get("counterSet", "")
    field.named("counterSet", name, names.label)
    counters(value, field)


def _consumed_set(item: Object) -> Any:
    return item.get("counterSet", "")


def declared_device(value: Object, field: Field) -> None:
    if words.is_flat(field):
        field.within("basic", _declared_properties, value)
    else:
        _declared_properties(value, field)


def _declared_properties(value: Object, field: Field) -> None:
    field.each_value("attributes", _ONE_VALUE, value.get("attributes"))
    consumed: Sequence[Object] = value.get("consumesCounters") or ()
    if len(consumed) > _MOST_CONSUMED:
        field.too_many("consumesCounters", len(consumed), _MOST_CONSUMED)
    else:
        for index, item in field.until_full(repeated(consumed, _consumed_set)):
            field.duplicate(f"consumesCounters[{index}]", item)
        field.each("consumesCounters", _consumed, consumed)
    field.each("taints", taints.declared_taint, value.get("taints"))
