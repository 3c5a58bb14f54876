"""Role bindings: who has a role in one namespace."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.rbac.bindings import binding
from pilothouse.registry.behaviour import Behaviour

behaviour: Final[Behaviour] = binding(("Role", "ClusterRole"), namespaced=True)
