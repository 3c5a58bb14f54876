"""Service CIDRs: ranges from which services get their addresses."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.shared import addresses
from pilothouse.machinery.rules import IMMUTABLE, Field, at, rules
from pilothouse.registry.behaviour import Behaviour, Object

_FAMILIES: Final = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"


def _ranges(value: Object, field: Field) -> None:
    cidrs = value.get("cidrs") or []
    if not cidrs:
        field.required("cidrs", "at least one CIDR required")
        return
    if len(cidrs) > 2:
        field.invalid("cidrs", {"CIDRs": cidrs}, "may only hold up to 2 values")
        return
    for index, text in field.numbered(cidrs):
        field.all_invalid(f"cidrs[{index}]", text, addresses.canonical_network(text))
    families = [addresses.family(text) for text in cidrs]
    if len(cidrs) == 2 and all(families) and families[0] == families[1]:
        field.invalid("cidrs", cidrs, _FAMILIES)


def _spec(value: Object, field: Field) -> None:
    """What is there stays; a range of the other family may be added once."""
    if not field.updating:
        _ranges(value, field)
        return
    old, new = field.root_old["spec"].get("cidrs") or [], value.get("cidrs") or []
    if len(old) == len(new):
        for index, text in field.numbered(new):
            if text != old[index]:
                field.invalid(f"cidrs[{index}]", text, IMMUTABLE)
    elif len(old) == 1 and len(new) == 2:
        if new[0] != old[0]:
            field.invalid("cidrs[0]", new[0], IMMUTABLE)
        _ranges(value, field)
    else:
        field.invalid("cidrs", new, IMMUTABLE)


behaviour: Final = Behaviour(validate=rules(at("spec", _spec)))
