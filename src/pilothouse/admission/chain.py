"""The admission chain: plug-ins that may change or refuse a write, in the original's order (Kubernetes documentation,
"Admission Control in Kubernetes").

A plug-in says once which resources and operations it is for; each resource then pays only for those that concern it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from pilothouse.kit.record import record
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object, Resource

CREATE = "CREATE"
UPDATE = "UPDATE"
DELETE = "DELETE"
CONNECT = "CONNECT"


@record
class Attributes:
    """One write. `obj` is None on a delete, `old` on a create. A connection has its options as `obj`."""

    operation: str
    resource: Resource
    obj: Object | None
    old: Object | None
    write: Write


class Plugin(Protocol):
    """`name` is the original's."""

    @property
    def name(self) -> str: ...

    def handles(self, resource: Resource, operation: str) -> bool: ...


@runtime_checkable
class Mutating(Plugin, Protocol):
    async def admit(self, attributes: Attributes) -> None:
        """Change `attributes.obj` in place, or raise an APIError."""
        ...


@runtime_checkable
class Validating(Plugin, Protocol):
    async def check(self, attributes: Attributes) -> None:
        """Raise an APIError to refuse."""
        ...


class Chain:
    """All plug-ins of a server, in order."""

    def __init__(self, plugins: Sequence[Plugin]) -> None:
        self._plugins = plugins

    def bound(self, resource: Resource) -> BoundChain:
        return BoundChain(self._plugins, resource)


class BoundChain:
    """The plug-ins that concern one resource: what the generic store calls."""

    def __init__(self, plugins: Sequence[Plugin], resource: Resource) -> None:
        self._resource = resource
        self._mutating: dict[str, list[Mutating]] = {}
        self._validating: dict[str, list[Validating]] = {}
        for operation in (CREATE, UPDATE, DELETE, CONNECT):
            concerned = [plugin for plugin in plugins if plugin.handles(resource, operation)]
            self._mutating[operation] = [plugin for plugin in concerned if isinstance(plugin, Mutating)]
            self._validating[operation] = [plugin for plugin in concerned if isinstance(plugin, Validating)]

    async def mutate(self, operation: str, obj: Object | None, old: Object | None, write: Write) -> None:
        plugins = self._mutating[operation]
        if plugins:
            attributes = Attributes(operation, self._resource, obj, old, write)
            for plugin in plugins:
                await plugin.admit(attributes)

    async def validate(self, operation: str, obj: Object | None, old: Object | None, write: Write) -> None:
        plugins = self._validating[operation]
        if plugins:
            attributes = Attributes(operation, self._resource, obj, old, write)
            for plugin in plugins:
                await plugin.check(attributes)
