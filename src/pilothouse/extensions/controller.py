"""Keeps definitions as they should be: names, conditions, and the end of those that are deleted.

One task works through the names of definitions that changed. It reads the present object each time, so it may be told
too often but never too seldom.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, Protocol

from pilothouse.extensions import naming
from pilothouse.extensions.definition import CLEANUP, TERMINATING, Definition, parse
from pilothouse.machinery.errors import APIError
from pilothouse.registry.ownership import Ownership
from pilothouse.registry.request import Write
from pilothouse.registry.store import GenericStore

Object = dict[str, Any]

MANAGER: Final = "kube-apiserver"
_NOT_FOUND: Final = 404
_FIRST_PAUSE: Final = 0.05  # seconds before trying again
_LONGEST_PAUSE: Final = 5.0
_log = logging.getLogger(__name__)


class Instances(Protocol):
    """The objects of a definition."""

    async def delete_all(self, definition: Definition) -> bool:
        """Delete all; whether none is left."""
        ...


class DefinitionController:
    """`known` are the definitions as they are served now."""

    def __init__(
        self,
        store: GenericStore,
        known: Callable[[], list[Definition]],
        instances: Instances,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._known = known
        self._instances = instances
        self._now = now
        self._owner = Ownership(store.resource, store.resource.hub, "status")
        self._queue: asyncio.Queue[str] = asyncio.Queue()
        self._waiting: set[str] = set()
        self._pauses: dict[str, float] = {}

    def touch(self, name: str) -> None:
        """Look at a definition soon."""
        if name not in self._waiting:
            self._waiting.add(name)
            self._queue.put_nowait(name)

    async def run(self) -> None:
        while True:
            name = await self._queue.get()
            self._waiting.discard(name)
            try:
                done = await self._look_at(name)
            except APIError as error:
                if error.code != _NOT_FOUND:
                    _log.warning("definition %s: %s", name, error.message)
                done = error.code == _NOT_FOUND
            except Exception:
                _log.exception("definition %s cannot be kept", name)
                done = False
            self._again(name, done)

    def _again(self, name: str, done: bool) -> None:
        if done:
            self._pauses.pop(name, None)
            return
        pause = self._pauses.get(name, _FIRST_PAUSE)
        self._pauses[name] = min(pause * 2, _LONGEST_PAUSE)
        asyncio.get_running_loop().call_later(pause, self.touch, name)

    async def _look_at(self, name: str) -> bool:
        """Whether nothing is left to do."""
        obj = self._store.codec.decode(await self._store.get("", name))
        definition = parse(obj)
        if "deletionTimestamp" in obj["metadata"]:
            return await self._end(definition, obj)
        taken = naming.taken_by(naming.neighbours(definition, self._known()))
        await self._write_status(name, lambda current: naming.named(current, taken, self._now()))
        await self._write_status(name, lambda current: naming.established(current, self._now()))
        return True

    async def _end(self, definition: Definition, obj: Object) -> bool:
        """Delete the objects, then let the definition go."""
        if CLEANUP not in (obj["metadata"].get("finalizers") or ()):
            return True
        in_progress = ("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")
        await self._write_status(
            definition.name,
            lambda current: naming.with_condition(current, TERMINATING, *in_progress, self._now()),
        )
        if not await self._instances.delete_all(definition):
            return False
        await self._update(definition.name, "status", self._owner, _without_cleanup)
        return True

    async def _write_status(self, name: str, decide: Callable[[Object], Object | None]) -> None:
        def change(obj: Object) -> Object:
            status = decide(obj)
            return obj if status is None or status == obj.get("status") else {**obj, "status": status}

        await self._update(name, "status", self._owner, change)

    async def _update(self, name: str, subresource: str, owner: Ownership, change: Callable[[Object], Object]) -> None:
        resource = self._store.resource
        write = Write("", name, resource.hub, self._now(), _unheard, subresource=subresource, manager=MANAGER)

        async def produce(old: Object | None) -> Object:
            assert old is not None
            new = change(old)
            return new if new is old else owner.updated(new, old, write)

        await self._store.update(name, produce, write, unconditional=True)


def _without_cleanup(obj: Object) -> Object:
    metadata = dict(obj["metadata"])
    metadata["finalizers"] = [name for name in metadata.get("finalizers") or () if name != CLEANUP]
    return {**obj, "metadata": metadata}


def _unheard(text: str) -> None:
    """Nobody hears the warnings of what the server writes itself."""
