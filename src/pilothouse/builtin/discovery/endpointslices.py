"""Endpoint slices: the addresses behind a service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pilothouse.builtin.shared import addresses
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, at_most, defaults, immutable_null, one_of, required, rules, vocabulary
from pilothouse.registry.behaviour import Behaviour, Context, Object

_TYPES: Final = ("FQDN", "IPv4", "IPv6")
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_MOST_ADDRESSES: Final = 100
_MOST_ENDPOINTS: Final = 1000
_MOST_PORTS: Final = 20000
_MOST_HINTS: Final = 8

_fill = defaults({"ports[].name": "", "ports[].protocol": "TCP"})


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


def _addresses(value: Sequence[str], kind: str, field: Field, kept: frozenset[str]) -> None:
    if len(value) > _MOST_ADDRESSES:
        field.too_many("addresses", len(value), _MOST_ADDRESSES)
    for index, text in enumerate(value):
        path = f"addresses[{index}]"
        if kind == "FQDN":
            _domain(text, path, field)
        elif text not in kept:
            whys = addresses.strict_address(text)
            if whys:
                field.all_invalid(path, text, whys)
            elif addresses.family(text) != (4 if kind == "IPv4" else 6):
                field.invalid("addresses", text, f"must be an {kind} address")
            else:
                field.all_invalid(path, text, addresses.endpoint_whys(text))


def _hints(value: Sequence[Object], field: Field, check: Callable[[str], list[str]]) -> None:
    if len(value) > _MOST_HINTS:
        field.too_many("", len(value), _MOST_HINTS)
        return
    seen: set[str] = set()
    for index, one in enumerate(value):
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


_endpoint_rules: Final = (
    at("nodeName", vocabulary(names.subdomain)),
    at("hostname", vocabulary(names.label)),
    at("hints.forZones", _zone_hints),
    at("hints.forNodes", _node_hints),
)


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
        for rule in _endpoint_rules:
            rule(one, inner)

    field.each("", endpoint, value)


def _ports(value: Sequence[Object], field: Field) -> None:
    if at_most(_MOST_PORTS)(value, field):
        return
    seen: set[str] = set()

    def port(one: Object, inner: Field) -> None:
        name = one.get("name", "")
        if name:
            inner.all_invalid("name", name, names.label(name))
        if name in seen:
            inner.duplicate("name", name)
        seen.add(name)
        protocol, application = one.get("protocol"), one.get("appProtocol")
        if protocol is None:
            inner.required("protocol")
        elif protocol not in _PROTOCOLS:
            inner.not_supported("protocol", protocol, _PROTOCOLS)
        if application is not None:
            inner.all_invalid("appProtocol", application, names.qualified_name(application))

    field.each("", port, value)


def _addresses_are_there(value: Sequence[Object], field: Field) -> None:
    for index, one in enumerate(value):
        if not one.get("addresses"):
            field.required(f"[{index}].addresses")


def _warn(new: Object, old: Object | None) -> list[str]:
    if new.get("addressType") == "FQDN":
        return ["spec.addressType: FQDN endpoints are deprecated"]
    found: list[str] = []
    for index, endpoint in enumerate(new.get("endpoints") or ()):
        for number, text in enumerate(endpoint.get("addresses") or ()):
            found += addresses.address_warnings(f"spec.endpoints[{index}].addresses[{number}]", text)
    return found


behaviour: Final = Behaviour(
    defaults=_fill,
    prepare=_prepare,
    validate=rules(
        at("endpoints", _endpoints),
        at("ports", _ports),
        at("addressType", required, one_of(*_TYPES)),
        at("addressType", immutable_null),
        at("endpoints", _addresses_are_there),
    ),
    warn=_warn,
)
