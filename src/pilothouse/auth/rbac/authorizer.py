"""The RBAC authorizer: allowed is what some role that is bound to the caller allows."""

from __future__ import annotations

from pilothouse.auth.attributes import Attributes, Decision, PathRule, ResourceRule, Rules
from pilothouse.auth.rbac.policy import Policy
from pilothouse.registry.request import Caller


class RBAC:
    """`policy`: kept up to date by whoever follows roles and bindings."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        if not attributes.is_resource:
            return self._policy.authority(attributes.caller, "").answer_path(attributes.verb, attributes.path)
        return self._policy.authority(attributes.caller, attributes.namespace).answer(
            attributes.verb, attributes.group, attributes.resource, attributes.subresource, attributes.name
        )

    def rules(self, caller: Caller, namespace: str) -> Rules:
        """Rules as they are written, those at cluster scope first. Paths count at cluster scope alone."""
        authority = self._policy.authority(caller, namespace)
        resources: list[ResourceRule] = []
        paths: list[PathRule] = []
        for held in authority.held:
            for rule in held.grants.rules if held.grants is not None else ():
                if rule.resources:
                    resources.append(ResourceRule(rule.verbs, rule.groups, rule.resources, rule.names))
                if rule.paths and not held.binding.namespace:
                    paths.append(PathRule(rule.verbs, rule.paths))
        return Rules(tuple(resources), tuple(paths), False, tuple(authority.problems()))
