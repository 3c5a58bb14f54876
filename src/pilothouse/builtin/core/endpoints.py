"""Endpoints: addresses and ports of a service, as they were before slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pilothouse.builtin.shared.addresses import address_warnings, endpoint_whys
from pilothouse.builtin.shared.containers import PROTOCOLS
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, defaults, rules
from pilothouse.registry.behaviour import Behaviour

_MANAGED_BY: Final = "endpoints.kubernetes.io/managed-by"
_CONTROLLER: Final = "endpoint-controller"

Object = Mapping[str, Any]


def _address(value: Object, field: Field) -> None:
    text = value.get("ip", "")
    whys = names.address(text)
    if whys:
        field.all_invalid("ip", text, whys)
        field.invalid("ip", text, "must be a valid IP address")
    else:
        field.all_invalid("ip", text, endpoint_whys(text))
    name = value.get("hostname", "")
    if name:
        field.all_invalid("hostname", name, names.label(name))
    node = value.get("nodeName")
    if node is not None:
        field.all_invalid("nodeName", node, names.subdomain(node))


def _ports(items: Sequence[Object], field: Field) -> None:
    for index, value in field.numbered(items):
        name, number, protocol = value.get("name", ""), value.get("port", 0), value.get("protocol", "")
        if name:
            field.all_invalid(f"[{index}].name", name, names.label(name))
        elif len(items) > 1:
            field.required(f"[{index}].name")
        field.all_invalid(f"[{index}].port", number, names.port_number(number))
        if protocol not in PROTOCOLS:
            field.outside(f"[{index}].protocol", protocol, PROTOCOLS)
        application = value.get("appProtocol")
        if application is not None:
            field.all_invalid(f"[{index}].appProtocol", application, names.qualified_name(application))


def _subset(value: Object, field: Field) -> None:
    if not value.get("addresses") and not value.get("notReadyAddresses"):
        field.required("", "must specify `addresses` or `notReadyAddresses`")
    field.each("addresses", _address, value.get("addresses"))
    field.each("notReadyAddresses", _address, value.get("notReadyAddresses"))
    if value.get("ports"):
        field.within("ports", _ports, value["ports"])


def _subsets(items: Sequence[Object], field: Field) -> None:
    if not field.updating or items != field.old:
        field.each("", _subset, items)


_fill: Final = defaults({"subsets[].ports[].protocol": "TCP"})


def _warn(new: Object, old: Object | None) -> list[str]:
    if (new["metadata"].get("labels") or {}).get(_MANAGED_BY) == _CONTROLLER:
        return []  # it spells addresses well
    return [
        text
        for index, subset in enumerate(new.get("subsets") or ())
        for name in ("addresses", "notReadyAddresses")
        for number, one in enumerate(subset.get(name) or ())
        for text in address_warnings(f"subsets[{index}].{name}[{number}].ip", one.get("ip"))
    ]


behaviour = Behaviour(defaults=_fill, validate=rules(at("subsets", _subsets)), warn=_warn)
