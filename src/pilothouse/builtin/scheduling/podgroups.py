"""Pod groups: pods that are scheduled, and disrupted, together."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.scheduling.groups import disruption_mode, scheduling_policy
from pilothouse.builtin.shared.conditions import conditions
from pilothouse.machinery.rules import at, defaults, rules
from pilothouse.registry.behaviour import Behaviour, Part

behaviour: Final = Behaviour(
    defaults=defaults({"spec.disruptionMode": {"single": {}}}),
    validate=rules(
        at("spec.schedulingPolicy", scheduling_policy),
        at("spec.disruptionMode", disruption_mode),
    ),
    parts={"status": Part(validate=rules(at("status.conditions", conditions)))},
)
