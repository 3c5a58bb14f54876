"""The networking.k8s.io group."""

from __future__ import annotations

from typing import Any, Final

from pilothouse.builtin.columns.cells import (
    NONE,
    Object,
    Template,
    age,
    items,
    joined,
    name,
    name_or_default,
    optional,
    part,
    row,
    selector,
    text,
)
from pilothouse.builtin.columns.core import balancer_addresses

_HOSTS: Final = 3  # before "+ n more..."


def _hosts(obj: Object) -> str:
    """Rules without a host are not shown, but counted."""
    rules = items(part(obj, "spec"), "rules")
    shown: list[str] = []
    more = False
    for rule in rules:
        if len(shown) == _HOSTS:
            more = True
            break
        if host := rule.get("host"):
            shown.append(host)
    if not shown:
        return "*"
    text = ",".join(shown)
    return f"{text} + {len(rules) - _HOSTS} more..." if more else text


def _address(obj: Object) -> str:
    return ",".join(balancer_addresses(obj))


def _ports(obj: Object) -> str:
    return "80, 443" if items(part(obj, "spec"), "tls") else "80"


def _parameters(obj: Object) -> str:
    found = part(obj, "spec").get("parameters")
    if found is None:
        return NONE
    group = found.get("apiGroup")
    kind = found.get("kind") or ""
    return f"{kind}.{group}/{found.get('name') or ''}" if group else f"{kind}/{found.get('name') or ''}"


def _parent(obj: Object) -> str:
    found = part(obj, "spec").get("parentRef")
    if found is None:
        return NONE
    resource, group = found.get("resource") or "", found.get("group")
    shown = [f"{resource}.{group}".lower() if group else resource.lower()]
    if namespace := found.get("namespace"):
        shown.append(namespace)
    shown.append(found.get("name") or "")
    return "/".join(shown)


def _ip_address(obj: Object) -> list[Any]:
    """The original's rows have an age, though its columns do not."""
    return [name(obj), _parent(obj), age(obj)]


ROWS: Final[dict[str, Template]] = {
    "ingressclasses": row(
        name_or_default("ingressclass.kubernetes.io/is-default-class"), text("spec.controller"), _parameters, age
    ),
    "ingresses": row(name, optional("spec.ingressClassName", NONE), _hosts, _address, _ports, age),
    "ipaddresses": _ip_address,
    "networkpolicies": row(name, selector("spec.podSelector"), age),
    "servicecidrs": row(name, joined("spec.cidrs"), age),
}
