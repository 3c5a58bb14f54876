"""Between stored bytes and what is served, without decoding: objects are encoded once, and those bytes answer GET,
LIST and WATCH.

Stored JSON is `{"kind":K,"apiVersion":HUB,"metadata":{...},...}` in the hub version, without a resourceVersion: the
revision of
the write is it, and is spliced in behind the uid when the object is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import orjson

from pilothouse.machinery import jsonpieces
from pilothouse.machinery.errors import bad_request
from pilothouse.machinery.jsoncodec import TooDeep, dumps, dumps_shallow
from pilothouse.machinery.schema import BOOL, INT32, INT64, STRUCT, Schema
from pilothouse.registry.resource import Object, Resource
from pilothouse.storage.api import StoredObject

_UID: Final = b'"uid":"'
_RV_HEAD: Final = b',"resourceVersion":"'
_METADATA: Final = b'"metadata":'


class Index:
    """What selectors ask of an object: its labels and the values of its selectable fields."""

    __slots__ = ("fields", "labels")

    def __init__(self, labels: dict[str, str], fields: dict[str, str]) -> None:
        self.labels = labels
        self.fields = fields


class ObjectCodec:
    """The stored form of one resource."""

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        self._head = self.type_head(resource.hub)
        self._skip = len(self._head)
        self._heads = {version: self.type_head(version) for version in resource.versions}
        self._order = tuple(name for name in resource.schema.properties if name not in ("kind", "apiVersion"))
        behind = self._order[self._order.index("metadata") + 1 :] if "metadata" in self._order else ()
        metadata = resource.schema.properties.get("metadata")
        self._metadata_order = tuple(metadata.schema.properties) if metadata is not None else ()
        self._behind_metadata = tuple(b',"%b":' % name.encode() for name in behind)
        self._labels = tuple(
            (label, tuple(tuple(one.split(".")) for one in paths.split("|")), _zero(resource.schema, paths))
            for label, paths in resource.field_labels.paths.items()
        )

    def type_head(self, version: str) -> bytes:
        kind = self.resource.versions[version].kind
        return dumps({"kind": kind, "apiVersion": self.resource.api_version(version)})[:-1] + b","

    def encode(self, obj: Object) -> bytes:
        """The bytes to store, members in the order of the type. Takes the resourceVersion out of `obj`.

        Raises BadRequest for an object so deep that it could not be shown in every form.
        """
        metadata = obj.get("metadata")
        if metadata:
            metadata.pop("resourceVersion", None)
        if self.resource.typed:
            shown = {name: obj[name] for name in self._order if name in obj}
        else:
            shown = {name: value for name, value in sorted(obj.items()) if name not in ("kind", "apiVersion")}
        try:
            return self._head + dumps_shallow(shown)[1:]
        except TooDeep as error:
            raise bad_request(f"the object is {error}") from error

    def decode(self, stored: StoredObject) -> Object:
        """A fresh object in the hub version, with kind, apiVersion and resourceVersion."""
        obj: Object = jsonpieces.loads(stored.value)
        if stored.revision:
            obj["metadata"]["resourceVersion"] = str(stored.revision)
        return obj

    def decode_as(self, stored: StoredObject, version: str) -> Object:
        """As `decode`, in a served version."""
        obj = self.decode(stored)
        resource = self.resource
        if version != resource.hub:
            if resource.convert is not None:
                obj = resource.convert.from_hub(obj, version)
            obj["kind"] = resource.versions[version].kind
            obj["apiVersion"] = resource.api_version(version)
        return obj

    def json(self, stored: StoredObject, version: str) -> bytes:
        """The whole object as JSON in a served version, without a newline."""
        return self._heads[version] + self._tail(stored, version)

    def item(self, stored: StoredObject, version: str) -> bytes:
        """The object as an item of a list: built-in kinds show no kind of their own there."""
        if self.resource.typed:
            return b"{" + self._tail(stored, version)
        return self.json(stored, version)

    def _tail(self, stored: StoredObject, version: str) -> bytes:
        if version != self.resource.hub and self.resource.convert is not None:
            return self._converted(stored, version)
        value = stored.value
        if not stored.revision:
            return value[self._skip :]
        at = value.find(_UID, self._skip)
        if at < 0:
            return self._spliced_slowly(stored)
        cut = value.index(b'"', at + 7) + 1
        return b'%b%b%d"%b' % (value[self._skip : cut], _RV_HEAD, stored.revision, value[cut:])

    def metadata(self, stored: StoredObject) -> bytes | None:
        """The object's metadata as JSON, cut out of its bytes; None where that is not sure."""
        parts = self.metadata_parts(stored)
        return b"".join(parts) if parts is not None else None

    def metadata_parts(self, stored: StoredObject) -> tuple[bytes | memoryview, ...] | None:
        """The same in parts that are to be joined, so that what goes into a list is copied once.

        Where to cut is found once for each version; to keep what is cut would cost 5 kB for a pod.
        """
        place: tuple[int, int] | tuple[()] | None = stored.forms.get("metadata place")
        if place is None:
            place = stored.forms["metadata place"] = self._metadata_place(stored)
        if not place:
            return None
        view, (cut, end) = memoryview(stored.value), place
        return view[self._skip + len(_METADATA) : cut], b'%b%d"' % (_RV_HEAD, stored.revision), view[cut:end]

    def _metadata_place(self, stored: StoredObject) -> tuple[int, int] | tuple[()]:
        """Where the resourceVersion belongs in the object's bytes, and where its metadata ends; () where in doubt.

        A quote within a text is escaped, so the name of the next member can only stand there as a name; and what is
        cut is the whole metadata if it is JSON.
        """
        value, begin = stored.value, self._skip + len(_METADATA)
        if not stored.revision or not value.startswith(_METADATA, self._skip):
            return ()
        ends = (value.find(name, begin) for name in self._behind_metadata)
        end = next((at for at in ends if at > 0), len(value) - 1)
        cut = value.find(_UID, begin, end)
        if cut < 0:
            return ()
        try:
            orjson.loads(memoryview(value)[begin:end])
        except orjson.JSONDecodeError:
            return ()
        return value.index(b'"', cut + 7) + 1, end

    def _spliced_slowly(self, stored: StoredObject) -> bytes:
        """An object without a uid (reviews; what others wrote)."""
        obj = self.decode(stored)
        obj.pop("kind", None)
        obj.pop("apiVersion", None)
        return dumps(obj)[1:]

    def _converted(self, stored: StoredObject, version: str) -> bytes:
        key = ("tail", version)
        made: bytes | None = stored.forms.get(key)
        if made is None:
            obj = self.decode_as(stored, version)
            obj.pop("kind")
            obj.pop("apiVersion")
            metadata = obj.get("metadata") or {}
            if metadata:
                obj["metadata"] = {
                    name: metadata[name] for name in (*self._metadata_order, *metadata) if name in metadata
                }
            made = stored.forms[key] = dumps(obj)[1:]
        return made

    def index(self, stored: StoredObject) -> Index:
        """Made once for each version of an object."""
        made: Index | None = stored.forms.get("index")
        if made is None:
            obj = orjson.loads(stored.value)
            metadata = obj.get("metadata") or {}
            fields = {label: _selected(obj, paths) or zero for label, paths, zero in self._labels}
            made = stored.forms["index"] = Index(metadata.get("labels") or {}, fields)
        return made


def with_revision_behind_uid(metadata: Object) -> Object:
    """Metadata whose resourceVersion was put in last, in the order of the type."""
    if next(reversed(metadata), "") != "resourceVersion" or "uid" not in metadata:
        return metadata
    ordered: Object = {}
    for key, value in metadata.items():
        if key == "resourceVersion":
            break
        ordered[key] = value
        if key == "uid":
            ordered["resourceVersion"] = metadata["resourceVersion"]
    return ordered


def _selected(obj: Any, paths: tuple[tuple[str, ...], ...]) -> str:
    """The first of several fields that says something."""
    for path in paths:
        found = _text(obj, path)
        if found:
            return found
    return ""


def _zero(schema: Schema, paths: str) -> str:
    """What an absent field counts as: false or 0 where it is no text."""
    for part in paths.partition("|")[0].split("."):
        field = schema.properties.get(part) if schema.kind == STRUCT else None
        if field is None:
            return ""
        schema = field.schema
    return {BOOL: "false", INT32: "0", INT64: "0"}.get(schema.kind, "")


def _text(obj: Any, path: tuple[str, ...]) -> str:
    for part in path:
        obj = obj.get(part) if isinstance(obj, dict) else None
        if obj is None:
            return ""
    if obj is True or obj is False:
        return "true" if obj else "false"
    return str(obj)


Accept = Callable[[StoredObject], bool]
