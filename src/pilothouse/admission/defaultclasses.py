"""DefaultStorageClass and DefaultIngressClass: who names no class gets the newest one that is marked as the default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pilothouse.admission.lookups import Reader
from pilothouse.admission.plugin import CREATE, Attributes
from pilothouse.registry.resource import Object, Resource

_STORAGE_MARKS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_INGRESS_MARKS: Final = ("ingressclass.kubernetes.io/is-default-class",)
_OLD_STORAGE_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_OLD_INGRESS_CLASS: Final = "kubernetes.io/ingress.class"


class DefaultClass:
    """The plug-in `name`: fills `spec.member` of new objects of `kind`, unless the annotation `old` names a class."""

    def __init__(
        self, name: str, kind: tuple[str, str], member: str, old: str, marks: Sequence[str], classes: Reader
    ) -> None:
        self.name = name
        self._kind = kind
        self._member = member
        self._old = old
        self._marks = marks
        self._classes = classes

    def handles(self, resource: Resource, operation: str) -> bool:
        return operation == CREATE and (resource.group, resource.plural) == self._kind

    async def admit(self, attributes: Attributes) -> None:
        obj = attributes.obj
        if obj is None or attributes.write.subresource:
            return
        spec = obj.setdefault("spec", {})
        if spec.get(self._member) is not None or self._old in _annotations(obj):
            return
        marked = [one for one in await self._classes.all() if self._is_default(one)]
        if marked:
            marked.sort(key=lambda one: one["metadata"]["name"])
            newest = max(marked, key=lambda one: one["metadata"].get("creationTimestamp", ""))
            spec[self._member] = newest["metadata"]["name"]

    def _is_default(self, one: Object) -> bool:
        held = _annotations(one)
        return any(held.get(mark) == "true" for mark in self._marks)


def _annotations(obj: Object) -> dict[str, Any]:
    found: dict[str, Any] = (obj.get("metadata") or {}).get("annotations") or {}
    return found


def default_storage_class(classes: Reader) -> DefaultClass:
    kind = ("", "persistentvolumeclaims")
    return DefaultClass("DefaultStorageClass", kind, "storageClassName", _OLD_STORAGE_CLASS, _STORAGE_MARKS, classes)


def default_ingress_class(classes: Reader) -> DefaultClass:
    kind = ("networking.k8s.io", "ingresses")
    return DefaultClass("DefaultIngressClass", kind, "ingressClassName", _OLD_INGRESS_CLASS, _INGRESS_MARKS, classes)
