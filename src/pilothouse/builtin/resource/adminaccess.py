"""Admin access to devices: only in namespaces that an administrator has marked for it.

This asks the namespace, which rules on an object alone cannot do, so it runs where a kind's claims are taken.
"""

from __future__ import annotations

from typing import Final

from pilothouse.admission.lookups import Reader, StoreReader, Stores
from pilothouse.machinery.errors import Cause, invalid
from pilothouse.registry.claims import Settle
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object

LABEL: Final = "resource.kubernetes.io/admin-access"
_GROUP: Final = "resource.k8s.io"
_WHY: Final = f"Forbidden: admin access to devices requires the `{LABEL}: true` label on the containing namespace"


class AdminAccess:
    """The Claims of resource claims and of their templates: nothing is taken. `namespaces` reads namespaces."""

    def __init__(self, namespaces: Reader, kind: str, path: tuple[str, ...]) -> None:
        self._namespaces = namespaces
        self._kind = kind
        self._path = path  # to the spec of a claim

    async def claim(self, obj: Object, old: Object | None, write: Write) -> Settle | None:
        """Raises Invalid. What was let in once is not asked for again."""
        find = _granted if write.subresource else self._asked
        asked = find(obj)
        if not asked or (old is not None and find(old)):
            return None
        namespace = await self._namespaces.get("", write.namespace)
        labels = namespace["metadata"].get("labels") if namespace is not None else None
        if (labels or {}).get(LABEL) == "true":
            return None
        causes = [Cause("FieldValueForbidden", _WHY, path) for path in asked]
        raise invalid(_GROUP, self._kind, obj["metadata"].get("name", ""), causes)

    async def removed(self, obj: Object) -> None:
        """Nothing was taken."""

    def _asked(self, obj: Object) -> list[str]:
        """The paths of requests for such access."""
        spec: Object = obj
        for step in self._path:
            spec = spec.get(step) or {}
        found = []
        for index, request in enumerate((spec.get("devices") or {}).get("requests") or ()):
            if (request.get("exactly") or {}).get("adminAccess"):
                found.append(f"spec.devices.requests[{index}].adminAccess")  # of templates too
        return found


def _granted(obj: Object) -> list[str]:
    """The path of the first device in the status of a claim that was given with such access."""
    results = (((obj.get("status") or {}).get("allocation") or {}).get("devices") or {}).get("results") or ()
    found = (index for index, result in enumerate(results) if result.get("adminAccess"))
    return [f"status.allocation.devices.results[{index}].adminAccess" for index in found][:1]


def guard_admin_access(stores: Stores) -> None:
    """Set it on the stores of both kinds."""
    namespaces = StoreReader(stores, "", "namespaces")
    for plural, kind, path in (
        ("resourceclaims", "ResourceClaim", ("spec",)),
        ("resourceclaimtemplates", "ResourceClaimTemplate", ("spec", "spec")),
    ):
        store = stores.get((_GROUP, plural))
        if store is not None:
            store.claims = AdminAccess(namespaces, kind, path)
