"""The post-start hook rbac/bootstrap-roles: makes and restores the default roles and bindings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from pilothouse.auth.rbac.policy import ROLE_GROUP
from pilothouse.builtin.rbac_bootstrap.restored import binds_another, left_alone, restored
from pilothouse.builtin.rbac_bootstrap.table import bootstrap_objects
from pilothouse.registry.ownership import Ownership
from pilothouse.registry.request import Write
from pilothouse.registry.store import GenericStore
from pilothouse.registry.writer import MANAGER, create_first, find_object, no_client

Object = dict[str, Any]
_VERSION: Final = "v1"


async def ensure_bootstrap_rbac(stores: Mapping[tuple[str, str], GenericStore], now: Callable[[], datetime]) -> None:
    """Make what is not there, and give what is there what it lacks. Roles come before their bindings."""
    for plural, rows in bootstrap_objects().items():
        restorer = _Restorer(stores[ROLE_GROUP, plural], now)
        for wanted in rows:
            await restorer.ensure(wanted)


class _Restorer:
    """Works on one kind."""

    def __init__(self, store: GenericStore, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now
        self._owner = Ownership(store.resource, _VERSION)

    async def ensure(self, wanted: Object) -> None:
        metadata = wanted["metadata"]
        write = self._write(metadata.get("namespace", ""), metadata["name"])
        found = await find_object(self._store, write.namespace, write.name)
        if found is None:
            await self._create(wanted, write)
        elif left_alone(found):
            return
        elif binds_another(found, wanted):
            await self._store.storage.delete(self._store.resource.key(write.namespace, write.name))
            await self._create(wanted, write)
        elif restored(found, wanted) is not None:
            await self._store.update(write.name, self._producer(wanted, write), write)

    def _write(self, namespace: str, name: str) -> Write:
        return Write(namespace, name, _VERSION, self._now(), no_client, manager=MANAGER)

    async def _create(self, wanted: Object, write: Write) -> None:
        resource = self._store.resource
        kind = {"kind": resource.kind, "apiVersion": resource.api_version(_VERSION)}
        await create_first(self._store, self._owner.created({**kind, **wanted}, write), write)

    def _producer(self, wanted: Object, write: Write) -> Callable[[Object | None], Any]:
        async def produce(old: Object | None) -> Object:
            assert old is not None
            made = restored(old, wanted)
            return old if made is None else self._owner.updated(made, old, write)

        return produce
