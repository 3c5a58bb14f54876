"""The Scale of a custom resource: replicas at the paths that its definition names (API reference, "Scale")."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final

from pilothouse.extensions.definition import ScalePaths
from pilothouse.machinery.errors import APIError, Cause, bad_request
from pilothouse.registry.capabilities import Produce
from pilothouse.registry.managed.tracker import Tracker
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object
from pilothouse.registry.scale import locked, same_parent
from pilothouse.registry.store import GenericStore
from pilothouse.storage.api import Read

_SHOWN_METADATA: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
_MOST: Final = 2**31 - 1
_ABSENT: Final = object()


def steps(path: str) -> tuple[str, ...]:
    """The field names of a simple path: `.spec.replicas`."""
    return tuple(path.removeprefix(".").split("."))


class CustomScale:
    """`tracker` is the parent's ownership in the version."""

    def __init__(self, store: GenericStore, paths: ScalePaths, tracker: Tracker) -> None:
        self._store = store
        self._paths = paths
        self._replicas = steps(paths.replicas)
        self._status = steps(paths.status_replicas)
        self._selector = steps(paths.selector) if paths.selector else None
        self._tracker = tracker
        self._owned = {served.api_version: self._replicas for served in store.resource.versions.values()}

    async def get_part(self, namespace: str, name: str, read: Read = Read.LATEST, revision: int = 0) -> Object:
        """Raises InternalError where the object has no replicas."""
        return self._shown(self._store.codec.decode(await self._store.get(namespace, name, read, revision)))

    async def update_part(self, name: str, produce: Produce, write: Write) -> Object:
        """Raises NotFound, Conflict, Invalid."""

        async def change(old: Object | None) -> Object:
            assert old is not None
            found = _at(old, self._replicas) is not _ABSENT
            scale = await produce(self._scale(old))
            replicas = (scale.get("spec") or {}).get("replicas") or 0
            if not found and not replicas:
                raise bad_request(f'the spec replicas field "{self._paths.replicas}" cannot be empty')
            same_parent(self._store.resource, name, scale, old)
            new = self._with_replicas(old, scale, replicas)
            await self._judge(old, new, write)
            return self._tracker.scale(old, new, write.manager, self._owned)

        stored, _ = await self._store.update(name, change, replace(write, judged=True), unconditional=True)
        return self._shown(self._store.codec.decode(stored))

    async def _judge(self, old: Object, new: Object, write: Write) -> None:
        """Ask who judges Scales."""
        shown = self._scale({**new, "metadata": old["metadata"]})
        await self._store.services.admission.validate_part("UPDATE", shown, self._scale(old), write)

    async def apply_part(
        self, name: str, read: Callable[[], Awaitable[Object]], write: Write, *, force: bool
    ) -> Object:
        """Server-side apply of the Scale that `read` gives. Raises Conflict."""

        async def change(old: Object | None) -> Object:
            assert old is not None
            config = await read()
            replicas = (config.get("spec") or {}).get("replicas")
            new = self._tracker.scale_apply(old, replicas, write.manager, self._owned, force=force)
            same_parent(self._store.resource, name, config, old)
            await self._judge(old, new, write)
            return locked(new, config)

        stored, _ = await self._store.update(name, change, replace(write, judged=True), unconditional=True)
        return self._shown(self._store.codec.decode(stored))

    def _shown(self, obj: Object) -> Object:
        if _at(obj, self._replicas) is _ABSENT:
            why = f'the spec replicas field "{self._paths.replicas}" does not exist'
            raise APIError(500, "InternalError", f"Internal error occurred: {why}", {"causes": [{"message": why}]})
        return self._scale(obj)

    def _scale(self, obj: Object) -> Object:
        metadata = {key: obj["metadata"][key] for key in _SHOWN_METADATA if key in obj["metadata"]}
        replicas = _number(obj, self._replicas)
        status: Object = {"replicas": _number(obj, self._status)}
        selector = _at(obj, self._selector) if self._selector else None
        if isinstance(selector, str) and selector:
            status["selector"] = selector
        spec = {"replicas": replicas} if replicas else {}
        return {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status}

    def _with_replicas(self, old: Object, scale: Object, replicas: int) -> Object:
        """The parent with another number."""
        return locked(_set(old, self._replicas, replicas), scale)


def problems(paths: ScalePaths, obj: Object) -> list[Cause]:
    """What is wrong with the numbers that a Scale shows."""
    found = []
    for path in (paths.replicas, paths.status_replicas):
        value = _at(obj, steps(path))
        if isinstance(value, bool) or not isinstance(value, int):
            continue
        if value < 0:
            found.append(Cause("FieldValueInvalid", f"Invalid value: {value}: should be a non-negative integer", path))
        elif value > _MOST:
            why = f"should be less than or equal to {_MOST}"
            found.append(Cause("FieldValueInvalid", f"Invalid value: {value}: {why}", path))
    return found


def _number(obj: Object, path: tuple[str, ...]) -> int:
    value = _at(obj, path)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _at(obj: Any, path: tuple[str, ...] | None) -> Any:
    for part in path or ():
        if not isinstance(obj, dict) or part not in obj:
            return _ABSENT
        obj = obj[part]
    return obj


def _set(obj: Object, path: tuple[str, ...], value: Any) -> Object:
    """A copy with one field changed; the rest is shared."""
    head, *rest = path
    below = _set(obj.get(head) or {}, tuple(rest), value) if rest else value
    return {**obj, head: below}
