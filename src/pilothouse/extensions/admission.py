"""Objects of a definition that is being deleted: those that are there can be changed, no new ones are let in."""

from __future__ import annotations

from pilothouse.machinery.errors import forbidden
from pilothouse.registry.request import Admission, Decode, Write
from pilothouse.registry.resource import Object, Resource

_WHY = "create not allowed while custom resource definition is terminating"


class Guarded:
    """An admission that refuses creates."""

    def __init__(self, inner: Admission, resource: Resource) -> None:
        self._inner = inner
        self._resource = resource

    async def mutate(self, operation: str, obj: Object | None, old: Object | None, write: Write) -> None:
        if operation == "CREATE":
            name = str(((obj or {}).get("metadata") or {}).get("name", ""))
            raise forbidden(self._resource.group, self._resource.plural, name, _WHY)
        await self._inner.mutate(operation, obj, old, write)

    async def validate(self, operation: str, obj: Object | None, old: Object | None, write: Write) -> None:
        await self._inner.validate(operation, obj, old, write)

    def judges(self, operation: str, write: Write) -> bool:
        return self._inner.judges(operation, write)

    def asks_elsewhere(self, operation: str, write: Write) -> bool:
        return self._inner.asks_elsewhere(operation, write)

    async def mutate_part(self, operation: str, obj: Object, old: Object | None, write: Write, decode: Decode) -> None:
        await self._inner.mutate_part(operation, obj, old, write, decode)

    async def validate_part(self, operation: str, obj: Object, old: Object | None, write: Write) -> None:
        await self._inner.validate_part(operation, obj, old, write)
