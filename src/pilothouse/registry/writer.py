"""Our own writes to the store: as the server itself, with its name as the owner of what it sets."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from pilothouse.machinery.errors import APIError
from pilothouse.registry.deleter import Deleter
from pilothouse.registry.ownership import Ownership
from pilothouse.registry.request import DeleteOptions, Write
from pilothouse.registry.store import GenericStore
from pilothouse.storage.api import Read, StoredObject

Object = dict[str, Any]
MANAGER: Final = "kube-apiserver"


def no_client(text: str) -> None:
    """`warn` of our own writes: warnings are for clients, and there is none."""


async def find(store: GenericStore, namespace: str, name: str, read: Read = Read.LATEST) -> StoredObject | None:
    """The object; None where there is none. Raises APIError for what else goes wrong."""
    try:
        return await store.get(namespace, name, read)
    except APIError as error:
        if error.code != 404:
            raise
        return None


async def find_object(store: GenericStore, namespace: str, name: str, read: Read = Read.LATEST) -> Object | None:
    """As `find`, decoded."""
    found = await find(store, namespace, name, read)
    return None if found is None else store.codec.decode(found)


async def create_first(store: GenericStore, obj: Object, write: Write) -> StoredObject | None:
    """Make an object; None where another server of the same store was quicker. Raises APIError."""
    try:
        return await store.create(obj, write)
    except APIError as error:
        if error.reason != "AlreadyExists":
            raise
        return None


class Writer:
    """Writes to one store. `now` gives the time of a write."""

    def __init__(self, store: GenericStore, now: Callable[[], datetime], subresource: str = "") -> None:
        self._store = store
        self._now = now
        self._subresource = subresource
        self._owner = Ownership(store.resource, store.resource.hub, subresource)

    def _write(self, namespace: str, name: str) -> Write:
        hub = self._store.resource.hub
        return Write(namespace, name, hub, self._now(), no_client, self._subresource, manager=MANAGER)

    async def create(self, obj: Object) -> None:
        """Make an object, unless another server of the same store was quicker. Raises APIError."""
        metadata = obj["metadata"]
        write = self._write(metadata.get("namespace", ""), metadata["name"])
        await create_first(self._store, self._owner.created(obj, write), write)

    async def update(self, namespace: str, name: str, change: Callable[[Object], None]) -> None:
        """Change an object in place, again after each conflict; nothing is written where nothing changes.

        Raises APIError.
        """
        write = self._write(namespace, name)

        async def produce(current: Object | None) -> Object:
            assert current is not None
            before = copy.deepcopy(current)
            change(current)
            return current if current == before else self._owner.updated(current, before, write)

        await self._store.update(name, produce, write)

    async def delete(self, namespace: str, name: str) -> None:
        """Remove an object, if it is there. Raises APIError."""
        try:
            await Deleter(self._store).delete(name, DeleteOptions(), self._write(namespace, name))
        except APIError as error:
            if error.code != 404:
                raise
