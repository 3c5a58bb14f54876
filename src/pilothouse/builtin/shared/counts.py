"""Counts in the status of workloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pilothouse.machinery.rules import NOT_NEGATIVE, Field, Rule, together

Object = Mapping[str, Any]


def not_negative_counts(*names: str) -> Rule:
    """None of the named counts may be below zero."""

    def run(status: Object, field: Field) -> None:
        for name in names:
            value = status.get(name)
            if value is not None and value < 0:
                field.invalid(name, value, NOT_NEGATIVE)

    return run


def within_total(names: Sequence[str], total: str = "replicas", shown: str = "status.replicas") -> Rule:
    """None of the named counts may be above the total."""

    def run(status: Object, field: Field) -> None:
        limit = status.get(total, 0)
        for name in names:
            value = status.get(name, 0)
            if value > limit:
                field.invalid(name, value, f"cannot be greater than {shown}")

    return run


def ready_within_total(changed: str) -> Rule:
    """What is changed, ready and available is among all, and what is available among the ready."""
    among_all = within_total((changed, "readyReplicas", "availableReplicas"))
    among_ready = within_total(("availableReplicas",), "readyReplicas", "readyReplicas")
    return together(among_all, among_ready)


def never_less(name: str, why: str) -> Rule:
    """A counter that only goes up; told when there is something to compare with."""

    def run(status: Object, field: Field) -> None:
        before, after = (field.old or {}).get(name), status.get(name)
        if before is not None and (after is None or after < before):
            field.invalid(name, after if after is not None else 0, why)

    return run
