"""Writes to roles and bindings: their writer holds what they give, or has the verb escalate or bind (Kubernetes
documentation, "Using RBAC Authorization", "Privilege escalation prevention and bootstrapping").

It looks at the object as all other plug-ins left it, so it stands last.
"""

from __future__ import annotations

from typing import Final

from pilothouse.admission.plugin import CREATE, UPDATE, Attributes
from pilothouse.auth.attributes import Attributes as Asked
from pilothouse.auth.attributes import Authorizer, Decision
from pilothouse.auth.order import MASTERS
from pilothouse.auth.rbac.escalation import EVERYTHING, grants_of, objection, uncovered
from pilothouse.auth.rbac.policy import ROLE_GROUP, Policy
from pilothouse.auth.rbac.rules import PolicyRule, rules_of
from pilothouse.machinery.errors import APIError, forbidden, not_found
from pilothouse.registry.resource import Object, Resource

_ROLES: Final = frozenset({"roles", "clusterroles"})
_BINDINGS: Final = frozenset({"rolebindings", "clusterrolebindings"})
# What a garbage collector changes.
_COLLECTED: Final = frozenset({"ownerReferences", "finalizers", "managedFields", "resourceVersion"})
_AGGREGATION: Final = "must have cluster-admin privileges to use the aggregationRule"


class RoleEscalation:
    """`policy`: roles and bindings as the authorizer knows them."""

    name = "RoleEscalation"

    def __init__(self, authorizer: Authorizer, policy: Policy) -> None:
        self._authorizer = authorizer
        self._policy = policy

    def handles(self, resource: Resource, operation: str) -> bool:
        return (
            resource.group == ROLE_GROUP
            and operation in (CREATE, UPDATE)
            and (resource.plural in _ROLES or resource.plural in _BINDINGS)
        )

    async def admit(self, attributes: Attributes) -> None:
        """Raises Forbidden; NotFound for a role that is bound and not there."""
        caller, obj, old = attributes.write.caller, attributes.obj, attributes.old
        if obj is None or not caller.name or MASTERS in caller.groups:
            return
        if old is not None and _meaning(obj) == _meaning(old):
            return
        if attributes.resource.plural in _ROLES:
            self._check_role(attributes, obj, old or {})
        else:
            self._check_binding(attributes, obj)

    def _check_role(self, attributes: Attributes, role: Object, old: Object) -> None:
        write, plural = attributes.write, attributes.resource.plural
        if self._may(attributes, "escalate", plural, write.name):
            return
        self._check_rules(attributes, rules_of(role))
        if role.get("aggregationRule") is not None or old.get("aggregationRule") is not None:
            held = grants_of(self._policy.authority(write.caller, write.namespace))
            if uncovered(held, EVERYTHING):
                raise self._refused(attributes, _AGGREGATION)

    def _check_binding(self, attributes: Attributes, binding: Object) -> None:
        write, role = attributes.write, binding.get("roleRef") or {}
        kind, name = role.get("kind", ""), role.get("name", "")
        if self._may(attributes, "bind", "roles" if kind == "Role" else "clusterroles", name):
            return
        rules = self._policy.rules_of_role(write.namespace if kind == "Role" else "", name)
        if rules is None:
            raise not_found(ROLE_GROUP, attributes.resource.plural, name)
        self._check_rules(attributes, rules)

    def _may(self, attributes: Attributes, verb: str, plural: str, name: str) -> bool:
        write = attributes.write
        asked = Asked(write.caller, verb, True, "", ROLE_GROUP, write.version, write.namespace, plural, "", name)
        return self._authorizer.authorize(asked)[0] is Decision.ALLOW

    def _check_rules(self, attributes: Attributes, rules: tuple[PolicyRule, ...]) -> None:
        write = attributes.write
        authority = self._policy.authority(write.caller, write.namespace)
        why = objection(write.caller, authority, rules, attributes.resource.plural)
        if why:
            raise self._refused(attributes, why)

    def _refused(self, attributes: Attributes, why: str) -> APIError:
        name = ((attributes.obj or {}).get("metadata") or {}).get("name", "")
        return forbidden(ROLE_GROUP, attributes.resource.plural, name, why)


def _meaning(obj: Object) -> Object:
    """All of an object that a garbage collector leaves alone."""
    metadata = {name: value for name, value in (obj.get("metadata") or {}).items() if name not in _COLLECTED and value}
    return {**{name: value for name, value in obj.items() if value}, "metadata": metadata}
