"""Objects, lists and watch events in CBOR, made of their JSON: its members are kept beside the object, and shared by
whole objects, items of lists and events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import orjson

from pilothouse.endpoints import table as tables
from pilothouse.kit.aside import Aside, effort
from pilothouse.kit.turns import in_turns
from pilothouse.machinery import cbor
from pilothouse.machinery.schema import Schema
from pilothouse.registry.codec import ObjectCodec
from pilothouse.registry.resource import Object, Resource
from pilothouse.storage.api import StoredObject

WORK: Final = 4  # times the work of reading JSON
_BIG: Final = 32 << 10  # bytes of an object that is made aside, though its list is made here
Metadata = Callable[[StoredObject], bytes]  # an object's metadata as JSON


class CBORForms:
    """One resource."""

    def __init__(self, resource: Resource, codec: ObjectCodec) -> None:
        self._resource = resource
        self._codec = codec
        self._types: dict[str, cbor.Members] = {}

    def object(self, stored: StoredObject, version: str) -> bytes:
        return cbor.joined(self._type(version), self._members(stored, version))

    def item(self, stored: StoredObject, version: str) -> bytes:
        """As an item of a list: built-in kinds show no kind of their own there."""
        members = self._members(stored, version)
        if self._resource.typed:
            return cbor.joined(members, described=False)
        return cbor.joined(self._type(version), members, described=False)

    def partial(self, metadata: bytes, form_version: str, *, described: bool = True) -> bytes:
        """PartialObjectMetadata around an object's metadata, which is JSON."""
        return cbor.dumps(orjson.loads(tables.partial_object(metadata, form_version)), described=described)

    def empty(self, obj: Object, version: str) -> bytes:
        """The zero object of the kind, for bookmarks."""
        return cbor.joined(self._type(version), cbor.members(obj, self._schema(version)))

    async def items(
        self, items: Sequence[StoredObject], aside: Aside, show: Callable[[StoredObject], bytes]
    ) -> list[bytes]:
        """Each object as `show` gives it; long ones are made aside, and others get their turn."""
        big: dict[int, bytes] = {}
        for index, item in enumerate(items):
            if len(item.value) > _BIG:
                big[index] = await aside.run(WORK * effort(item.value), show, item)
        return await in_turns(enumerate(items), lambda one: big.get(one[0]) or show(one[1]))

    def _type(self, version: str) -> cbor.Members:
        """Kind and apiVersion."""
        made = self._types.get(version)
        if made is None:
            shown = {"kind": self._resource.versions[version].kind, "apiVersion": self._resource.api_version(version)}
            made = self._types[version] = cbor.members(shown)
        return made

    def _schema(self, version: str) -> Schema | None:
        return self._resource.versions[version].schema if self._resource.typed else None

    def _members(self, stored: StoredObject, version: str) -> cbor.Members:
        """All members but kind and apiVersion."""
        key = ("cbor", version)
        made: cbor.Members | None = stored.forms.get(key)
        if made is None:
            obj = orjson.loads(self._codec.item(stored, version))
            if not self._resource.typed:
                del obj["kind"], obj["apiVersion"]
            made = stored.forms[key] = cbor.members(obj, self._schema(version))
        return made
