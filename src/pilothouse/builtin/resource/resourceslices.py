"""Resource slices: the devices that a driver has to offer, in one place or for one node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.builtin.resource import devices, taints, words
from pilothouse.builtin.shared.fields import fixed, sent_empty
from pilothouse.builtin.shared.internals import internals
from pilothouse.builtin.shared.selectors import node_selector
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, immutable, repeated, rules
from pilothouse.machinery.times import format_time
from pilothouse.registry.behaviour import Behaviour, Context, Object

_PLACES: Final = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_ONE_PLACE: Final = f"exactly one of {', '.join(f'`{name}`' for name in _PLACES)} is required"
_EITHER: Final = ("sharedCounters", "devices")
_MOST_DEVICES: Final = 128
_MOST_SPECIAL_DEVICES: Final = 64  # where one has taints or consumes counters
_MOST_COUNTER_SETS: Final = 8


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    spec = new["spec"]
    for name in ("partitionTypeAttribute", "skipNodeOperations"):
        spec.pop(name, None)
    now = format_time(context.now)
    for device in spec.get("devices") or ():
        devices.drop_gated(device)
        for taint in device.get("taints") or ():
            taints.stamp(taint, now)


def _driver(value: Object, field: Field) -> None:
    field.within("driver", words.driver, value.get("driver", ""))


def _pool(value: Object, field: Field) -> None:
    pool = value.get("pool") or {}
    field.within("pool.name", words.pool, pool.get("name", ""))
    count, generation = pool.get("resourceSliceCount", 0), pool.get("generation", 0)
    if count <= 0:
        field.invalid("pool.resourceSliceCount", count, "must be greater than zero")
    if generation < 0:
        field.invalid("pool.generation", generation, "must be greater than or equal to zero")


def _selector(value: Object, field: Field) -> None:
    node_selector(value, field)
    terms = value.get("nodeSelectorTerms") or []
    if len(terms) > 1:
        field.invalid(
            "nodeSelectorTerms", internals("NodeSelectorTerm", terms), "must have exactly one node selector term"
        )


def _place(value: Object, field: Field) -> None:
    """Exactly one way to say for which nodes the devices are; false and empty ones count for none."""
    name, selector = value.get("nodeName"), value.get("nodeSelector")
    found = []
    if name == "":
        field.invalid("nodeName", name, "must be either unset or set to a non-empty string")
    elif name is not None:
        field.all_invalid("nodeName", name, names.subdomain(name))
        found.append("nodeName")
    if selector is not None:
        field.within("nodeSelector", _selector, selector)
        found.append("nodeSelector")
    for switch in ("allNodes", "perDeviceNodeSelection"):
        if value.get(switch) is False:
            field.invalid(switch, False, "must be either unset or set to true")
        elif value.get(switch):
            found.append(switch)
    if not found:
        field.required("", _ONE_PLACE)
    elif len(found) > 1:
        shown = "{" + ", ".join(f"`{one}`" for one in found) + "}"
        field.invalid("", shown, f"{_ONE_PLACE}, but multiple fields are set")


def _devices(value: Object, field: Field) -> None:
    found = value.get("devices") or ()
    if all(value.get(name) or sent_empty(field, f"spec.{name}") for name in _EITHER):
        field.invalid("", "", "only one of `sharedCounters` or `devices` is allowed")
    special = any(one.get("taints") or one.get("consumesCounters") for one in found)
    most = _MOST_SPECIAL_DEVICES if special else _MOST_DEVICES
    if len(found) > most:
        field.too_many("devices", len(found), most)
        return
    field.each("devices", devices.device, found)


# -- second half


def _named(item: Object) -> Any:
    return item.get("name", "")


def _declared_devices(value: Sequence[Object], field: Field) -> None:
    for index, item in field.until_full(repeated(value, _named)):
        field.duplicate(f"[{index}]", _named(item))
    field.each("", devices.declared_device, value)


def _counter_set(value: Object, field: Field) -> None:
    name = value.get("name", "")
    field.named("name", name, names.label)
    devices.counters(value, field)


def _counters(value: Sequence[Object], field: Field) -> None:
    if len(value) > _MOST_COUNTER_SETS:
        field.too_many("", len(value), _MOST_COUNTER_SETS)
        return
    for index, item in field.until_full(repeated(value, _named)):
        field.duplicate(f"[{index}]", item)
    field.each("", _counter_set, value)


behaviour: Final = Behaviour(
    prepare=_prepare,
    heeds_empty=tuple(f"spec.{name}" for name in _EITHER),
    validate=rules(
        at("spec", _driver, _pool),
        at("spec.pool.name", fixed()),
        at("spec.driver", fixed()),
        at("spec.nodeName", immutable),
        at("spec", _place, _devices),
        at("spec.devices", _declared_devices),
        at("spec.sharedCounters", _counters),
    ),
)
