"""What plug-ins may read: single objects and lists of one kind, from the cache, decoded once for each version.

What a lookup gives is shared by every request: it is read, never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeVar

from pilothouse.registry.resource import Object
from pilothouse.registry.store import GenericStore
from pilothouse.storage.api import ListRequest, Read, StoredObject
from pilothouse.storage.errors import NotFound

T = TypeVar("T")
Stores = Mapping[tuple[str, str], GenericStore]
_REQUESTS: Final = 1000  # requests for lists that are kept


class Reader(Protocol):
    """One kind. `namespace` is "" for kinds without; a list with "" holds all namespaces."""

    async def get(self, namespace: str, name: str) -> Object | None: ...

    async def all(self, namespace: str = "") -> Sequence[Object]: ...

    async def derived(self, namespace: str, name: str, form: str, make: Callable[[Object], T]) -> T | None:
        """What `make` makes of an object, made once for each version of it under the name `form`."""
        ...


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
        self._requests: dict[str, ListRequest] = {}

    @property
    def _store(self) -> GenericStore | None:
        if self._bound is None:
            self._bound = self._stores.get(self._kind)
        return self._bound

    async def get(self, namespace: str, name: str) -> Object | None:
        return await self.derived(namespace, name, "decoded", _itself)

    async def derived(self, namespace: str, name: str, form: str, make: Callable[[Object], T]) -> T | None:
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
        made: T | None = stored.forms.get(form)
        if made is None:
            made = stored.forms[form] = make(decoded(store, stored))
        return made

    async def all(self, namespace: str = "") -> Sequence[Object]:
        store = self._store
        if store is None:
            return ()
        request = self._requests.get(namespace)
        if request is None:
            if len(self._requests) >= _REQUESTS:
                self._requests.clear()
            request = self._requests[namespace] = ListRequest(store.resource.folder(namespace), Read.ANY)
        page = await store.storage.list(request)
        return [decoded(store, stored) for stored in page.items] if page.items else ()


def _itself(obj: Object) -> Object:
    return obj


def decoded(store: GenericStore, stored: StoredObject) -> Object:
    """The object of a stored version, shared by all who ask: read only."""
    made: Any = stored.forms.get("decoded")
    if made is None:
        made = stored.forms["decoded"] = store.codec.decode(stored)
    shared: Object = made
    return shared
