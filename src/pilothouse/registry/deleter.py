"""DELETE and DELETECOLLECTION of the generic store: preconditions, marks, and at last removal."""

from __future__ import annotations

from collections.abc import Callable

from pilothouse.kit.aside import effort
from pilothouse.kit.record import record
from pilothouse.registry.deletion import check_preconditions, decide
from pilothouse.registry.request import DeleteOptions, Write
from pilothouse.registry.resource import Object
from pilothouse.registry.store import GenericStore
from pilothouse.registry.translate import missing, translate
from pilothouse.storage import errors as stored_errors
from pilothouse.storage.api import StoredObject, Transform

Grace = Callable[[Object, DeleteOptions], int]  # seconds that the kind grants this object


def no_grace(obj: Object, options: DeleteOptions) -> int:
    """All kinds but pods go at once."""
    return 0


@record
class Deleted:
    """What DELETE did: the object as it is shown, whether it is gone, its uid."""

    shown: StoredObject
    gone: bool
    uid: str


class _Remove(Exception):
    """Raised out of the marking transform: nothing holds the object, remove it now.

    `marked`: its bytes as shown, if it is marked.
    """

    def __init__(self, marked: bytes | None) -> None:
        self.marked = marked


class Deleter:
    """Deletes through one generic store. `grace` is the kind's."""

    def __init__(self, store: GenericStore, grace: Grace = no_grace) -> None:
        self._store = store
        self._grace = grace

    async def _decoded(self, stored: StoredObject) -> Object:
        """A fresh object; big ones are read aside."""
        store = self._store
        return await store.services.aside.run(effort(stored.value), store.codec.decode, stored)

    async def delete(self, name: str, options: DeleteOptions, write: Write) -> Deleted:
        """Raises NotFound, Conflict for preconditions, what admission raises."""
        store = self._store
        key = store.resource.key(write.namespace, name)
        uid = ""

        async def mark(current: StoredObject | None) -> bytes:
            nonlocal uid
            if current is None:
                raise missing(store.resource, name)
            obj = await self._decoded(current)
            uid = obj["metadata"].get("uid", "")
            check_preconditions(store.resource, name, obj, options)
            await store.services.admission.mutate("DELETE", None, obj, write)
            await store.services.admission.validate("DELETE", None, obj, write)
            verdict = decide(store.resource, obj, options, self._grace(obj, options), write.now)
            if verdict.remove:
                raise _Remove(store.codec.encode(verdict.marked) if verdict.marked is not None else None)
            return current.value if verdict.marked is None else store.codec.encode(verdict.marked)

        try:
            while True:
                try:
                    if write.dry_run:
                        return await self._dry(key, mark, lambda: uid)
                    return Deleted(await store.storage.update(key, mark), False, uid)
                except _Remove as removal:
                    gone = await self._remove(key, name, options, write, removal.marked)
                    if gone is not None:
                        if store.claims is not None:
                            await store.claims.removed(await self._decoded(gone))
                        return Deleted(gone, True, uid)
        except stored_errors.StorageError as error:  # of the removal too: another may have removed it meanwhile
            raise translate(error, store.resource, name) from error

    async def _dry(self, key: str, mark: Transform, uid: Callable[[], str]) -> Deleted:
        """The same decisions, no write. Raises the store's NotFound."""
        current = await self._store.storage.get(key)
        try:
            value = await mark(current)
        except _Remove as removal:
            return Deleted(StoredObject(key, removal.marked or current.value, current.revision), True, uid())
        return Deleted(StoredObject(key, value, current.revision), False, uid())

    async def _remove(
        self, key: str, name: str, options: DeleteOptions, write: Write, marked: bytes | None
    ) -> StoredObject | None:
        """Remove an object that nothing holds; None where it changed meanwhile so that something does.

        Watchers of a kind with grace see the marks before the end.
        """
        store = self._store
        if marked is not None:
            return await self._mark_and_remove(key, marked, name, options, write)

        async def still(current: StoredObject) -> None:
            obj = await self._decoded(current)
            check_preconditions(store.resource, name, obj, options)
            if not decide(store.resource, obj, options, self._grace(obj, options), write.now).remove:
                raise stored_errors.Conflict(key)

        try:
            gone, _ = await store.storage.delete(key, still)
        except stored_errors.Conflict:
            return None
        return gone

    async def _mark_and_remove(
        self, key: str, marked: bytes, name: str, options: DeleteOptions, write: Write
    ) -> StoredObject | None:
        """Write the marks, then remove exactly that version."""
        store = self._store

        async def mark(current: StoredObject | None) -> bytes:
            if current is None:
                raise stored_errors.NotFound(key)
            obj = await self._decoded(current)
            check_preconditions(store.resource, name, obj, options)
            if not decide(store.resource, obj, options, self._grace(obj, options), write.now).remove:
                raise stored_errors.Conflict(key)
            return marked

        async def same(current: StoredObject) -> None:
            if current.revision != shown.revision:
                raise stored_errors.Conflict(key)

        try:
            shown = await store.storage.update(key, mark)
            await store.storage.delete(key, same)
        except stored_errors.Conflict:
            return None
        return shown
