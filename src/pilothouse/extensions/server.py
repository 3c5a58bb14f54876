"""The innermost server: every custom resource that is defined, its routes, documents and controllers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

import orjson

from pilothouse.cache.follow import Follower
from pilothouse.discovery.model import Group
from pilothouse.endpoints.requestinfo import RequestInfo
from pilothouse.extensions import publish
from pilothouse.extensions.controller import MANAGER, DefinitionController
from pilothouse.extensions.definition import Definition, parse
from pilothouse.extensions.publish import Documents
from pilothouse.extensions.serving import Serving, Surroundings
from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError, not_found, verb_not_supported
from pilothouse.registry.request import DeleteOptions, Write
from pilothouse.registry.store import GenericStore
from pilothouse.serving.http import Handler, Request
from pilothouse.storage.api import ListRequest, Storage, StoredObject
from pilothouse.storage.errors import Conflict, NotFound, StorageError

OpenStorage = Callable[[str], Storage]
Publish = Callable[[Sequence[Group]], None]
_GRACE: Final = 1.0  # seconds that watches of a definition that changed go on
_GONE: Final = 404
_FINALIZERS: Final = b'"finalizers"'
_AT_ONCE: Final = 32  # objects that are deleted together


@record
class Needs:
    """What the server of custom resources takes from outside. `definitions` is the store of definitions."""

    definitions: GenericStore
    open_storage: OpenStorage
    surroundings: Surroundings
    publish: Publish
    documents: Documents


class ExtensionsServer:
    """Follows the definitions; `find` is its link in the chain of delegates."""

    def __init__(self, needs: Needs) -> None:
        self._needs = needs
        self._follower = Follower(needs.definitions.storage, self._changed)
        self._controller = DefinitionController(
            needs.definitions, lambda: list(self._definitions.values()), self, needs.surroundings.now
        )
        self._definitions: dict[str, Definition] = {}  # by key
        self._servings: dict[tuple[str, str], Serving] = {}  # by group and plural
        self._storages: dict[str, Storage] = {}  # by uid of the definition
        self._tasks: list[asyncio.Task[None]] = []
        self._stale = False

    # Tasks

    async def start(self) -> None:
        """Begin to follow; returns when every stored definition is served."""
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(self._follower.run(), name="custom resource definitions"),
            loop.create_task(self._controller.run(), name="conditions of definitions"),
        ]
        await self.synced()

    async def synced(self) -> None:
        await self._follower.synced.wait()

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for serving in self._servings.values():
            serving.close()

    # Following

    def _changed(self, key: str, item: StoredObject | None) -> None:
        before = self._definitions.get(key)
        if item is None:
            if before is not None:
                del self._definitions[key]
                self._drop(before)
                self._look_at_group(before)
                self._publish_soon()
            return
        definition = parse(orjson.loads(item.value))
        self._controller.touch(definition.name)
        if definition == before:
            return
        self._definitions[key] = definition
        if before is not None and before.uid != definition.uid:
            self._drop(before)
        self._serve(definition)
        if before is None or before.names != definition.names:
            self._look_at_group(definition)
        self._publish_soon()

    def _look_at_group(self, changed: Definition) -> None:
        """Names may have become free, or been taken."""
        for definition in self._definitions.values():
            if definition.group == changed.group and definition.name != changed.name:
                self._controller.touch(definition.name)

    def _serve(self, definition: Definition) -> None:
        place = definition.group, definition.wanted.plural
        old = self._servings.get(place)
        storage = self._storages.get(definition.uid)
        if storage is None:
            storage = self._storages[definition.uid] = self._needs.open_storage(definition.key_prefix())
        self._servings[place] = Serving(definition, storage, self._needs.surroundings)
        if old is not None:
            asyncio.get_running_loop().call_later(_GRACE, old.close)

    def _drop(self, definition: Definition) -> None:
        serving = self._servings.pop((definition.group, definition.wanted.plural), None)
        self._storages.pop(definition.uid, None)
        if serving is not None:
            asyncio.get_running_loop().call_later(_GRACE, serving.close)

    def _publish_soon(self) -> None:
        """Once for all changes of one turn of the loop."""
        if not self._stale:
            self._stale = True
            asyncio.get_running_loop().call_soon(self._publish)

    def _publish(self) -> None:
        self._stale = False
        found = publish.served(self._definitions.values())
        self._needs.publish(publish.groups(found))
        self._needs.documents.show(found)
        metrics = self._needs.surroundings.expressions
        if metrics is not None:
            metrics.published(found)

    # Requests

    def find(self, request: Request) -> Handler | None:
        """The handler of a request for a custom resource; None for what is not defined.

        Raises NotFound for a subresource that is not there, MethodNotAllowed for what cannot be done.
        """
        info = request.attached(RequestInfo)
        if not info.is_resource or info.prefix != "apis":
            return None
        serving = self._servings.get((info.group, info.resource))
        if serving is None or not serving.definition.answers or not _in_place(serving.definition, info):
            return None
        version = serving.version(info.version)
        if version is None:
            return None
        entry = version.entries.get(info.subresource)
        if entry is None:
            raise not_found(info.group, info.resource, info.name)
        handler = entry.handlers.get(info.verb)
        if handler is None:
            raise verb_not_supported(info.group, info.resource, info.verb)
        return handler

    def store(self, api_version: str, kind: str) -> GenericStore | None:
        """The objects of a kind in a served version; None for what is not defined."""
        group, _, version = api_version.rpartition("/")
        for serving in self._servings.values():
            definition = serving.definition
            if (definition.group, definition.names.kind) == (group, kind) and definition.answers:
                made = serving.version(version)
                return None if made is None else made.store
        return None

    # Objects of a definition that goes

    async def delete_all(self, definition: Definition) -> bool:
        """Delete all objects; whether none is left."""
        serving = self._servings.get((definition.group, definition.wanted.plural))
        if serving is None:
            return True
        storage = self._storages.get(definition.uid)
        if storage is None:  # another of this name was served before: what is served will follow
            return False
        version = serving.of_storage()
        page = await self._list(storage)
        now = self._needs.surroundings.now()

        async def delete(item: StoredObject) -> None:
            if await _gone_at_once(storage, item):
                return
            metadata = version.store.codec.decode(item)["metadata"]
            namespace = metadata.get("namespace", "") if definition.namespaced else ""
            write = Write(namespace, metadata["name"], definition.storage.name, now, _unheard, manager=MANAGER)
            try:
                await version.deleter.delete(write.name, DeleteOptions(), write)
            except APIError as error:
                if error.code != _GONE:
                    raise

        for start in range(0, len(page), _AT_ONCE):  # many, so that they share commits; others get a turn between
            done = await asyncio.gather(*map(delete, page[start : start + _AT_ONCE]), return_exceptions=True)
            for failed in filter(None, done):
                raise failed
        return not await self._list(storage)

    async def _list(self, storage: Storage) -> Sequence[StoredObject]:
        try:
            return (await storage.list(ListRequest(storage.prefix))).items
        except StorageError as error:
            raise APIError(500, "InternalError", str(error)) from error


async def _gone_at_once(storage: Storage, item: StoredObject) -> bool:
    """Remove an object that surely has no finalizers, in the form it is kept in; whether that was possible.

    Nobody is asked about what goes with its definition.
    """
    if _FINALIZERS in item.value:
        return False

    async def same(current: StoredObject) -> None:
        if current.revision != item.revision:
            raise Conflict(item.key)

    try:
        await storage.delete(item.key, same)
    except (Conflict, NotFound):
        return False
    except StorageError as error:
        raise APIError(500, "InternalError", str(error)) from error
    return True


def _unheard(text: str) -> None:
    """Nobody hears the warnings of what the server does itself."""


def _in_place(definition: Definition, info: RequestInfo) -> bool:
    """Namespaced objects are found in a namespace, and in lists over all of them; others in none."""
    if definition.namespaced:
        return bool(info.namespace) or info.verb in ("list", "watch")
    return not info.namespace
