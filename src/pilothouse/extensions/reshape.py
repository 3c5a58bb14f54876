"""From stored bytes to a version's form and back: apiVersion, pruning and defaults (conversion strategy None).

Fields that the storage version does not know are lost on the way in; its defaults are what readers of any version see.
"""

from __future__ import annotations

from typing import Any

import orjson

from pilothouse.extensions.codec import CustomCodec
from pilothouse.machinery.decode.document import Decoder
from pilothouse.machinery.decode.findings import DecodeError, Findings
from pilothouse.machinery.structural.node import Node
from pilothouse.machinery.structural.prune import drop_nulls, prune
from pilothouse.machinery.structural.settle import coerce, settle, settle_slowly
from pilothouse.storage.errors import Corrupt

Object = dict[str, Any]


class Reshaper:
    """`codec` writes the version's form, `stored` the storage version's. `kept`: the root of the storage version's
    schema, None where it is the version's own. `metadata` decodes that of objects.
    """

    def __init__(
        self, codec: CustomCodec, root: Node, metadata: Decoder, *, kept: Node | None, stored: CustomCodec
    ) -> None:
        self._codec = codec
        self._root = root
        self._kept = kept
        self._metadata = metadata
        self._stored_codec = stored

    def shown(self, value: bytes) -> bytes:
        """The version's form of stored bytes. Raises Corrupt."""
        obj = self._read(value)
        root = self._kept or self._root
        if not settle(root)(obj):
            settle_slowly(root, obj, self._metadata, forgiving=True)
        if self._kept is not None:
            self._fit(self._root, obj)
        return self._codec.encode(obj)

    def stored(self, value: bytes) -> bytes:
        """The bytes to store of this version's form."""
        obj: Object = orjson.loads(value)
        if self._kept is not None:
            self._fit(self._kept, obj)
        return self._stored_codec.encode(obj)

    def _fit(self, root: Node, obj: Object) -> None:
        """Prune to another schema, without its defaults."""
        unknown: list[str] = []
        coerce(root, obj, "", self._metadata, unknown, True)
        prune(root, obj, "", unknown)
        drop_nulls(root, obj)

    def _read(self, value: bytes) -> Object:
        try:
            obj = orjson.loads(value)
            obj["metadata"] = self._metadata(obj.get("metadata") or {}, Findings())
        except (orjson.JSONDecodeError, DecodeError, TypeError, AttributeError) as error:
            raise Corrupt(f"a stored object cannot be read: {error}") from error
        made: Object = obj
        return made
