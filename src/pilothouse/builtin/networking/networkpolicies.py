"""Network policies: which traffic pods take and send."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pilothouse.builtin.shared import addresses
from pilothouse.builtin.shared.selectors import label_selector
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, computed, defaults, each, one_of, rules, together
from pilothouse.registry.behaviour import Behaviour, Object

_PROTOCOLS: Final = ("TCP", "UDP", "SCTP")
_TYPES: Final = ("Ingress", "Egress")


def _types(spec: Object, whole: Object) -> list[str]:
    return ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


_fill = defaults(
    {
        "spec.ingress[].ports[].protocol": "TCP",
        "spec.egress[].ports[].protocol": "TCP",
        "spec.policyTypes": computed(_types),
    }
)


def _port(value: Object, field: Field) -> None:
    protocol, port, end = value.get("protocol"), value.get("port"), value.get("endPort")
    if protocol is not None and protocol not in _PROTOCOLS:
        field.not_supported("protocol", protocol, _PROTOCOLS)
    if port is None:
        if end is not None:
            field.invalid("endPort", end, "may not be specified when `port` is not specified")
    elif isinstance(port, str):
        if end is not None:
            field.invalid("endPort", end, "may not be specified when `port` is non-numeric")
        field.all_invalid("port", port, names.port_name(port))
    else:
        field.all_invalid("port", port, names.port_number(port))
        if end is not None:
            if end < port:
                field.invalid("endPort", end, "must be greater than or equal to `port`")
            field.all_invalid("endPort", end, names.port_number(end))


def _held(obj: Object | None) -> frozenset[str]:
    """The CIDRs of the object as it was: those are not judged again."""
    return frozenset(text for _, text in _networks(obj)) if obj is not None else frozenset()


def _networks(obj: Object) -> Iterator[tuple[str, str]]:
    """(path, CIDR) of every block."""
    for direction, side in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(obj["spec"].get(direction) or ()):
            for number, peer in enumerate(rule.get(side) or ()):
                block = peer.get("ipBlock")
                if block is None:
                    continue
                path = f"spec.{direction}[{index}].{side}[{number}].ipBlock"
                yield f"{path}.cidr", block.get("cidr", "")
                for place, text in enumerate(block.get("except") or ()):
                    yield f"{path}.except[{place}]", text


def _block(value: Object, field: Field) -> None:
    text = value.get("cidr", "")
    if not text:
        return  # told by the declarative rules, at the end
    kept = field.of_old(_held)
    addresses.old_network("cidr", text, field, kept)
    holes = value.get("except")
    whole: Any = addresses.network_of(text) if holes else None
    if whole is None:
        return
    for index, hole in field.numbered(holes or ()):
        addresses.old_network(f"except[{index}]", hole, field, kept)
        part: Any = addresses.network_of(hole)
        if part is None:
            continue
        if part.version != whole.version or part.prefixlen <= whole.prefixlen or not part.subnet_of(whole):
            field.invalid(f"except[{index}]", hole, "must be a strict subset of `cidr`")


def _peer(value: Object, field: Field) -> None:
    found = 0
    for name, rule in (("podSelector", label_selector), ("namespaceSelector", label_selector), ("ipBlock", _block)):
        if value.get(name) is not None:
            found += 1
            field.within(name, rule, value[name])
    if not found:
        field.required("", "must specify a peer")
    elif found > 1 and value.get("ipBlock") is not None:
        field.forbidden("", "may not specify both ipBlock and another peer")


def _policy_types(value: list[str], field: Field) -> None:
    if len(value) > len(_TYPES):
        field.invalid("", value, "may not specify more than two policyTypes")
    else:
        field.each("", one_of(*_TYPES), value)


def _blocks_have_cidrs(value: Object, field: Field) -> None:
    for path, text in _networks(value):
        if not text and path.endswith(".cidr"):
            field.required(path)


def _warn(new: Object, old: Object | None) -> list[str]:
    return [warning for path, text in _networks(new) for warning in addresses.network_warnings(path, text)]


behaviour: Final = Behaviour(
    defaults=_fill,
    validate=rules(
        at("spec.podSelector", label_selector),
        at("spec.ingress", each(together(at("ports", each(_port)), at("from", each(_peer))))),
        at("spec.egress", each(together(at("ports", each(_port)), at("to", each(_peer))))),
        at("spec.policyTypes", _policy_types),
        _blocks_have_cidrs,
    ),
    warn=_warn,
)
