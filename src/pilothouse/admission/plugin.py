"""What a plug-in of admission is, and what it is asked about: one write.

`admission/chain.py` puts the plug-ins in order and asks them.
"""

from __future__ import annotations

from typing import Any, Final, Protocol, runtime_checkable

from pilothouse.admission.forms import Forms
from pilothouse.kit.record import record
from pilothouse.registry.request import Decode, Write
from pilothouse.registry.resource import Object, Resource

CREATE = "CREATE"
UPDATE = "UPDATE"
DELETE = "DELETE"
CONNECT = "CONNECT"
OPERATIONS: Final = (CREATE, UPDATE, DELETE, CONNECT)


class Rounds:
    """The plug-ins that change objects are asked a second time where a webhook changed what the first ones made.

    `kept`: what a plug-in remembers of the first round, by its name.
    """

    __slots__ = ("again", "kept", "second")

    def __init__(self) -> None:
        self.again = False
        self.second = False
        self.kept: dict[str, Any] = {}


@record
class Attributes:
    """One write. `obj` is None on a delete, `old` on a create. A connection has its options as `obj`.

    `foreign`: the objects are of the subresource's own kind, which `decode` knows. `forms` and `rounds` are there for
    `Rare` plug-ins.
    """

    operation: str
    resource: Resource
    obj: Object | None
    old: Object | None
    write: Write
    forms: Forms | None = None
    rounds: Rounds | None = None
    decode: Decode | None = None
    foreign: bool = False


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


class Source(Protocol):
    """What a rare plug-in knows. `idle`: nothing, so that there is nothing to ask."""

    @property
    def idle(self) -> bool: ...


@runtime_checkable
class Rare(Plugin, Protocol):
    """A plug-in that mostly has nothing to do. It sees the objects of subresources with a shape of their own, too.

    `elsewhere`: it asks others.
    """

    @property
    def elsewhere(self) -> bool: ...

    @property
    def source(self) -> Source: ...

    def concerns(self, resource: Resource, forms: Forms, operation: str, write: Write) -> bool:
        """Whether it has something to do with this write. Asked each time unless it is idle, so it is quick."""
        ...
