"""PersistentVolumeClaimResize: a claim grows only where the class that provisioned it says so."""

from __future__ import annotations

from typing import Final

from pilothouse.admission.lookups import Reader
from pilothouse.admission.plugin import UPDATE, Attributes
from pilothouse.admission.refusals import refuse
from pilothouse.machinery import quantity
from pilothouse.registry.resource import Object, Resource

_UNSUPPORTED: Final = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)
_OLD_CLASS: Final = "volume.beta.kubernetes.io/storage-class"


class PersistentVolumeClaimResize:
    """`classes` reads the storage classes."""

    name = "PersistentVolumeClaimResize"

    def __init__(self, classes: Reader) -> None:
        self._classes = classes

    def handles(self, resource: Resource, operation: str) -> bool:
        return (resource.group, resource.plural) == ("", "persistentvolumeclaims") and operation == UPDATE

    async def check(self, attributes: Attributes) -> None:
        obj, old = attributes.obj, attributes.old
        if obj is None or old is None or attributes.write.subresource:
            return
        if _asked(obj) <= _asked(old):
            return
        if (old.get("status") or {}).get("phase") != "Bound":
            raise refuse(attributes, "Only bound persistent volume claims can be expanded")
        name = _class_name(obj)
        found = await self._classes.get("", name) if name else None
        if found is None or not found.get("allowVolumeExpansion"):
            raise refuse(attributes, _UNSUPPORTED)


def _asked(claim: Object) -> quantity.Quantity:
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    return quantity.parse(requests.get("storage", "0"))


def _class_name(claim: Object) -> str:
    annotations = claim["metadata"].get("annotations") or {}
    return annotations.get(_OLD_CLASS) or (claim.get("spec") or {}).get("storageClassName") or ""
