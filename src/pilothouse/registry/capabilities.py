"""The REST capabilities: what a resource's or subresource's storage can do decides its verbs, routes, discovery and
OpenAPI.

The generic store has most of them; odd ones (reviews, bindings, scale, eviction, token) implement just what they are.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, runtime_checkable

from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object
from pilothouse.storage.api import Read

Produce = Callable[[Object | None], Awaitable[Object]]


@runtime_checkable
class VirtualCreater(Protocol):
    """POST that keeps nothing of its own (reviews, bindings, evictions, tokens): the answer is an object."""

    async def create_virtual(self, obj: Object, write: Write) -> tuple[int, Object]:
        """`obj` as decoded, in the version of the request; (HTTP status, what is answered). Raises APIError."""
        ...


@runtime_checkable
class PartGetter(Protocol):
    """GET of a subresource with a shape of its own (scale)."""

    async def get_part(self, namespace: str, name: str, read: Read = Read.LATEST, revision: int = 0) -> Object: ...


@runtime_checkable
class PartUpdater(Protocol):
    """PUT and PATCH of a subresource with a shape of its own (scale)."""

    async def update_part(self, name: str, produce: Produce, write: Write) -> Object: ...

    async def apply_part(
        self, name: str, read: Callable[[], Awaitable[Object]], write: Write, *, force: bool
    ) -> Object:
        """Server-side apply of an object of the subresource's own kind, which `read` gives or refuses."""
        ...
