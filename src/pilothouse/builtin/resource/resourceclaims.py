"""Resource claims: devices that pods want, and which they got."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.builtin.resource import claims, words
from pilothouse.builtin.shared import addresses
from pilothouse.builtin.shared.conditions import conditions
from pilothouse.builtin.shared.selectors import node_selector
from pilothouse.machinery.rules import Field, at, defaults, immutable_null, on_create, rules
from pilothouse.registry.behaviour import Behaviour, Context, Object, Part

_SOURCES: Final = ("FromClaim", "FromClass")
_MOST_CONSUMERS: Final = 256
_MOST_RESULTS: Final = 32
_LONGEST_INTERFACE: Final = 256
_LONGEST_HARDWARE: Final = 128
_MOST_ADDRESSES: Final = 16


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    claims.drop_gated(new["spec"])


# -- status


def _result(value: Object, field: Field) -> None:
    known = claims.known_requests(field.root["spec"])
    request = value.get("request", "")
    if request not in known:
        why = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
        field.invalid("request", request, why)
    field.within("driver", words.driver, value.get("driver", ""))
    field.within("pool", words.pool, value.get("pool", ""))
    field.within("device", words.label, value.get("device", ""))


def _allocated_configuration(value: Object, field: Field) -> None:
    source = value.get("source", "")
    if source not in _SOURCES:
        field.outside("source", source, _SOURCES)
    claims.references(value.get("requests"), claims.known_requests(field.root["spec"]), field)
    words.opaque(value, field)
    words.opaque_driver(value, field)


def _allocation(value: Object, field: Field) -> None:
    if field.updating and field.old is not None:
        return  # what was allocated once stays as it is, and was judged then
    devices = value.get("devices") or {}
    results = devices.get("results") or ()
    if len(results) > _MOST_RESULTS:
        field.too_many("devices.results", len(results), _MOST_RESULTS)
    field.each("devices.results", _result, results)
    field.each("devices.config", _allocated_configuration, devices.get("config"))
    if value.get("nodeSelector") is not None:
        field.within("nodeSelector", node_selector, value["nodeSelector"])


def _consumers(value: Sequence[Object], field: Field) -> None:
    if len(value) > _MOST_CONSUMERS:
        field.too_many("", len(value), _MOST_CONSUMERS)
    seen: set[str] = set()
    for index, one in enumerate(value):
        for name in ("resource", "name", "uid"):
            if not one.get(name):
                field.required(f"[{index}].{name}")
        uid = one.get("uid", "")
        if uid in seen:
            field.duplicate(f"[{index}]", one)
        seen.add(uid)


def _allocated(value: Object) -> set[tuple[str, ...]]:
    results = ((value.get("allocation") or {}).get("devices") or {}).get("results") or ()
    return {_identity(one) for one in results}


def _identity(value: Object) -> tuple[str, ...]:
    return tuple(value.get(name) or "" for name in ("driver", "pool", "device", "shareID"))


def _network(value: Object, field: Field) -> None:
    name, hardware = value.get("interfaceName", ""), value.get("hardwareAddress", "")
    if len(name) > _LONGEST_INTERFACE:
        field.too_long("interfaceName", _LONGEST_INTERFACE)
    if len(hardware) > _LONGEST_HARDWARE:
        field.too_long("hardwareAddress", _LONGEST_HARDWARE)
    ips = value.get("ips") or ()
    if len(ips) > _MOST_ADDRESSES:
        field.too_many("ips", len(ips), _MOST_ADDRESSES)
    for index, ip in enumerate(ips):
        # An address of an interface: bits beyond the prefix are its own.
        whys = [why for why in addresses.strict_network(ip) if not why.startswith("must not have bits")]
        field.all_invalid(f"ips[{index}]", ip, whys)
        if ip in ips[:index]:
            field.duplicate(f"ips[{index}]", ip)


def _device_statuses(value: Object, field: Field) -> None:
    known = _allocated(value)
    for index, one in enumerate(value.get("devices") or ()):
        path = f"devices[{index}]"
        own = _identity(one)
        if own not in known:
            shown = dict(zip(("Driver", "Pool", "Device", "ShareID"), own, strict=True))
            field.invalid(path, shown, "must be an allocated device in the claim")
        if one.get("conditions"):
            field.within(f"{path}.conditions", conditions, one["conditions"])
        if one.get("networkData") is not None:
            field.within(f"{path}.networkData", _network, one["networkData"])


def _reservations(value: Object, field: Field) -> None:
    if value.get("reservedFor") and value.get("allocation") is None:
        field.forbidden("reservedFor", "may not be specified when `allocated` is not set")


def _allocation_stays(value: Any, field: Field) -> None:
    old = field.root_old["status"].get("allocation") if field.updating else None
    new = value.get("allocation")
    if old is not None and new is not None and new != old:
        field.invalid("allocation", None, "field cannot be modified once set")


behaviour: Final = Behaviour(
    defaults=defaults({"spec": claims.fill_spec}),
    prepare=_prepare,
    validate=rules(
        on_create(at("spec", claims.spec_rules)),
        on_create(at("spec", claims.declared_spec_rules)),
        at("spec", immutable_null),
    ),
    parts={
        "status": Part(
            validate=rules(
                at("status.allocation", _allocation),
                at("status.reservedFor", _consumers),
                at("status", _device_statuses, _reservations, _allocation_stays),
            )
        )
    },
)
