"""OwnerReferencesPermissionEnforcement: who changes the owners of an object must have the right to delete it, and who
makes an owner wait must have the right to set its finalizers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pilothouse.admission.certificates import Authorize
from pilothouse.admission.lookups import Stores
from pilothouse.admission.plugin import CREATE, UPDATE, Attributes
from pilothouse.admission.refusals import refuse
from pilothouse.auth.attributes import Attributes as Asked
from pilothouse.auth.attributes import Decision
from pilothouse.registry.resource import Object, Resource

_DELETE: Final = "cannot set an ownerRef on a resource you can't delete"
_FINALIZERS: Final = (
    "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"
)
_UNKNOWN: Final = "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for"


class OwnerReferencesPermissionEnforcement:
    """`stores` tell which resource a kind is."""

    name = "OwnerReferencesPermissionEnforcement"

    def __init__(self, authorize: Authorize, stores: Stores) -> None:
        self._authorize = authorize
        self._stores = stores

    def handles(self, resource: Resource, operation: str) -> bool:
        return operation in (CREATE, UPDATE)

    async def check(self, attributes: Attributes) -> None:
        new, old = _owners(attributes.obj), _owners(attributes.old)
        if new == old or attributes.write.subresource == "status":
            return
        if attributes.operation == UPDATE:
            self._ask(attributes, "delete", attributes.resource, "", attributes.write.name, _DELETE)
        for owner in _newly_blocking(new, old):
            self._ask(
                attributes, "update", self._resource_of(owner, attributes), "finalizers", owner["name"], _FINALIZERS
            )

    def _ask(
        self, attributes: Attributes, verb: str, resource: Resource, subresource: str, name: str, otherwise: str
    ) -> None:
        write = attributes.write
        namespace = write.namespace if resource.namespaced else ""
        version = next(iter(resource.versions))
        asked = Asked(
            write.caller, verb, True, "", resource.group, version, namespace, resource.plural, subresource, name
        )
        decision, reason = self._authorize(asked)
        if decision is not Decision.ALLOW:
            raise refuse(attributes, f"{otherwise}: {reason}, <nil>")

    def _resource_of(self, owner: dict[str, Any], attributes: Attributes) -> Resource:
        version, kind = owner.get("apiVersion", ""), owner.get("kind", "")
        group = version.rpartition("/")[0]
        for store in self._stores.values():
            if (store.resource.group, store.resource.kind) == (group, kind):
                return store.resource
        why = f'no matches for kind "{kind}" in version "{version}"'
        raise refuse(attributes, f"{_UNKNOWN} APIVersion {version} Kind {kind}: {why}")


def _owners(obj: Object | None) -> list[dict[str, Any]]:
    return ((obj or {}).get("metadata") or {}).get("ownerReferences") or []


def _newly_blocking(new: list[dict[str, Any]], old: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    blocked = {one.get("uid") for one in old if one.get("blockOwnerDeletion")}
    for one in new:
        if one.get("blockOwnerDeletion") and one.get("uid") not in blocked:
            yield one
