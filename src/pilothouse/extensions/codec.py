"""The stored form of custom objects: members sorted, so that equal objects are equal bytes, and metadata first.

kube-apiserver sorts metadata too; the generic store wants to find the uid without looking far. Either form is read.
"""

from __future__ import annotations

from typing import Final

from pilothouse.machinery.jsoncodec import dumps, dumps_sorted
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
        if not rest:
            return b'%b"metadata":%b}' % (self._head, dumps(metadata))
        return b'%b"metadata":%b,%b' % (self._head, dumps(metadata), dumps_sorted(rest)[1:])
