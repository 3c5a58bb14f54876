"""StorageObjectInUseProtection and PodGroupProtection: what is in use goes only once its controller lets it go."""

from __future__ import annotations

from typing import Final

from pilothouse.admission.plugin import CREATE, Attributes
from pilothouse.registry.resource import Resource

Kind = tuple[str, str]
_STORAGE: Final[dict[Kind, str]] = {
    ("", "persistentvolumes"): "kubernetes.io/pv-protection",
    ("", "persistentvolumeclaims"): "kubernetes.io/pvc-protection",
    ("storage.k8s.io", "volumeattributesclasses"): "kubernetes.io/vac-protection",
}
_POD_GROUPS: Final[dict[Kind, str]] = {("scheduling.k8s.io", "podgroups"): "scheduling.k8s.io/podgroup-protection"}


class FinalizerOnCreate:
    """Gives each new object of some kinds a finalizer: the plug-in `name`, with kind -> finalizer."""

    def __init__(self, name: str, finalizers: dict[Kind, str]) -> None:
        self.name = name
        self._finalizers = finalizers

    def handles(self, resource: Resource, operation: str) -> bool:
        return operation == CREATE and (resource.group, resource.plural) in self._finalizers

    async def admit(self, attributes: Attributes) -> None:
        if attributes.write.subresource or attributes.obj is None:
            return
        finalizer = self._finalizers[attributes.resource.group, attributes.resource.plural]
        metadata = attributes.obj.setdefault("metadata", {})
        held = metadata.get("finalizers") or []
        if finalizer not in held:
            metadata["finalizers"] = [*held, finalizer]


def pod_group_protection() -> FinalizerOnCreate:
    return FinalizerOnCreate("PodGroupProtection", _POD_GROUPS)


def storage_object_in_use_protection() -> FinalizerOnCreate:
    return FinalizerOnCreate("StorageObjectInUseProtection", _STORAGE)
