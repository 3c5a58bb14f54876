"""API services of the groups that this server serves itself: made, kept and removed (label automanaged)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from pilothouse.aggregator.apiservice import ALWAYS, MANAGED_LABEL, ON_START, APIService
from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError
from pilothouse.registry.store import GenericStore
from pilothouse.registry.writer import Writer

Object = dict[str, Any]
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 5.0
_log = logging.getLogger(__name__)


@record
class Wanted:
    """An API service that shall be there. `managed`: ON_START or ALWAYS."""

    group: str
    version: str
    group_priority: int
    version_priority: int
    managed: str

    @property
    def name(self) -> str:
        return f"{self.version}.{self.group}"

    def fits(self, there: APIService) -> bool:
        mine = (self.group, self.version, self.group_priority, self.version_priority, None, self.managed)
        theirs = (
            there.group,
            there.version,
            there.group_priority,
            there.version_priority,
            there.service,
            there.managed,
        )
        return mine == theirs

    def spec(self) -> Object:
        spec: Object = {"group": self.group} if self.group else {}
        return {
            **spec,
            "version": self.version,
            "groupPriorityMinimum": self.group_priority,
            "versionPriority": self.version_priority,
        }


class AutoRegister:
    """`there` shows the API services as they are; `touched` must be told of each change to one."""

    def __init__(self, store: GenericStore, there: Mapping[str, APIService], now: Callable[[], datetime]) -> None:
        self._store = store
        self._writer = Writer(store, now)
        self._there = there
        self._wanted: dict[str, dict[str, Wanted]] = {}  # by source, by name
        self._dirty: dict[str, None] = {}
        self._wake = asyncio.Event()
        self._settled: set[str] = set()  # ON_START ones that were there once
        self.complete = asyncio.Event()  # everything wanted at start is there

    def want(self, source: str, wanted: Iterable[Wanted]) -> None:
        """From now on this source wants these, and not what it wanted before."""
        before = self._wanted.get(source, {})
        after = self._wanted[source] = {one.name: one for one in wanted}
        for name in before.keys() | after.keys():
            if before.get(name) != after.get(name):
                self.touched(name)

    def touched(self, name: str) -> None:
        self._dirty[name] = None
        self._wake.set()

    def _of(self, name: str) -> Wanted | None:
        for wanted in self._wanted.values():
            if name in wanted:
                return wanted[name]
        return None

    async def run(self) -> None:
        """For ever."""
        for name, there in self._there.items():
            if there.managed:
                self.touched(name)
        pause = _FIRST_PAUSE
        while True:
            if not self._dirty:
                self.complete.set()
                self._wake.clear()
                await self._wake.wait()
            name = next(iter(self._dirty))
            del self._dirty[name]
            try:
                await self._settle(name)
                pause = _FIRST_PAUSE
            except APIError as error:
                _log.info("API service %s: %s", name, error.message)
                self._dirty[name] = None
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)

    async def _settle(self, name: str) -> None:
        """Bring one API service to what is wanted. Raises APIError."""
        there, wanted = self._there.get(name), self._of(name)
        if there is None:
            if wanted is not None and name not in self._settled:
                await self._make(wanted)
                self._note(wanted)
        elif not there.managed:
            self._note(wanted)  # somebody took it over
        elif wanted is None:
            if there.managed == ALWAYS or not self.complete.is_set():
                await self._writer.delete("", name)
        elif name not in self._settled and not wanted.fits(there):
            await self._change(wanted)
            self._note(wanted)
        else:
            self._note(wanted)

    def _note(self, wanted: Wanted | None) -> None:
        if wanted is not None and wanted.managed == ON_START:
            self._settled.add(wanted.name)

    async def _make(self, wanted: Wanted) -> None:
        resource = self._store.resource
        await self._writer.create(
            {
                "kind": resource.kind,
                "apiVersion": resource.hub_api_version,
                "metadata": {"name": wanted.name, "labels": {MANAGED_LABEL: wanted.managed}},
                "spec": wanted.spec(),
                "status": {},
            }
        )

    async def _change(self, wanted: Wanted) -> None:
        def change(obj: Object) -> None:
            labels = obj["metadata"].setdefault("labels", {})
            if MANAGED_LABEL in labels:
                labels[MANAGED_LABEL] = wanted.managed
                obj["spec"] = wanted.spec()

        await self._writer.update("", wanted.name, change)


CUSTOM_PRIORITIES: Final = (1000, 100)  # of groups and versions that definitions bring


def wanted_custom(served: Iterable[tuple[str, str]]) -> list[Wanted]:
    """The API services of custom resources, from their groups and versions."""
    return [Wanted(group, version, *CUSTOM_PRIORITIES, ALWAYS) for group, version in served]
