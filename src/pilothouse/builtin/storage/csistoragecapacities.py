"""CSI storage capacities: how much room a storage class has left in a part of the cluster."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.shared.amounts import not_negative_amount
from pilothouse.builtin.shared.fields import fixed
from pilothouse.builtin.shared.podwarnings import node_term_warnings, replaced_label
from pilothouse.builtin.shared.selectors import label_selector
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, immutable, rules
from pilothouse.registry.behaviour import Behaviour, Object


def _class(value: Object, field: Field) -> None:
    name = value.get("storageClassName", "")
    field.all_invalid("storageClassName", name, names.subdomain(name))


def _warn(new: Object, old: Object | None) -> list[str]:
    topology = new.get("nodeTopology") or {}
    found = list(node_term_warnings("nodeTopology", topology))
    for key in sorted(topology.get("matchLabels") or ()):
        why = replaced_label(key)
        if why:
            found.append(f"nodeTopology.matchLabels.{key}: {why}")
    return found


behaviour: Final = Behaviour(
    validate=rules(
        at("nodeTopology", label_selector),
        _class,
        at("capacity", not_negative_amount),
        at("nodeTopology", immutable),
        at("storageClassName", fixed()),
    ),
    warn=_warn,
)
