"""Custom objects in one version where a webhook converts: as `storage.py`, but with calls to wait for.

What was converted is kept beside the stored object, so each version of an object is converted once for all readers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import orjson

from pilothouse.extensions.codec import CustomCodec
from pilothouse.extensions.conversion import ConversionFailed, Webhook
from pilothouse.machinery.decode.document import Decoder
from pilothouse.machinery.decode.findings import DecodeError, Findings
from pilothouse.machinery.errors import APIError, bare_internal, internal
from pilothouse.machinery.jsoncodec import dumps, dumps_sorted
from pilothouse.machinery.structural.node import Node
from pilothouse.machinery.structural.prune import drop_nulls, prune
from pilothouse.machinery.structural.settle import coerce, settle, settle_slowly
from pilothouse.registry.deleter import Deleted, Deleter
from pilothouse.registry.ownership import Ownership
from pilothouse.registry.request import DeleteOptions, Write
from pilothouse.registry.resource import Resource
from pilothouse.storage.api import (
    Change,
    Check,
    Deliver,
    Ended,
    ListRequest,
    Page,
    Read,
    Storage,
    StoredObject,
    Subscription,
    Transform,
)
from pilothouse.storage.errors import Corrupt, StorageError

Object = dict[str, Any]
_AT_ONCE: Final = 500  # objects of one call
_MOST_VERSIONS: Final = 64  # conversions that one write may need
_MOST_KNOWN: Final = 256


class Converter:
    """Between stored bytes and a version's form. `roots`: the schemas of all versions by apiVersion."""

    def __init__(
        self, codec: CustomCodec, stored: CustomCodec, roots: Mapping[str, Node], metadata: Decoder, webhook: Webhook
    ) -> None:
        self._codec = codec
        self._stored = stored
        self._roots = roots
        self._metadata = metadata
        self._webhook = webhook
        self._here = codec.resource.hub_api_version
        self._there = stored.resource.hub_api_version

    async def shown(self, values: Sequence[bytes]) -> list[bytes]:
        """The version's form of stored bytes. Raises ConversionFailed, Corrupt."""
        objects = [self._read(value) for value in values]
        return [self._codec.encode(obj) for obj in await self.to(objects, self._here)]

    async def stored(self, value: bytes) -> bytes:
        """The bytes to store of this version's form. Raises ConversionFailed."""
        obj: Object = orjson.loads(value)
        return self._stored.encode((await self.to([obj], self._there))[0])

    async def to(self, objects: Sequence[Object], api_version: str) -> list[Object]:
        """Objects of any version in one; they may be changed in place. Raises ConversionFailed."""
        made = list(objects)
        by_version: dict[str, list[int]] = {}
        for index, obj in enumerate(objects):
            if obj["apiVersion"] != api_version:
                by_version.setdefault(obj["apiVersion"], []).append(index)
        for indices in by_version.values():
            for start in range(0, len(indices), _AT_ONCE):
                part = indices[start : start + _AT_ONCE]
                converted = await self._webhook.convert([made[index] for index in part], api_version)
                for index, obj in zip(part, converted, strict=True):
                    made[index] = self._fitted(obj, api_version)
        return made

    def _fitted(self, obj: Object, api_version: str) -> Object:
        """Pruned to the schema of its version, without its defaults."""
        root = self._roots[api_version]
        obj["metadata"] = self._metadata(obj["metadata"], Findings())
        unknown: list[str] = []
        coerce(root, obj, "", self._metadata, unknown, True)
        prune(root, obj, "", unknown)
        drop_nulls(root, obj)
        return obj

    def _read(self, value: bytes) -> Object:
        try:
            obj: Object = orjson.loads(value)
            obj["metadata"] = self._metadata(obj.get("metadata") or {}, Findings())
            root = self._roots[obj["apiVersion"]]
        except (orjson.JSONDecodeError, DecodeError, KeyError, TypeError, AttributeError) as error:
            raise Corrupt(f"a stored object cannot be read: {error}") from error
        if not settle(root)(obj):
            settle_slowly(root, obj, self._metadata, forgiving=True)
        return obj


class ConversionNeeded(Exception):
    """Raised where conversions cannot be waited for: the object `obj` is needed in `api_version`."""

    def __init__(self, obj: Object, api_version: str) -> None:
        super().__init__(api_version)
        self.obj = obj
        self.api_version = api_version


class Conversions:
    """Conversions that were asked for by who cannot wait, as answers for when they ask again."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, bytes], bytes] = {}

    def look_up(self, obj: Object, api_version: str) -> Object:
        """Raises ConversionNeeded."""
        found = self._known.get((api_version, dumps_sorted(obj)))
        if found is None:
            raise ConversionNeeded(obj, api_version)
        made: Object = orjson.loads(found)
        return made

    async def learn(self, needed: ConversionNeeded, converter: Converter) -> None:
        """Raises ConversionRefused."""
        key = needed.api_version, dumps_sorted(needed.obj)
        try:
            made = await converter.to([orjson.loads(key[1])], needed.api_version)
        except ConversionFailed as error:
            raise ConversionRefused(str(error)) from error
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[key] = dumps(made[0])


class ConvertedOwnership(Ownership):
    """Field ownership of a resource whose versions a webhook converts."""

    def __init__(self, resource: Resource, version: str, subresource: str, known: Conversions) -> None:
        super().__init__(resource, version, subresource)
        self._tracker = replace(self._tracker, convert=known.look_up)


class ConvertedStorage:
    """Around the storage that all versions share."""

    def __init__(self, inner: Storage, converter: Converter, known: Conversions) -> None:
        self._inner = inner
        self._converter = converter
        self._known = known
        self._form = object()
        self._coming: dict[StoredObject, asyncio.Future[StoredObject]] = {}
        self._watches: dict[_Watch, None] = {}

    @property
    def prefix(self) -> str:
        return self._inner.prefix

    async def shown(self, items: Sequence[StoredObject]) -> list[StoredObject]:
        """Each in this version; what somebody converts already is waited for. Raises Corrupt."""
        missing = [item for item in items if self._form not in item.forms and item not in self._coming]
        if missing:
            await self._make(missing)
        found = []
        for item in items:
            if self._form not in item.forms and item in self._coming:
                await asyncio.shield(self._coming[item])
            made = item.forms.get(self._form)
            found.append(made if isinstance(made, StoredObject) else item)
        return found

    async def _make(self, items: Sequence[StoredObject]) -> None:
        loop = asyncio.get_running_loop()
        futures = {item: loop.create_future() for item in items}
        self._coming.update(futures)
        try:
            values = await self._converter.shown([item.value for item in items])
            for item, value in zip(items, values, strict=True):
                same = value == item.value
                item.forms[self._form] = True if same else StoredObject(item.key, value, item.revision)
                futures[item].set_result(item)
        except ConversionFailed as error:
            raise Corrupt(str(error)) from error
        finally:
            for item, future in futures.items():
                self._coming.pop(item, None)
                if not future.done():
                    future.cancel()

    async def _one(self, item: StoredObject) -> StoredObject:
        return (await self.shown([item]))[0]

    async def _converted(self, items: Sequence[StoredObject]) -> list[StoredObject]:
        try:
            return await self.shown(items)
        except Corrupt as error:
            raise APIError(500, "StorageReadError", str(error), {}) from error

    # Reading

    async def get(self, key: str, read: Read = Read.LATEST, revision: int = 0) -> StoredObject:
        return await self._one(await self._inner.get(key, read, revision))

    async def list(self, request: ListRequest) -> Page:
        accept = request.accept
        if accept is None:
            page = await self._inner.list(request)
            return Page(await self._converted(page.items), page.revision, page.next_key, page.remaining, page.looked)
        # What is accepted is known only of converted objects.
        whole = ListRequest(request.prefix, request.read, request.revision, request.after)
        page = await self._inner.list(whole)
        found = [item for item in await self._converted(page.items) if accept(item)]
        if request.limit and len(found) > request.limit:
            return Page(found[: request.limit], page.revision, found[request.limit].key)
        return Page(found, page.revision)

    async def revision(self) -> int:
        return await self._inner.revision()

    # Writing

    async def create(self, key: str, value: bytes, ttl: float | None = None) -> StoredObject:
        return await self._one(await self._inner.create(key, await self._to_stored(value), ttl))

    async def _to_stored(self, value: bytes) -> bytes:
        try:
            return await self._converter.stored(value)
        except ConversionFailed as error:
            raise ConversionRefused(str(error)) from error

    async def update(self, key: str, transform: Transform, *, ttl: float | None = None) -> StoredObject:
        async def changed(current: StoredObject | None) -> bytes:
            if current is None:
                return await self._to_stored(await transform(None))
            try:
                seen = await self._one(current)
            except Corrupt as error:
                raise ConversionRefused(str(error)) from error
            value = await self._transformed(transform, seen)
            return current.value if value == seen.value else await self._to_stored(value)

        return await self._one(await self._inner.update(key, changed, ttl=ttl))

    async def _transformed(self, transform: Transform, seen: StoredObject) -> bytes:
        """Owners of fields in other versions need the object in those: it is converted, and the change made again."""
        for _ in range(_MOST_VERSIONS):
            try:
                return await transform(seen)
            except ConversionNeeded as needed:
                await self._known.learn(needed, self._converter)
        return await transform(seen)

    async def delete(self, key: str, check: Check | None = None) -> tuple[StoredObject, int]:
        async def checked(current: StoredObject) -> None:
            if check is not None:
                await check(await self._one(current))

        item, revision = await self._inner.delete(key, checked)
        return await self._one(item), revision

    # Watching

    async def watch(self, prefix: str, since: int, deliver: Deliver, ended: Ended) -> Subscription:
        watch = _Watch(self.change, self._watches, deliver, ended)
        try:
            watch.inner = await self._inner.watch(prefix, since, watch.take, watch.end)
        except BaseException:
            watch.close()
            raise
        return watch

    async def change(self, change: Change) -> Change:
        """A change in this version. Raises Corrupt."""
        found: Change | None = change.forms.get(self._form)
        if found is None:
            new = None if change.object is None else await self._one(change.object)
            old = None if change.previous is None else await self._one(change.previous)
            found = change.forms[self._form] = Change(change.key, new, old, change.revision)
        return found

    def close(self) -> None:
        """End the watches."""
        for watch in tuple(self._watches):
            watch.end(None)
            watch.close()


class ConversionRefused(APIError):
    """500 without a reason: a write whose object could not be converted."""

    def __init__(self, message: str) -> None:
        plain = bare_internal(message)
        super().__init__(plain.code, plain.reason, plain.message)


class _Watch:
    """One watch: changes are converted in turn, and delivered in their order."""

    def __init__(
        self,
        convert: Callable[[Change], Any],
        known: dict[_Watch, None],
        deliver: Deliver,
        ended: Ended,
    ) -> None:
        self._convert = convert
        self._known = known
        self._deliver = deliver
        self._ended = ended
        self._waiting: asyncio.Queue[Change] = asyncio.Queue()
        self._told = 0  # revision
        self.inner: Subscription | None = None
        self.closed = False
        known[self] = None
        self._task = asyncio.get_running_loop().create_task(self._run(), name="converted watch")

    @property
    def revision(self) -> int:
        """Not beyond what was delivered."""
        if self.inner is None or not self._waiting.empty():
            return self._told
        return max(self._told, self.inner.revision)

    def take(self, changes: Sequence[Change]) -> None:
        for change in changes:
            self._waiting.put_nowait(change)

    async def _run(self) -> None:
        while True:
            change = await self._waiting.get()
            try:
                made = await self._convert(change)
            except StorageError as error:
                self.end(error)
                return
            if self.closed:
                return
            self._told = change.revision
            self._deliver([made])

    def end(self, error: StorageError | None) -> None:
        if not self.closed:
            self.closed = True
            self._known.pop(self, None)
            self._ended(error)

    def close(self) -> None:
        self.closed = True
        self._known.pop(self, None)
        if self._task is not asyncio.current_task():
            self._task.cancel()
        if self.inner is not None:
            self.inner.close()


class ConvertedDeleter(Deleter):
    """What cannot be converted cannot be deleted in this version."""

    async def delete(self, name: str, options: DeleteOptions, write: Write) -> Deleted:
        try:
            return await super().delete(name, options, write)
        except ConversionRefused as error:
            raise internal(error.message) from error
