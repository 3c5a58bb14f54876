"""Endpoint slices: the addresses behind a service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pilothouse.builtin.shared import addresses
from pilothouse.machinery import names
from pilothouse.machinery.rules import (
    Field,
    at,
    at_most,
    defaults,
    each,
    each_once,
    immutable_null,
    one_of,
    required,
    rules,
    vocabulary,
)
from pilothouse.registry.behaviour import Behaviour, Context, Object

_TYPES: Final = ("FQDN", "IPv4", "IPv6")
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_MOST_ADDRESSES: Final = 100
_MOST_ENDPOINTS: Final = 1000
_MOST_PORTS: Final = 20000
_MOST_HINTS: Final = 8

_fill = defaults({"ports[].name": "", "ports[].protocol": "TCP"})


_MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
_CONTROLLERS: Final = ("endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io")


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    """The map of topology labels was given up with v1beta1."""
    for endpoint in new.get("endpoints") or ():
        endpoint.pop("deprecatedTopology", None)


def _domain(text: str, path: str, field: Field) -> None:
    if not text:
        field.required(path)
        return
    name = text.removesuffix(".")
    whys = names.subdomain(name)
    field.all_invalid(path, text, whys)
    if not whys and "." not in name:
        field.invalid(path, text, "should be a domain with at least two segments separated by dots")


def _address(text: str, path: str, kind: str, field: Field) -> None:
    whys = addresses.strict_address(text)
    if whys:
        field.all_invalid(path, text, whys)
    elif addresses.family(text) != (4 if kind == "IPv4" else 6):
        field.invalid("addresses", text, f"must be an {kind} address")
    else:
        whys = addresses.endpoint_whys(text)
        if whys:
            field.all_invalid(path, text, whys)


def _addresses(value: Sequence[str], kind: str, field: Field, kept: frozenset[str]) -> None:
    if len(value) > _MOST_ADDRESSES:
        field.too_many("addresses", len(value), _MOST_ADDRESSES)
    for index, text in field.numbered(value):
        if kind == "FQDN":
            _domain(text, f"addresses[{index}]", field)
        elif text not in kept:
            _address(text, f"addresses[{index}]", kind, field)


def _hints(value: Sequence[Object], field: Field, check: Callable[[str], list[str]]) -> None:
    if len(value) > _MOST_HINTS:
        field.too_many("", len(value), _MOST_HINTS)
        return
    seen: set[str] = set()
    for index, one in field.numbered(value):
        name = one.get("name", "")
        if name in seen:
            field.duplicate(f"[{index}].name", name)
        else:
            seen.add(name)
            field.all_invalid(f"[{index}].name", name, check(name))


def _zone_hints(value: Sequence[Object], field: Field) -> None:
    _hints(value, field, names.label_value)


def _node_hints(value: Sequence[Object], field: Field) -> None:
    _hints(value, field, names.subdomain)


_node_name: Final = vocabulary(names.subdomain)
_hostname: Final = vocabulary(names.label)


def _rest(value: Object, field: Field) -> None:
    """What an endpoint says beside its addresses."""
    node, hostname, hints = value.get("nodeName"), value.get("hostname"), value.get("hints")
    if node is not None:
        field.within("nodeName", _node_name, node)
    if hostname is not None:
        field.within("hostname", _hostname, hostname)
    if hints:
        field.within("hints.forZones", _zone_hints, hints.get("forZones") or ())
        field.within("hints.forNodes", _node_hints, hints.get("forNodes") or ())


def _endpoints(value: Sequence[Object], field: Field) -> None:
    if at_most(_MOST_ENDPOINTS)(value, field):
        return
    kind = field.root.get("addressType", "")
    known = kind in _TYPES
    before = (field.root_old.get("endpoints") or ()) if field.updating else ()
    kept = frozenset(text for endpoint in before for text in endpoint.get("addresses") or ())

    def endpoint(one: Object, inner: Field) -> None:
        if known:
            _addresses(one.get("addresses") or (), kind, inner, kept)
        _rest(one, inner)

    field.each("", endpoint, value)


def _port_name(value: Object, field: Field) -> None:
    name = value.get("name", "")
    if name:
        field.all_invalid("name", name, names.label(name))


def _port_protocols(value: Object, field: Field) -> None:
    protocol, application = value.get("protocol"), value.get("appProtocol")
    if protocol is None:
        field.required("protocol")
    elif protocol not in _PROTOCOLS:
        field.not_supported("protocol", protocol, _PROTOCOLS)
    if application is not None:
        field.all_invalid("appProtocol", application, names.qualified_name(application))


_addresses_are_there: Final = each(at("addresses", required))


def _warn(new: Object, old: Object | None) -> list[str]:
    if new.get("addressType") == "FQDN":
        return ["spec.addressType: FQDN endpoints are deprecated"]
    found: list[str] = []
    if (new["metadata"].get("labels") or {}).get(_MANAGED_BY) in _CONTROLLERS:
        return found  # they spell addresses well
    for index, endpoint in enumerate(new.get("endpoints") or ()):
        for number, text in enumerate(endpoint.get("addresses") or ()):
            if not addresses.is_plain(text):
                found += addresses.address_warnings(f"endpoints[{index}].addresses[{number}]", text)
    return found


behaviour: Final = Behaviour(
    defaults=_fill,
    prepare=_prepare,
    validate=rules(
        at("endpoints", _endpoints),
        at("ports", at_most(_MOST_PORTS), each_once("name", _port_name, then=_port_protocols)),
        at("addressType", required, one_of(*_TYPES)),
        at("addressType", immutable_null),
        at("endpoints", _addresses_are_there),
    ),
    warn=_warn,
)
