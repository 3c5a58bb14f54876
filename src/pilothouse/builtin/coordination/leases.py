"""Leases: durations and counts in bounds; fields of coordinated election are dropped."""

from __future__ import annotations

from typing import Final

from pilothouse.machinery.rules import at, not_negative, positive, rules
from pilothouse.registry.behaviour import Behaviour, Context, Object

_CLOSED: Final = ("strategy", "preferredHolder")


def _prepare(new: Object, old: Object | None, context: Context) -> None:
    spec = new.get("spec") or {}
    kept = (old or {}).get("spec") or {}
    if not any(kept.get(name) is not None for name in _CLOSED):
        for name in _CLOSED:
            spec.pop(name, None)


_validate: Final = rules(
    at("spec", at("leaseDurationSeconds", positive), at("leaseTransitions", not_negative)),
)

behaviour = Behaviour(prepare=_prepare, validate=_validate)
