"""Deployments."""

from pilothouse.builtin.shared.poddefaults import template_defaults
from pilothouse.machinery.rules import computed, defaults, when_is
from pilothouse.registry.behaviour import Behaviour

_fill = defaults(
    {
        "spec.replicas": 1,
        "spec.template": template_defaults,
        "spec.strategy.type": "RollingUpdate",
        "spec.strategy.rollingUpdate": when_is("type", "RollingUpdate", {}),
        "spec.strategy.rollingUpdate.maxUnavailable": "25%",
        "spec.strategy.rollingUpdate.maxSurge": "25%",
        "spec.revisionHistoryLimit": 10,
        "spec.progressDeadlineSeconds": 600,
    }
)

behaviour = Behaviour(defaults=_fill)
