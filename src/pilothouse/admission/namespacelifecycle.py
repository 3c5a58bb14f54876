"""NamespaceLifecycle: nothing is made in a namespace that is not there or is going, and three namespaces never go."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from pilothouse.admission.plugin import CREATE, DELETE, Attributes
from pilothouse.machinery.errors import APIError, forbidden, not_found, qualified
from pilothouse.registry.resource import Object, Resource

IMMORTAL: Final = frozenset({"default", "kube-system", "kube-public"})
_ALWAYS_ALLOWED: Final = frozenset({("authorization.k8s.io", "localsubjectaccessreviews")})
Lookup = Callable[[str], Awaitable[Object | None]]


class NamespaceLifecycle:
    """`lookup` gives a namespace, None where there is none."""

    name = "NamespaceLifecycle"

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    def handles(self, resource: Resource, operation: str) -> bool:
        if operation == DELETE:
            return (resource.group, resource.plural) == ("", "namespaces")
        return operation == CREATE and resource.namespaced and (resource.group, resource.plural) not in _ALWAYS_ALLOWED

    async def admit(self, attributes: Attributes) -> None:
        """Before anything else on a create: clients get a 404 whatever else is wrong."""
        if attributes.operation == DELETE:
            return
        name = attributes.write.namespace
        namespace = await self._lookup(name)
        if namespace is None:
            raise not_found("", "namespaces", name)
        if (namespace.get("status") or {}).get("phase") == "Terminating":
            raise self._terminating(attributes, name)

    async def check(self, attributes: Attributes) -> None:
        if attributes.operation == DELETE and attributes.write.name in IMMORTAL:
            raise forbidden("", "namespaces", attributes.write.name, "this namespace may not be deleted")

    def _terminating(self, attributes: Attributes, namespace: str) -> APIError:
        resource = attributes.resource
        metadata = (attributes.obj or {}).get("metadata") or {}
        name = metadata.get("name") or metadata.get("generateName") or ""
        why = f"unable to create new content in namespace {namespace} because it is being terminated"
        failure = forbidden(resource.group, resource.plural, name, why)
        if not name:
            failure = APIError(
                403,
                "Forbidden",
                f'{qualified(resource.group, resource.plural)} "" is forbidden: {why}',
                failure.details,
            )
        assert failure.details is not None
        failure.details["causes"] = [
            {
                "reason": "NamespaceTerminating",
                "message": f"namespace {namespace} is being terminated",
                "field": "metadata.namespace",
            }
        ]
        return failure
