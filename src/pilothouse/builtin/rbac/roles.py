"""Roles: what may be done in one namespace."""

from __future__ import annotations

from typing import Final

from pilothouse.builtin.rbac.rolerules import policy_rules, rules_have_verbs
from pilothouse.machinery.rules import at, rules
from pilothouse.registry.behaviour import Behaviour

behaviour: Final = Behaviour(validate=rules(at("rules", policy_rules(namespaced=True)), at("rules", rules_have_verbs)))
