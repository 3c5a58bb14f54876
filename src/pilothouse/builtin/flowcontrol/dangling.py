"""Says of every flow schema whether the priority level that it names exists: its condition Dangling."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any, Final

from pilothouse.builtin.flowcontrol.bootstrap import LEVELS, SCHEMAS
from pilothouse.cache.follow import Follower
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.times import format_time
from pilothouse.registry.ownership import Ownership
from pilothouse.registry.request import Write
from pilothouse.registry.store import GenericStore
from pilothouse.registry.writer import no_client
from pilothouse.storage.api import StoredObject

Object = dict[str, Any]
_MANAGER: Final = "api-priority-and-fairness-config-consumer-v1"
_TYPE: Final = "Dangling"
_VERSION: Final = "v1"
_log = logging.getLogger(__name__)


class DanglingKeeper:
    """Follows both kinds; `run` never ends by itself. `pause` is waited for after a write that failed."""

    def __init__(
        self,
        stores: Mapping[tuple[str, str], GenericStore],
        now: Callable[[], datetime],
        pause: Callable[[], Awaitable[None]],
    ) -> None:
        self._schemas, levels = stores[SCHEMAS], stores[LEVELS]
        self._now = now
        self._pause = pause
        self._owner = Ownership(self._schemas.resource, _VERSION, "status")
        self._levels: set[str] = set()
        self._named: dict[str, str] = {}  # schema -> level
        self._todo: dict[str, None] = {}  # schemas to look at
        self._woken = asyncio.Event()
        self._followers = (Follower(levels.storage, self._level), Follower(self._schemas.storage, self._schema))

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for follower in self._followers:
                group.create_task(follower.run())
            for follower in self._followers:
                await follower.synced.wait()
            while True:
                await self._woken.wait()
                self._woken.clear()
                await self._work()

    def _level(self, key: str, item: StoredObject | None) -> None:
        name = key.rpartition("/")[2]
        if (item is not None) == (name in self._levels):
            return
        if item is None:
            self._levels.discard(name)
        else:
            self._levels.add(name)
        for schema, level in self._named.items():
            if level == name:
                self._look_at(schema)

    def _schema(self, key: str, item: StoredObject | None) -> None:
        name = key.rpartition("/")[2]
        if item is None:
            self._named.pop(name, None)
        else:
            self._named[name] = _level_of(self._schemas.codec.decode(item))
            self._look_at(name)

    def _look_at(self, schema: str) -> None:
        self._todo[schema] = None
        self._woken.set()

    async def _work(self) -> None:
        while self._todo:
            name = next(iter(self._todo))
            del self._todo[name]
            try:
                await self._say(name)
            except APIError as error:
                if error.code == 404:
                    continue
                _log.warning("the condition of flow schema %s could not be written: %s", name, error)
                await self._pause()
                self._look_at(name)

    async def _say(self, name: str) -> None:
        found = self._schemas.codec.decode(await self._schemas.get("", name))
        if self._condition(found) is None:
            return
        write = Write("", name, _VERSION, self._now(), no_client, subresource="status", manager=_MANAGER)

        async def produce(old: Object | None) -> Object:
            assert old is not None, name
            condition = self._condition(old)
            if condition is None:
                return old
            config = {
                "apiVersion": old["apiVersion"],
                "kind": old["kind"],
                "metadata": {"name": name},
                "status": {"conditions": [condition]},
            }
            return self._owner.applied(config, old, write, force=True)

        await self._schemas.update(name, produce, write)

    def _condition(self, schema: Object) -> Object | None:
        """The condition that the schema should have; None where it has it."""
        level = _level_of(schema)
        exists = level in self._levels
        fate = "and it exists" if exists else "but there is no such object"
        said: Object = {
            "type": _TYPE,
            "status": "False" if exists else "True",
            "reason": "Found" if exists else "NotFound",
            "message": f'This FlowSchema references the PriorityLevelConfiguration object named "{level}" {fate}',
        }
        conditions = (schema.get("status") or {}).get("conditions") or ()
        known: Object = next((one for one in conditions if one.get("type") == _TYPE), {})
        if all(known.get(member) == value for member, value in said.items()):
            return None
        since = known.get("lastTransitionTime") if known.get("status") == said["status"] else None
        return {**said, "lastTransitionTime": since or format_time(self._now())}


def _level_of(schema: Object) -> str:
    level: str = ((schema.get("spec") or {}).get("priorityLevelConfiguration") or {}).get("name", "")
    return level
