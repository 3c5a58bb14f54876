"""What claims got: the devices that are allocated, who reserved them, and what their drivers say of them.

In two halves, as the rules of what is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from pilothouse.builtin.resource import claims, devices, words
from pilothouse.builtin.shared import addresses
from pilothouse.builtin.shared.conditions import conditions
from pilothouse.builtin.shared.selectors import node_selector
from pilothouse.machinery.rules import Field, repeated
from pilothouse.registry.behaviour import Object

_SOURCES: Final = ("FromClaim", "FromClass")
_MOST_CONSUMERS: Final = 256
_MOST_CONFIGURATIONS: Final = 64  # of the class and of the claim
_MOST_CONDITIONS: Final = 8
_LONGEST_INTERFACE: Final = 256
_LONGEST_HARDWARE: Final = 128
_MOST_ADDRESSES: Final = 16
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_NO_NEW: Final = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"


def _old(field: Field) -> Object:
    old: Object = (field.root_old.get("status") or {}) if field.updating else {}
    return old


def _fresh(value: Object, field: Field) -> Object | None:
    """The allocation, if it is new. What was allocated once stays as it is, and was judged then."""
    return None if _old(field).get("allocation") is not None else value.get("allocation")


# -- first half


def _consumer(value: Object, field: Field) -> None:
    for name in ("resource", "name", "uid"):
        if not value.get(name):
            field.required(name)


def _identity(value: Object) -> tuple[str, ...]:
    return tuple(value.get(name) or "" for name in ("driver", "pool", "device", "shareID"))


def _network(value: Object, field: Field) -> None:
    def address(text: str, field: Field) -> None:
        # Of an interface: bits beyond the prefix are its own.
        field.all_invalid(
            "", text, [w for w in addresses.strict_network(text) if not w.startswith("must not have bits")]
        )

    words.each_of(field, "ips", address, value.get("ips"), _MOST_ADDRESSES)


def _device_status(value: Object, field: Field) -> None:
    field.within("driver", words.driver, value.get("driver", ""))
    field.within("pool", words.pool, value.get("pool", ""))
    field.within("device", words.label, value.get("device", ""))
    allocation = field.root["status"].get("allocation") or {}
    results = (allocation.get("devices") or {}).get("results") or ()
    own = _identity(value)
    if own not in {_identity(one) for one in results}:
        shown = dict(zip(("Driver", "Pool", "Device", "ShareID"), own, strict=True))
        field.invalid("", shown, "must be an allocated device in the claim")
    found = value.get("conditions") or ()
    if len(found) > _MOST_CONDITIONS:
        field.too_many("conditions", len(found), _MOST_CONDITIONS)
    field.within("conditions", conditions, found)
    if value.get("data") is not None:
        field.within("data", words.json_object, value["data"])
    if value.get("networkData") is not None:
        field.within("networkData", _network, value["networkData"])


def _reservations(value: Object, field: Field) -> None:
    reserved: Sequence[Object] = value.get("reservedFor") or ()
    if reserved and value.get("allocation") is None:
        field.forbidden("reservedFor", "may not be specified when `allocated` is not set")
    elif field.root["metadata"].get("deletionTimestamp"):
        before = _old(field).get("reservedFor") or ()
        if any(one not in before for one in reserved):
            field.forbidden("reservedFor", _NO_NEW)


def _result(value: Object, field: Field) -> None:
    known = claims.known_requests(field.root["spec"])

    def request(name: str, field: Field) -> None:
        claims.reference(name, known, field)

    field.within("request", request, value.get("request", ""))
    field.within("device", words.label, value.get("device", ""))
    devices.binding(value, field)


def _configuration(value: Object, field: Field) -> None:
    claims.references(value.get("requests"), claims.known_requests(field.root["spec"]), field)
    words.opaque(value, field)


def _allocation(value: Object, field: Field) -> None:
    found = value.get("devices") or {}
    words.each_of(field, "devices.results", _result, found.get("results"), words.MOST)
    words.each_of(field, "devices.config", _configuration, found.get("config"), _MOST_CONFIGURATIONS)
    if value.get("nodeSelector") is not None:
        field.within("nodeSelector", node_selector, value["nodeSelector"])


def status_rules(value: Object, field: Field) -> None:
    words.each_of(field, "reservedFor", _consumer, value.get("reservedFor"), _MOST_CONSUMERS)
    field.each("devices", _device_status, value.get("devices"))
    _reservations(value, field)
    allocation = _fresh(value, field)
    if allocation is not None:
        field.within("allocation", _allocation, allocation)


# -- second half


def _share(value: Object, field: Field) -> None:
    share = value.get("shareID")
    if share is not None and _UUID.fullmatch(share) is None:
        field.invalid("shareID", share, "must be a lowercase UUID in 8-4-4-4-12 format")


def _declared_result(value: Object, field: Field) -> None:
    field.within("driver", words.mixed_case_driver, value.get("driver", ""))
    field.within("pool", words.pool, value.get("pool", ""))
    _share(value, field)


def _declared_configuration(value: Object, field: Field) -> None:
    source = value.get("source", "")
    if source not in _SOURCES:
        field.outside("source", source, _SOURCES)
    claims.declared_configuration(value, field)


def _declared_allocation(value: Object, field: Field) -> None:
    found = value.get("devices") or {}
    if words.sized(field, "devices.results", found.get("results"), words.MOST):
        field.each("devices.results", _declared_result, found.get("results"))
    if words.sized(field, "devices.config", found.get("config"), _MOST_CONFIGURATIONS):
        field.each("devices.config", _declared_configuration, found.get("config"))


def _declared_network(value: Object, field: Field) -> None:
    for name, longest in (("interfaceName", _LONGEST_INTERFACE), ("hardwareAddress", _LONGEST_HARDWARE)):
        if len(value.get(name, "")) > longest:
            field.too_long(name, longest)
    if words.sized(field, "ips", value.get("ips"), _MOST_ADDRESSES):
        for index, text in field.until_full(repeated(value.get("ips") or (), str)):
            field.duplicate(f"ips[{index}]", text)


def _declared_device_status(value: Object, field: Field) -> None:
    _share(value, field)
    if value.get("networkData") is not None:
        field.within("networkData", _declared_network, value["networkData"])


def _uid(value: Object) -> Any:
    return value.get("uid", "")


def declared_rules(value: Object, field: Field) -> None:
    old, new = _old(field).get("allocation"), value.get("allocation")
    if old is not None and new is not None and new != old:
        field.invalid("allocation", None, "field cannot be modified once set")
    elif old is None and new is not None:
        field.within("allocation", _declared_allocation, new)
    if words.sized(field, "reservedFor", value.get("reservedFor"), _MOST_CONSUMERS):
        for index, one in field.until_full(repeated(value.get("reservedFor") or (), _uid)):
            field.duplicate(f"reservedFor[{index}]", one)
    for index, one in field.until_full(repeated(value.get("devices") or (), _identity)):
        field.duplicate(f"devices[{index}]", one)
    field.each("devices", _declared_device_status, value.get("devices"))
