"""NamespaceAutoProvision makes the namespaces that are missing; NamespaceExists refuses to write into them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from pilothouse.admission.lookups import Reader, Stores
from pilothouse.admission.plugin import CREATE, DELETE, UPDATE, Attributes
from pilothouse.machinery.errors import APIError, not_found
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Resource


class NamespaceAutoProvision:
    """`namespaces` reads namespaces; `stores` holds their store."""

    name = "NamespaceAutoProvision"

    def __init__(self, namespaces: Reader, stores: Stores, now: Callable[[], datetime]) -> None:
        self._namespaces = namespaces
        self._stores = stores
        self._now = now

    def handles(self, resource: Resource, operation: str) -> bool:
        return resource.namespaced and operation == CREATE

    async def admit(self, attributes: Attributes) -> None:
        name = attributes.write.namespace
        if attributes.write.dry_run or await self._namespaces.get("", name) is not None:
            return
        obj: dict[str, Any] = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}, "spec": {}}
        store = self._stores["", "namespaces"]
        if store.behaviour.defaults is not None:
            store.behaviour.defaults(obj)
        try:
            await store.create(obj, Write("", "", "v1", self._now(), attributes.write.warn))
        except APIError as error:
            if error.reason != "AlreadyExists":
                raise


class NamespaceExists:
    """`namespaces` reads namespaces."""

    name = "NamespaceExists"

    def __init__(self, namespaces: Reader) -> None:
        self._namespaces = namespaces

    def handles(self, resource: Resource, operation: str) -> bool:
        return resource.namespaced and operation in (CREATE, UPDATE, DELETE)

    async def check(self, attributes: Attributes) -> None:
        name = attributes.write.namespace
        if await self._namespaces.get("", name) is None:
            raise not_found("", "namespaces", name)
