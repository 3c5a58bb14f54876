"""Pods: what is filled in, what is refused, what may change afterwards."""

from pilothouse.builtin.shared.poddefaults import pod_defaults
from pilothouse.registry.behaviour import Behaviour

behaviour = Behaviour(defaults=pod_defaults)
