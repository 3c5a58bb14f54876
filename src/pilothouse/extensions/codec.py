"""The stored form of custom objects: members sorted, so that equal objects are equal bytes, and metadata first.

kube-apiserver sorts metadata too; the generic store wants to find the uid without looking far. Either form is read.
"""

from __future__ import annotations

from typing import Final

from pilothouse.machinery.errors import bad_request
from pilothouse.machinery.jsoncodec import TooDeep, dumps, dumps_shallow
from pilothouse.registry.codec import ObjectCodec
from pilothouse.registry.resource import Object, Resource

_HEAD: Final = ("apiVersion", "kind", "metadata")


class CustomCodec(ObjectCodec):
    """`selectable`: label of each selectable field -> its path."""

    def __init__(self, resource: Resource, selectable: dict[str, tuple[str, ...]]) -> None:
        super().__init__(resource)
        self._labels = tuple((label, (path,), "") for label, path in selectable.items())

    def type_head(self, version: str) -> bytes:
        served = self.resource.versions[version]
        return dumps({"apiVersion": served.api_version, "kind": served.kind})[:-1] + b","

    def encode(self, obj: Object) -> bytes:
        metadata = obj["metadata"]
        metadata.pop("resourceVersion", None)
        rest = {name: value for name, value in obj.items() if name not in _HEAD}
        try:
            if not rest:
                return b'%b"metadata":%b}' % (self._head, dumps_shallow(metadata))
            return b'%b"metadata":%b,%b' % (self._head, dumps_shallow(metadata), dumps_shallow(rest, by_name=True)[1:])
        except TooDeep as error:
            raise bad_request(f"the object is {error}") from error
