"""What concerns a kind of write (resource, version, subresource, operation), found once and remembered until something
changes; what plug-ins that clients configure have in common, and their wait for what a server that has just begun does
not know yet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Generic, Protocol, TypeVar

from pilothouse.admission.criteria import GROUP, Kind
from pilothouse.admission.forms import Forms
from pilothouse.admission.plugin import Attributes
from pilothouse.admission.refusals import refuse
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Resource

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
READY_SECONDS: Final = 10.0  # a write waits so long
_MOST_KINDS: Final = 10_000  # that are remembered
_NAMESPACES: Final = ("", "namespaces")


class ByKind(Generic[T]):
    """`find` says what concerns a kind of write."""

    def __init__(self, find: Callable[[Kind], Iterable[T]]) -> None:
        self._find = find
        self._found: dict[tuple[int, str, str, str], tuple[Resource, tuple[T, ...]]] = {}

    def forget(self) -> None:
        """Something changed."""
        self._found.clear()

    def of(self, resource: Resource, forms: Forms, operation: str, write: Write) -> Sequence[T]:
        key = (id(resource), write.version, write.subresource, operation)
        found = self._found.get(key)
        if found is None:
            if len(self._found) >= _MOST_KINDS:
                self._found.clear()
            kind = kind_of(resource, forms, operation, write)
            found = self._found[key] = resource, tuple(self._find(kind))  # with the resource, whose id is the key
        return found[1]


def kind_of(resource: Resource, forms: Forms, operation: str, write: Write) -> Kind:
    """What rules look at."""
    every = forms.all()
    own = next((one for one in every if (one.group, one.version) == (resource.group, write.version)), every[0])
    others = tuple(form for form in every if form != own)
    namespaced = resource.namespaced and (resource.group, resource.plural) != _NAMESPACES
    return Kind(operation, own, others, write.subresource, namespaced)


async def ready(synced: asyncio.Event, attributes: Attributes) -> None:
    """Return when what was stored is known. Raises Forbidden where that takes too long."""
    if synced.is_set():
        return
    try:
        await asyncio.wait_for(synced.wait(), READY_SECONDS)
    except TimeoutError:
        raise refuse(attributes, "not yet ready to handle request") from None


class Configurations(Protocol[T_co]):
    """What is stored of one kind of configuration. `synced`: all of it is known. `idle`: there is nothing to ask."""

    @property
    def idle(self) -> bool: ...

    @property
    def synced(self) -> asyncio.Event: ...

    def wanted(self, resource: Resource, forms: Forms, operation: str, write: Write) -> Sequence[T_co]:
        """Those whose rules may take such a write."""
        ...


class Configured(Generic[T]):
    """A plug-in whose work clients configure."""

    def __init__(self, source: Configurations[T]) -> None:
        self.source = source

    def handles(self, resource: Resource, operation: str) -> bool:
        """Configurations and policies are not judged, or a wrong one could never be taken back."""
        return resource.group != GROUP

    def concerns(self, resource: Resource, forms: Forms, operation: str, write: Write) -> bool:
        if write.judged or not write.caller.name:  # what the server does itself nobody may stop
            return False
        return bool(self.source.wanted(resource, forms, operation, write)) or not self.source.synced.is_set()

    async def _wanted(self, attributes: Attributes) -> Sequence[T]:
        """Those whose rules take the write. Raises Forbidden where they are not known yet."""
        assert attributes.forms is not None
        await ready(self.source.synced, attributes)
        return self.source.wanted(attributes.resource, attributes.forms, attributes.operation, attributes.write)
