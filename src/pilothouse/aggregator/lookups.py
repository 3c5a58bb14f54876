"""Services and what stands behind them, read from the stores of this process."""

from __future__ import annotations

from collections.abc import Sequence

from pilothouse.aggregator.services import SERVICE_LABEL, Object
from pilothouse.machinery.errors import APIError
from pilothouse.registry.store import GenericStore
from pilothouse.registry.translate import translate
from pilothouse.storage.api import ListRequest, Read, StoredObject
from pilothouse.storage.errors import StorageError

_MARK = object()


class StoreLookups:
    """Reads are from memory; a decoded Service is kept beside its bytes until it changes."""

    def __init__(self, services: GenericStore, slices: GenericStore) -> None:
        self._services = services
        self._slices = slices

    async def service(self, namespace: str, name: str) -> Object | None:
        try:
            stored = await self._services.get(namespace, name, Read.ANY)
        except APIError as error:
            if error.code == 404:
                return None
            raise
        return _decoded(self._services, stored)

    async def slices(self, namespace: str, service: str) -> Sequence[Object]:
        store = self._slices

        def accept(stored: StoredObject) -> bool:
            return store.codec.index(stored).labels.get(SERVICE_LABEL) == service

        try:
            page = await store.storage.list(ListRequest(store.resource.folder(namespace), Read.ANY, accept=accept))
        except StorageError as error:
            raise translate(error, store.resource, "") from error
        return [_decoded(store, stored) for stored in page.items]


def _decoded(store: GenericStore, stored: StoredObject) -> Object:
    """For reading only: it is shared."""
    made: Object | None = stored.forms.get(_MARK)
    if made is None:
        made = stored.forms[_MARK] = store.codec.decode(stored)
    return made
