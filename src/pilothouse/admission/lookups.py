"""What plug-ins may read: single objects and lists of one kind, from the cache, decoded once for each version.

What a lookup gives is shared by every request: it is read, never changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pilothouse.registry.resource import Object
from pilothouse.registry.store import GenericStore
from pilothouse.storage.api import ListRequest, Read, StoredObject
from pilothouse.storage.errors import NotFound

Stores = Mapping[tuple[str, str], GenericStore]


class Reader(Protocol):
    """One kind. `namespace` is "" for kinds without; a list with "" holds all namespaces."""

    async def get(self, namespace: str, name: str) -> Object | None: ...

    async def all(self, namespace: str = "") -> Sequence[Object]: ...


class StoreReader:
    """Reads one kind out of its generic store, which may be made after the reader is. Of a kind that is not served
    there is nothing.

    A single object that the cache does not have is asked for again at the newest revision, so that what another server
    just made is seen.
    """

    def __init__(self, stores: Stores, group: str, plural: str) -> None:
        self._stores = stores
        self._kind = (group, plural)
        self._bound: GenericStore | None = None

    @property
    def _store(self) -> GenericStore | None:
        if self._bound is None:
            self._bound = self._stores.get(self._kind)
        return self._bound

    async def get(self, namespace: str, name: str) -> Object | None:
        store = self._store
        if store is None:
            return None
        key = store.resource.key(namespace, name)
        try:
            stored = await store.storage.get(key, Read.ANY)
        except NotFound:
            try:
                stored = await store.storage.get(key)
            except NotFound:
                return None
        return decoded(store, stored)

    async def all(self, namespace: str = "") -> Sequence[Object]:
        store = self._store
        if store is None:
            return ()
        page = await store.storage.list(ListRequest(store.resource.folder(namespace), Read.ANY))
        return [decoded(store, stored) for stored in page.items] if page.items else ()


def decoded(store: GenericStore, stored: StoredObject) -> Object:
    """The object of a stored version, shared by all who ask: read only."""
    made: Any = stored.forms.get("decoded")
    if made is None:
        made = stored.forms["decoded"] = store.codec.decode(stored)
    shared: Object = made
    return shared
