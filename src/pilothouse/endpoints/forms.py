"""The forms in which one resource's objects are shown: JSON from the stored bytes, Tables, metadata alone, YAML,
protobuf.

What is derived from an object is kept beside it (`StoredObject.forms`) and shared by every request that asks for the
same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

import orjson

from pilothouse.endpoints import table as tables
from pilothouse.endpoints.binary import BinaryForms
from pilothouse.endpoints.cborforms import CBORForms
from pilothouse.endpoints.negotiation import (
    CBOR,
    JSON,
    PROTOBUF,
    YAML,
    Form,
    negotiate,
    routable,
    streams_of,
    unroutable,
)
from pilothouse.endpoints.render import Renderer, headers_of
from pilothouse.endpoints.requestinfo import Query
from pilothouse.endpoints.table import Columns
from pilothouse.kit.aside import Aside, effort
from pilothouse.kit.turns import in_turns
from pilothouse.machinery import cbor, yamlcodec
from pilothouse.machinery.errors import APIError
from pilothouse.machinery.jsoncodec import dumps, dumps_pretty
from pilothouse.registry.codec import ObjectCodec
from pilothouse.registry.reader import ListPage
from pilothouse.registry.resource import Object, Resource
from pilothouse.serving.compression import PieceStream
from pilothouse.serving.http import Answer, Request, Response
from pilothouse.storage.api import StoredObject

BATCH: Final = 250  # objects of a long list that are made in one go, before others get their turn
_BATCH_BYTES: Final = 256 << 10  # or fewer, if they are long
_READ_BYTES: Final = 1 << 20  # of objects whose metadata alone is shown
_TEXT_WORK: Final = 2  # times the work of reading JSON
PARTIAL: Final = "PartialObjectMetadata"
LIST_OF_PARTIALS: Final = "PartialObjectMetadataList"
Show = Callable[[StoredObject], bytes]


class Forms:
    """All forms of one resource. `columns` are those of its Table; `now` gives seconds since 1970; `aside`: where long
    texts are made.
    """

    def __init__(
        self,
        resource: Resource,
        codec: ObjectCodec,
        columns: Callable[[], Columns],
        renderer: Renderer,
        binary: BinaryForms | None,
        now: Callable[[], float],
        aside: Aside | None = None,
    ) -> None:
        self._aside = aside or Aside()
        self.resource = resource
        self.codec = codec
        self.columns = columns
        self.renderer = renderer
        self.binary = binary
        self._now = now
        self._everywhere = renderer.offered
        self._offered = tuple(one for one in renderer.offered if binary is not None or one != PROTOBUF)
        self.streams = streams_of(self._offered)
        self._streamed = (*self._offered, *self.streams)
        self.cbor = CBORForms(resource, codec)

    def negotiate(
        self, request: Request, forms: frozenset[str], *, watchable: bool = False, said: tuple[str, ...] = ()
    ) -> Form:
        """Raises NotAcceptable, in the words of this resource. `watchable`: the route offers streams as well.

        `said`: media types that the route says it has, though no answer is negotiated to one.
        """
        if self.resource.typed:
            routed = said + (self._streamed if watchable else self._offered)
            if not routable(request.header(b"accept") or "", routed):
                raise unroutable(request, routed)
        return negotiate(request, offered=self._offered, forms=forms, told=self._everywhere)

    def misfit(self, form: Form, obj: Object | None = None) -> APIError:
        """406 for metadata of a list as if it were one object's, and the other way round: told of the answer.

        `obj`: what is answered, where it is not of the resource's kind.
        """
        lists = form.form == PARTIAL
        package, kind = self.resource.go_package, self.resource.list_kind if lists else self.resource.kind
        if obj is not None:
            group, _, _ = str(obj.get("apiVersion", "")).rpartition("/")
            package, kind = group.partition(".")[0] or "core", str(obj.get("kind"))
        elif not self.resource.typed:
            kind = "UnstructuredList" if lists else "Unstructured"
        what = "a list" if lists else "not a list"
        text = f"you requested {form.form}, but the requested object is {what} (*{package}.{kind})"
        return APIError(406, "NotAcceptable", text)

    # One object

    async def object_response(
        self, stored: StoredObject, version: str, form: Form, query: Query, status: int = 200
    ) -> Response:
        size = 0 if form.media_type == JSON else _TEXT_WORK * effort(stored.value)  # JSON is there already
        body = await self._aside.run(size, self.object_bytes, stored, version, form, query)
        return Response(status, headers_of(form.media_type), body)

    def object_bytes(self, stored: StoredObject, version: str, form: Form, query: Query) -> bytes:
        if form.form == "Table":
            return self._text(self._object_table(stored, version, form, query), form)
        if form.form:
            if form.form != PARTIAL:
                raise self.misfit(form)
            if form.media_type == PROTOBUF and self.binary is not None:
                return self.binary.partial(self.codec.decode(stored), form.form_version)
            return self._text(tables.partial_object(self.metadata(stored), form.form_version), form)
        if form.media_type == PROTOBUF and self.binary is not None:
            return self.binary.object(stored, version)
        if form.media_type == JSON and not form.pretty:
            return self.codec.json(stored, version) + b"\n"
        if form.media_type == CBOR:
            return self.cbor.object(stored, version)
        return self._text(self.codec.json(stored, version), form)

    def _text(self, data: bytes, form: Form) -> bytes:
        """JSON bytes in the form asked for."""
        if form.media_type == CBOR:
            return cbor.dumps(orjson.loads(data))
        if form.media_type == YAML:
            return yamlcodec.dumps(orjson.loads(data))
        return dumps_pretty(orjson.loads(data)) if form.pretty else data + b"\n"

    def virtual_response(self, obj: Object, version: str, form: Form, status: int = 200) -> Response:
        """An object that is not stored (Scale, reviews)."""
        if form.form == "Table":
            columns = self.columns()
            row = tables.row_bytes(columns, obj, dumps(obj), self._now(), version=form.form_version)
            return Response(
                status, headers_of(form.media_type), self._text(tables.object_table(columns, obj, row), form)
            )
        if form.form:
            if form.form != PARTIAL:
                raise self.misfit(form, obj)
            body = (
                self.binary.partial(obj, form.form_version)
                if form.media_type == PROTOBUF and self.binary is not None
                else self._text(tables.partial_object(tables.metadata_json(obj), form.form_version), form)
            )
        elif form.media_type == PROTOBUF and self.binary is not None:
            body = self.binary.virtual(obj)
        else:
            body = self._text(dumps(obj), form)
        return Response(status, headers_of(form.media_type), body)

    def status_response(self, status: dict[str, Any], form: Form, code: int = 200) -> Response:
        return self.renderer.document(status, Form(form.media_type, pretty=form.pretty), code)

    def metadata(self, stored: StoredObject) -> bytes:
        """The object's metadata as JSON, cut out of its bytes, or made once."""
        made = self.codec.metadata(stored) or stored.forms.get("metadata")
        if made is None:
            made = stored.forms["metadata"] = tables.metadata_json(self.codec.decode(stored))
        return made

    # Tables

    def row(self, stored: StoredObject) -> tables.Row:
        made: tables.Row | None = stored.forms.get("row")
        if made is None:
            columns = self.columns()
            made = tables.make_row(columns, self.codec.decode(stored), with_metadata=columns.shown is not None)
            stored.forms["row"] = made
        return made

    def row_json(self, stored: StoredObject, version: str, form: Form, include: str) -> bytes:
        row, body = self.row(stored), b""
        if include == tables.OBJECT:
            body = self.codec.json(stored, version)
        elif include == tables.METADATA:
            body = row.metadata or self.metadata(stored)
        return row.json(self._now(), include, body, form.form_version)

    def _object_table(self, stored: StoredObject, version: str, form: Form, query: Query) -> bytes:
        include = tables.include_of(query.get("includeObject"))
        meta = tables.list_meta(str(stored.revision) if stored.revision else "")
        return tables.table(self.columns(), (self.row_json(stored, version, form, include),), meta, form.form_version)

    # Lists

    async def list_answer(self, page: ListPage, version: str, form: Form, query: Query) -> Answer:
        """A short list at once, a long one in pieces that leave others their turn."""
        if form.form == PARTIAL:
            raise self.misfit(form)
        include = tables.include_of(query.get("includeObject")) if form.form == "Table" else ""
        if form.media_type == PROTOBUF and self.binary is not None:
            return await self.binary.list_answer(page, version, form, self.metadata)
        if form.media_type == CBOR:
            return await self._cbor_list(page, version, form)
        pieces = self._pieces(page, version, form, include)
        if form.media_type == YAML:
            body = b"".join(await in_turns(pieces, bytes))
            text = await self._aside.run(_TEXT_WORK * len(body), self._text, body, form)
            return Response(200, headers_of(form.media_type), text)
        end = b"" if form.pretty else b"\n"
        if len(page.items) <= BATCH and sum([len(item.value) for item in page.items]) <= _BATCH_BYTES:
            return Response(200, headers_of(form.media_type), b"".join(await in_turns(pieces, bytes)) + end)
        return PieceStream(headers_of(form.media_type), chain(pieces, (end,) if end else ()))

    async def _cbor_list(self, page: ListPage, version: str, form: Form) -> Answer:
        if form.form:
            meta = tables.list_meta(str(page.revision or ""), page.continue_token, page.remaining)
            empty = orjson.loads(tables.partial_list((), meta, form.form_version))
            kind = form.form_version

            def show(item: StoredObject) -> bytes:
                return self.cbor.partial(self.metadata(item), kind, described=False)
        else:
            empty = orjson.loads(self._list_head(page, version) + b"]}")

            def show(item: StoredObject) -> bytes:
                return self.cbor.item(item, version)

        if not page.items:
            return Response(200, headers_of(CBOR), cbor.dumps(empty))
        del empty["items"]
        items = await self.cbor.items(page.items, self._aside, show)
        items.insert(0, cbor.list_head(empty, "items", len(items)))
        if len(items) <= BATCH and sum(map(len, items)) <= _BATCH_BYTES:
            return Response(200, headers_of(CBOR), b"".join(items))
        return PieceStream(headers_of(CBOR), _gathered(items))

    def _pieces(self, page: ListPage, version: str, form: Form, include: str) -> Iterable[bytes]:
        meta = tables.list_meta(str(page.revision or ""), page.continue_token, page.remaining)
        if form.form == "Table":
            columns = self.columns()
            head = tables.table_head(columns, meta, form.form_version)
            rank = columns.rank
            items = page.items
            if rank is not None:
                items = sorted(items, key=lambda item: rank(self.codec.decode(item)))

            def row(item: StoredObject) -> bytes:
                return self.row_json(item, version, form, include)

            return _joined(head, items, row, tables.TABLE_END, form.pretty)
        if form.form:
            if not page.items:
                empty = tables.partial_list((), meta, form.form_version)
                return (dumps_pretty(orjson.loads(empty)) if form.pretty else empty,)
            head, _, end = tables.partial_list((b"\0",), meta, form.form_version).partition(b"\0")
            kind = form.form_version
            if not form.pretty:  # the same is put around each: no copy of it is made only to be joined
                before, behind = tables.partial_parts(kind)
                between = behind + b"," + before
                return self._partials(head + before, page.items, between, behind + end)

            def partial(item: StoredObject) -> bytes:
                return tables.partial_object(self.metadata(item), kind)

            return _joined(head, page.items, partial, end, pretty=True)
        head = self._list_head(page, version)
        return _joined(head, page.items, lambda item: self.codec.item(item, version), b"]}", form.pretty)

    def _partials(self, head: bytes, items: Sequence[StoredObject], between: bytes, end: bytes) -> Iterable[bytes]:
        """Metadata alone, in pieces of a few items, each copied once."""
        parts_of = self.codec.metadata_parts
        before, parts = head, list[bytes | memoryview]()
        size = read = count = 0
        for item in items:
            shown = parts_of(item) or (self.metadata(item),)
            parts.append(before)
            parts += shown
            size += len(shown[-1])  # the others are short
            read += len(item.value)  # is looked through for the end of the metadata, the first time
            count += 1
            before = between
            if size > _BATCH_BYTES or read > _READ_BYTES or count == BATCH:
                yield b"".join(parts)
                parts.clear()
                size = read = count = 0
        parts.append(end)
        yield b"".join(parts)

    def _list_head(self, page: ListPage, version: str) -> bytes:
        resource = self.resource
        kind = resource.versions[version].kind + "List" if resource.typed else resource.list_kind
        revision = str(page.revision or "")
        meta = tables.list_meta(revision, page.continue_token, page.remaining, custom=not resource.typed)
        return b'{"kind":%b,"apiVersion":%b,"metadata":%b,"items":[' % (
            dumps(kind),
            dumps(resource.api_version(version)),
            meta,
        )


def _joined(head: bytes, items: Sequence[StoredObject], show: Show, end: bytes, pretty: bool) -> Iterable[bytes]:
    """The list in pieces of a few items."""
    if not items:
        yield dumps_pretty(orjson.loads(head + end)) if pretty else head + end
        return
    if pretty:
        head, show, end = _indented(head, show, end)
    first = True
    for batch in batches(items):
        shown = [show(item) for item in batch]
        if first:
            shown[0] = head + shown[0]
            first = False
        else:
            shown.insert(0, b"")  # so that it begins with a comma
        yield b",".join(shown)
    yield end


def _gathered(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The parts in pieces of about the size that is sent in one go."""
    piece = bytearray()
    for part in parts:
        piece += part
        if len(piece) >= _BATCH_BYTES:
            yield bytes(piece)
            piece.clear()
    if piece:
        yield bytes(piece)


def _indented(head: bytes, show: Show, end: bytes) -> tuple[bytes, Show, bytes]:
    """The same list as `?pretty=1` shows it. Its items must be the last member."""
    before, _, after = dumps_pretty(orjson.loads(head + end)).rpartition(b"[]")

    def pretty(item: StoredObject) -> bytes:
        return b"\n    " + dumps_pretty(orjson.loads(show(item))).replace(b"\n", b"\n    ")

    return before + b"[", pretty, b"\n  ]" + after


def batches(items: Sequence[StoredObject]) -> Iterator[Sequence[StoredObject]]:
    """Few enough objects to be made into an answer in one go; none where there are none."""
    start = size = 0
    for position, item in enumerate(items):
        size += len(item.value)
        if size > _BATCH_BYTES or position - start == BATCH:
            if position > start:
                yield items[start:position]
            start, size = position, len(item.value)
    if start < len(items):
        yield items[start:]
