"""Workloads: the groups of pods that a job or the like is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pilothouse.builtin.scheduling.groups import scheduling_policy
from pilothouse.builtin.shared.fields import inside, one_member
from pilothouse.machinery import names
from pilothouse.machinery.rules import Field, at, repeated, required, rules
from pilothouse.registry.behaviour import Behaviour, Object

_LISTS: Final = ("podGroupTemplates", "compositePodGroupTemplates")


def _template(value: Object, field: Field) -> None:
    name = value.get("name", "")
    field.named("name", name, names.label)
    field.within("schedulingPolicy", scheduling_policy, value.get("schedulingPolicy") or {})


def _templates(value: Sequence[Object], field: Field) -> None:
    for index, one in field.until_full(repeated(value, lambda one: one.get("name", ""))):
        field.duplicate(f"[{index}]", one)
    field.each("", _template, value)


def _none_removed(value: Object, field: Field) -> None:
    """Templates may come, and never go."""
    for name in _LISTS if field.updating else ():
        kept = {one.get("name") for one in value.get(name) or ()}
        for one in field.root_old["spec"].get(name) or ():
            if one.get("name") not in kept:
                field.forbidden(name, "item may not be removed")


behaviour: Final = Behaviour(
    validate=rules(
        at("spec", one_member(*_LISTS)),
        at("spec.controllerRef", inside(at("kind", required), at("name", required))),
        at("spec.podGroupTemplates", _templates),
        at("spec", _none_removed),
    )
)
