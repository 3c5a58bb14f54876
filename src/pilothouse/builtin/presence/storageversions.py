"""What this server tells others of how it keeps each kind: one StorageVersion a resource (feature StorageVersionAPI).

A server of another release that shares the store can so know whether it may write yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

from pilothouse.builtin.facts import ResourceFacts
from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.times import format_time
from pilothouse.registry.store import GenericStore
from pilothouse.registry.writer import Writer

Object = dict[str, Any]
CONDITION: Final = "AllEncodingVersionsEqual"
_CORE: Final = "core"  # how the group without a name is called here


@record
class Kept:
    """How a resource is kept: `name` is that of its StorageVersion; apiVersions written, readable, and served."""

    name: str
    encoding: str
    decodable: tuple[str, ...]
    served: tuple[str, ...]


def kept(known: Iterable[ResourceFacts], served: Callable[[ResourceFacts], bool]) -> list[Kept]:
    """Of all resources that are stored and served in some version, in the order of their names."""
    versions: dict[tuple[str, str], list[ResourceFacts]] = {}
    for row in known:
        if row.stored is not None:
            versions.setdefault((row.group, row.plural), []).append(row)
    found: list[Kept] = []
    for (group, plural), rows in versions.items():
        shown = [row for row in rows if served(row)]
        if not shown or shown[0].stored is None:
            continue
        encoding = shown[0].stored.api_version
        readable = {encoding, *(row.api_version for row in rows), *shown[0].stored.also_read}
        names = tuple(sorted(row.api_version for row in shown))
        found.append(Kept(f"{group or _CORE}.{plural}", encoding, tuple(sorted(readable)), names))
    return sorted(found, key=lambda one: one.name)


class StorageVersions:
    """Keeps them in `store`. `server` is the name of this server's Lease."""

    def __init__(self, store: GenericStore, server: str, now: Callable[[], datetime]) -> None:
        self._api_version = store.resource.hub_api_version
        self._objects = Writer(store, now)
        self._statuses = Writer(store, now, "status")
        self._server = server
        self._now = now

    async def tell(self, listed: Sequence[Kept]) -> None:
        """Make or update all of them. Raises APIError."""
        for one in listed:
            fill = partial(self._fill, one)
            try:
                await self._statuses.update("", one.name, fill)
            except APIError as error:
                if error.code != 404:
                    raise
                kind = {"kind": "StorageVersion", "apiVersion": self._api_version}
                await self._objects.create({**kind, "metadata": {"name": one.name}, "spec": {}, "status": {}})
                await self._statuses.update("", one.name, fill)

    def _fill(self, kept: Kept, obj: Object) -> None:
        before = obj.get("status") or {}
        own = {
            "apiServerID": self._server,
            "encodingVersion": kept.encoding,
            "decodableVersions": list(kept.decodable),
            "servedVersions": list(kept.served),
        }
        others = [one for one in before.get("storageVersions") or () if one.get("apiServerID") != self._server]
        told = [*others, own]
        status: Object = {"storageVersions": told}
        common = all(one.get("encodingVersion") == kept.encoding for one in told)
        if common:
            status["commonEncodingVersion"] = kept.encoding
        status["conditions"] = [self._condition(common, before.get("conditions") or ())]
        obj["status"] = status

    def _condition(self, common: bool, before: Iterable[Object]) -> Object:
        value, word = ("True", "Set") if common else ("False", "Unset")
        since = format_time(self._now())
        for one in before:
            if one.get("type") == CONDITION and one.get("status") == value:
                since = one.get("lastTransitionTime") or since
        return {
            "type": CONDITION,
            "status": value,
            "lastTransitionTime": since,
            "reason": f"CommonEncodingVersion{word}",
            "message": f"Common encoding version {word.lower()}",
        }
