"""What pod groups and the templates of groups in workloads have in common: how their pods are scheduled together."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.shared.fields import one_member
from pilothouse.machinery.rules import Field, Rule
from pilothouse.registry.behaviour import Object

disruption_mode: Final[Rule] = one_member("single", "all")
_policy: Final[Rule] = one_member("basic", "gang")


def scheduling_policy(value: Object, field: Field) -> None:
    """One by one, or all of so many at once."""
    _policy(value, field)
    gang = value.get("gang")
    if gang is None:
        return
    count = gang.get("minCount", 0)
    if not count:
        field.required("gang.minCount")
    elif count < 1:
        field.invalid("gang.minCount", count, "must be greater than or equal to 1")
