"""The scale subresource: the number of replicas of a workload, without the rest (Kubernetes documentation,
"Horizontal Pod
Autoscaling"; API reference, "Scale"). Which fields it shows is data; writes go through the generic store of the parent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from pilothouse.kit.record import record
from pilothouse.machinery.errors import Cause, conflict, invalid
from pilothouse.registry.capabilities import Produce
from pilothouse.registry.managed.tracker import Tracker
from pilothouse.registry.metadata import refuse_other_namespace
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object, Resource
from pilothouse.registry.store import GenericStore
from pilothouse.storage.api import Read

_SHOWN_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


@record
class ScaleFields:
    """Where a parent keeps what its Scale shows; `selector` gives the pods' selector of an object as text."""

    replicas: tuple[str, ...]
    status_replicas: tuple[str, ...]
    selector: Callable[[Object], str]


class ScaleStorage:
    """The Scale of one resource in one version. `tracker` is the parent's ownership in that version."""

    def __init__(self, store: GenericStore, version: str, fields: ScaleFields, tracker: Tracker) -> None:
        self._store = store
        self._api_version = store.resource.api_version(version)
        self._fields = fields
        self._tracker = tracker
        self._paths = {served.api_version: fields.replicas for served in store.resource.versions.values()}

    async def get_part(self, namespace: str, name: str, read: Read = Read.LATEST, revision: int = 0) -> Object:
        return self._scale(self._store.codec.decode(await self._store.get(namespace, name, read, revision)))

    async def update_part(self, name: str, produce: Produce, write: Write) -> Object:
        """Raises NotFound, Conflict, Invalid."""

        async def change(old: Object | None) -> Object:
            assert old is not None
            scale = await produce(self._scale(old))
            replicas = self._checked(name, scale, write)
            same_parent(self._store.resource, name, scale, old)
            new = self._with_replicas(old, scale, replicas)
            await self._judge(old, new, write)
            return self._tracker.scale(old, new, write.manager, self._paths)

        stored, _ = await self._store.update(name, change, replace(write, judged=True), unconditional=True)
        return self._scale(self._store.codec.decode(stored))

    async def apply_part(
        self, name: str, read: Callable[[], Awaitable[Object]], write: Write, *, force: bool
    ) -> Object:
        """Server-side apply of the Scale that `read` gives. Raises Conflict."""

        async def change(old: Object | None) -> Object:
            assert old is not None
            config = await read()
            replicas = (config.get("spec") or {}).get("replicas")
            new = self._tracker.scale_apply(old, replicas, write.manager, self._paths, force=force)
            self._checked(name, config, write)
            same_parent(self._store.resource, name, config, old)
            await self._judge(old, new, write)
            return locked(new, config)

        stored, _ = await self._store.update(name, change, replace(write, judged=True), unconditional=True)
        return self._scale(self._store.codec.decode(stored))

    async def _judge(self, old: Object, new: Object, write: Write) -> None:
        """Ask who judges Scales."""
        shown = self._scale({**new, "metadata": old["metadata"]})
        await self._store.services.admission.validate_part("UPDATE", shown, self._scale(old), write)

    def _scale(self, obj: Object) -> Object:
        metadata = {key: obj["metadata"][key] for key in _SHOWN_METADATA if key in obj["metadata"]}
        replicas = _at(obj, self._fields.replicas) or 0
        status: Object = {"replicas": _at(obj, self._fields.status_replicas) or 0}
        selector = self._fields.selector(obj)
        if selector:
            status["selector"] = selector
        spec = {"replicas": replicas} if replicas else {}
        return {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status}

    @staticmethod
    def _checked(name: str, scale: Object, write: Write) -> int:
        refuse_other_namespace((scale.get("metadata") or {}).get("namespace"), write.namespace)
        replicas: int = (scale.get("spec") or {}).get("replicas") or 0
        if replicas < 0:
            cause = Cause(
                "FieldValueInvalid", f"Invalid value: {replicas}: must be greater than or equal to 0", "spec.replicas"
            )
            raise invalid("autoscaling", "Scale", name, [cause])
        return replicas

    def _with_replicas(self, old: Object, scale: Object, replicas: int) -> Object:
        """The parent with another number."""
        return locked(_set(old, self._fields.replicas, replicas), scale)


def locked(parent: Object, scale: Object) -> Object:
    """The parent with the resourceVersion of a Scale that was sent: it is the parent's optimistic lock."""
    sent = (scale.get("metadata") or {}).get("resourceVersion") or ""
    return {**parent, "metadata": {**parent["metadata"], "resourceVersion": sent}}


def same_parent(resource: Resource, name: str, scale: Object, parent: Object) -> None:
    """Raises Conflict for a Scale with the uid of another parent."""
    sent, found = (scale.get("metadata") or {}).get("uid"), parent["metadata"].get("uid")
    if sent and sent != found:
        why = f"Precondition failed: UID in precondition: {sent}, UID in object meta: {found}"
        raise conflict(resource.group, f"{resource.plural}/scale", name, why)


def _at(obj: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        obj = obj.get(part) if isinstance(obj, dict) else None
    return obj


def _set(obj: Object, path: tuple[str, ...], value: Any) -> Object:
    """A copy with one field changed; the rest is shared."""
    head, *rest = path
    below = _set(obj.get(head) or {}, tuple(rest), value) if rest else value
    return {**obj, head: below}
