"""Several authorizers in order (`--authorization-mode`): the first that decides is heard.

Administrators (system:masters) are allowed before any of them is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pilothouse.auth.attributes import Attributes, Authorizer, Decision, RuleResolver, Rules
from pilothouse.auth.metrics import Decided
from pilothouse.kit.metrics import Value
from pilothouse.registry.request import Caller

_ALLOW, _DENY = Decision.ALLOW, Decision.DENY
MASTERS: Final = "system:masters"


class InOrder:
    """`authorizers`: each with the name that a refusal tells. `decided`: where the decisions of each are counted."""

    def __init__(self, authorizers: Sequence[tuple[str, Authorizer]], decided: Sequence[Decided] = ()) -> None:
        counts = decided or [Decided(Value(), Value()) for _ in authorizers]
        self._authorizers = [(*one, count) for one, count in zip(authorizers, counts, strict=True)]

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        if MASTERS in attributes.caller.groups:
            return Decision.ALLOW, ""
        reasons: list[str] = []
        for name, authorizer, decided in self._authorizers:
            decision, reason = authorizer.authorize(attributes)
            if decision is _ALLOW:
                decided.allowed.value += 1
                return decision, reason
            if decision is _DENY:
                decided.denied.value += 1
                return decision, reason
            if reason:
                reasons.append(f"{name}: {reason}")
        return Decision.NO_OPINION, "\n".join(reasons)


class AllRules:
    """What all authorizers that can list rules say together."""

    def __init__(self, resolvers: Sequence[RuleResolver]) -> None:
        self._resolvers = tuple(resolvers)

    def rules(self, caller: Caller, namespace: str) -> Rules:
        found = [resolver.rules(caller, namespace) for resolver in self._resolvers]
        return Rules(
            tuple(rule for one in found for rule in one.resources),
            tuple(rule for one in found for rule in one.paths),
            any(one.incomplete for one in found),
            tuple(error for one in found for error in one.errors),
        )
