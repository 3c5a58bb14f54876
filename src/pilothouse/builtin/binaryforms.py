"""The protobuf forms of built-in kinds: messages are made once for each version of an object and shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pilothouse.builtin.types import META, TypeTable
from pilothouse.endpoints.negotiation import PROTOBUF, Form
from pilothouse.endpoints.render import headers_of
from pilothouse.kit.aside import Aside
from pilothouse.kit.turns import in_turns
from pilothouse.machinery import protobuf, yamlcodec
from pilothouse.machinery.schema import Schema
from pilothouse.registry.codec import ObjectCodec
from pilothouse.registry.reader import ListPage
from pilothouse.registry.resource import Object, Resource
from pilothouse.serving.http import Answer, Response
from pilothouse.storage.api import StoredObject

_PARTIAL: Final = "PartialObjectMetadata"
_ITEM_WORK: Final = 8  # putting one item into a list is as much work as so many bytes of JSON


class ProtobufForms:
    """One resource. `types`: the meta types and the list types of all packages; `aside`: where long lists are made."""

    def __init__(self, resource: Resource, codec: ObjectCodec, types: TypeTable, aside: Aside) -> None:
        self._resource = resource
        self._codec = codec
        self._types = types
        self._aside = aside

    def _message(self, stored: StoredObject, version: str) -> bytes:
        key = ("protobuf", version)
        made: bytes | None = stored.forms.get(key)
        if made is None:
            schema = self._resource.versions[version].schema
            made = stored.forms[key] = protobuf.encode_message(schema, self._codec.decode_as(stored, version))
        return made

    def _wrap(self, version: str, raw: bytes) -> bytes:
        served = self._resource.versions[version]
        return protobuf.wrap(served.api_version, served.kind, raw)

    def object(self, stored: StoredObject, version: str) -> bytes:
        return self._wrap(version, self._message(stored, version))

    def virtual(self, obj: Object) -> bytes:
        return encode_object(self._types, obj)

    def partial(self, obj: Object, version: str) -> bytes:
        shown = {"metadata": obj.get("metadata", {})}
        raw = protobuf.encode_message(self._meta(_PARTIAL), shown)
        return protobuf.wrap(f"meta.k8s.io/{version}", _PARTIAL, raw)

    def _meta(self, name: str) -> Schema:
        return self._types.get(META, name)

    async def list_answer(
        self, page: ListPage, version: str, form: Form, metadata: Callable[[StoredObject], bytes]
    ) -> Answer:
        meta: Object = {"resourceVersion": str(page.revision)} if page.revision else {}  # computed kinds have none
        if page.continue_token:
            meta["continue"] = page.continue_token
        if page.remaining is not None:
            meta["remainingItemCount"] = page.remaining
        if form.form:
            return Response(200, headers_of(PROTOBUF), await self._partial_list(page, meta, form.form_version))
        served = self._resource.versions[version]
        schema = self._types.get(served.schema.package, served.kind + "List")
        messages = await in_turns(page.items, lambda item: self._message(item, version))
        pieces = await self._aside.run(_ITEM_WORK * len(messages), protobuf.list_pieces, schema, meta, messages)
        return Response(
            200, headers_of(PROTOBUF), protobuf.wrap_pieces(served.api_version, served.kind + "List", pieces)
        )

    async def _partial_list(self, page: ListPage, meta: Object, version: str) -> bytes:
        schema = self._meta(_PARTIAL)

        def message(item: StoredObject) -> bytes:
            key = "protobuf.partial"
            made: bytes | None = item.forms.get(key)
            if made is None:
                shown = {"metadata": self._codec.decode(item).get("metadata", {})}
                made = item.forms[key] = protobuf.encode_message(schema, shown)
            return made

        items = await in_turns(page.items, message)
        schema_of_list = self._meta(_PARTIAL + "List")
        raw = await self._aside.run(_ITEM_WORK * len(items), protobuf.encode_list, schema_of_list, meta, items)
        return protobuf.wrap(f"meta.k8s.io/{version}", _PARTIAL + "List", raw)

    def event(self, kind: str, stored: StoredObject, version: str) -> bytes:
        return protobuf.watch_frame(kind, self.object(stored, version))

    def bookmark(self, obj: Object, version: str, form: Form) -> bytes:
        if form.form:
            return protobuf.watch_frame("BOOKMARK", self.partial(obj, form.form_version))
        schema = self._resource.versions[version].schema
        return protobuf.watch_frame("BOOKMARK", self._wrap(version, protobuf.encode_message(schema, obj)))

    def error_event(self, status: dict[str, Any]) -> bytes:
        return protobuf.watch_frame("ERROR", encode_object(self._types, status))


def encode_object(types: TypeTable, obj: Object) -> bytes:
    """Any object of a known kind in its envelope: Status, Scale, reviews."""
    api_version = obj.get("apiVersion", "")
    package = _PACKAGES.get((api_version, obj["kind"])) or package_of(types, api_version)
    raw = protobuf.encode_message(types.get(package, obj["kind"]), obj)
    return protobuf.wrap(api_version, obj["kind"], raw)


def encode_document(types: TypeTable, package: str, kind: str, document: Object) -> bytes:
    """A document whose kind does not stand in it (discovery), in its envelope."""
    raw = protobuf.encode_message(types.get(package, kind), document)
    return protobuf.wrap(document.get("apiVersion", ""), kind, raw)


_PACKAGES: Final = {("v1", "Status"): META}


def package_of(types: TypeTable, api_version: str) -> str:
    """The package of a group version's types. Raises KeyError."""
    from pilothouse.builtin import facts

    group, _, version = api_version.rpartition("/")
    for known in facts.groups():
        if known.name == group:
            for entry in known.versions:
                if entry.version == version:
                    return entry.package
    raise KeyError(api_version)


class MetaForms:
    """Status and other small documents in the forms that are not JSON."""

    def __init__(self, types: Callable[[], TypeTable]) -> None:
        self._types = types

    def yaml(self, obj: dict[str, Any]) -> bytes:
        return yamlcodec.dumps(obj)

    def protobuf(self, obj: dict[str, Any]) -> bytes:
        return encode_object(self._types(), obj)
