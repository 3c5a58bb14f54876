"""Cluster role bindings: who has a role everywhere."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.rbac.bindings import binding
from pilothouse.registry.behaviour import Behaviour

behaviour: Final[Behaviour] = binding(("ClusterRole",), namespaced=False)
