"""IP addresses: which service (or other object) has an address; the address itself is the name."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.networking.references import segment
from pilothouse.builtin.shared.fields import given
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, immutable_null, required, rules
from pilothouse.registry.behaviour import Behaviour, Object


def _parent(value: Object, field: Field) -> None:
    group, namespace = value.get("group", ""), value.get("namespace", "")
    if group:
        field.all_invalid("group", group, names.subdomain(group))
    at("resource", required, segment)(value, field)
    at("name", required, segment)(value, field)
    if namespace:
        field.all_invalid("namespace", namespace, names.path_segment(namespace))


behaviour: Final = Behaviour(
    validate=rules(
        at("spec.parentRef", given, _parent),
        at("spec.parentRef", immutable_null),
    )
)
