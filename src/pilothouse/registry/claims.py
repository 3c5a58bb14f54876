"""What an object of some kind holds outside of itself: the addresses and node ports of a service.

Such things are taken before the object is written and given back after it is gone, so that at any moment nobody else
has them: a crash in between leaves something taken that nobody uses, never something used twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object

Settle = Callable[[bool], Awaitable[None]]
"""Told once how the write went: True, the object is written, and what it no longer needs may go; False, it is not."""


class Claims(Protocol):
    """The generic store asks between a kind's own `prepare` and its validation, of writes to a part of it too."""

    async def claim(self, obj: Object, old: Object | None, write: Write) -> Settle | None:
        """Take what `obj` needs beyond `old`, and say so in `obj`; None where nothing is to be settled.

        A dry run takes nothing. Raises APIErrors, holding nothing then.
        """
        ...

    async def removed(self, obj: Object) -> None:
        """`obj` is out of the store: give back what it had."""
        ...


class Pending:
    """The claims of one write, over all its attempts."""

    def __init__(self, claims: Claims | None) -> None:
        self._claims = claims
        self._settle: Settle | None = None

    async def take(self, obj: Object, old: Object | None, write: Write) -> None:
        """For a new attempt. What the last one took is given back first."""
        if self._claims is not None:
            await self.settle(False)
            self._settle = await self._claims.claim(obj, old, write)

    async def settle(self, written: bool) -> None:
        settle, self._settle = self._settle, None
        if settle is not None:
            await settle(written)

    async def removed(self, obj: Object) -> None:
        """The write took `obj` out of the store."""
        if self._claims is not None:
            await self.settle(True)
            await self._claims.removed(obj)
