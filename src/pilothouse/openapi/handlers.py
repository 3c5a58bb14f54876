"""HTTP of the OpenAPI documents: /openapi/v2, the index /openapi/v3, and what the index links to.

Any method reads them.
"""

from __future__ import annotations

import gzip
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from typing import Final, Protocol, TypeVar
from urllib.parse import parse_qsl, quote

import orjson

from pilothouse.endpoints.negotiation import JSON, parse_accept
from pilothouse.openapi import text
from pilothouse.openapi.catalog import INDEX_PREFIX, Catalog, Content
from pilothouse.openapi.content import serve
from pilothouse.openapi.protobuf import Encode
from pilothouse.openapi.protobuf_v2 import encode_v2
from pilothouse.openapi.protobuf_v3 import encode_v3
from pilothouse.serving.http import Answer, Handler, HeaderList, Request, Response

T = TypeVar("T")
V2_PROTOBUF: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
V3_PROTOBUF: Final = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
PATHS: Final = ("/openapi/v2", "/openapi/v3", "/openapi/v3/")  # as the list of paths shows them
_PLAIN: Final = b"text/plain; charset=utf-8"
_YEAR: Final = 365 * 24 * 3600.0
_LONG: Final = 262144  # unpacking more than this is not done on the event loop


class Offload(Protocol):
    """Runs blocking work off the event loop, such as asyncio.to_thread."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


def openapi_handler(catalog: Catalog, offload: Offload, now: Callable[[], float], otherwise: Handler) -> Handler:
    """Serves all documents; other paths go to `otherwise`. `now`: seconds since the epoch."""
    swagger, document = _Swagger(catalog, offload), _Documents(catalog, offload, now)

    async def index_page(request: Request) -> Answer:
        index = catalog.made_index()
        if index is None:
            index = await offload(catalog.index)
        return serve(request, index.read(), index.modified, [(b"Content-Type", _PLAIN)])

    def handle(request: Request) -> Awaitable[Answer]:
        path = request.path
        if not path.startswith("/openapi/v"):
            return otherwise(request)
        if path.startswith(INDEX_PREFIX):
            return document(request, path[len(INDEX_PREFIX) :])
        if path == "/openapi/v3":
            return index_page(request)
        return swagger(request) if path == "/openapi/v2" else otherwise(request)

    return handle


def accepted(accept: str, protobuf: str) -> str | None:
    """JSON or this protobuf type (which has a second spelling with `@`), None if neither is accepted."""
    if not accept.strip():
        return JSON
    spellings = (protobuf, protobuf.replace(".v1.0", "@v1.0"))
    for clause in parse_accept(accept):
        if clause.type in (JSON, "*/*", "application/*"):
            return JSON
        if clause.type in spellings:
            return protobuf
    return None


class _Forms:
    """Protobuf forms of documents, packed, made when first asked for and dropped with the JSON they are of."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._made: dict[str, tuple[str, Content]] = {}

    def get(self, name: str, content: Content) -> Content:
        made = self._made.get(name)
        if made is None or made[0] != content.etag:
            data = self._encode(orjson.loads(content.read()))
            packed = gzip.compress(data, 6, mtime=0)
            form = Content(text.digest(data), content.modified, packed, len(data), compressed=True)
            made = self._made[name] = (content.etag, form)
        return made[1]


class _Swagger:
    """/openapi/v2: sent as it is kept, compressed, to those who take that."""

    def __init__(self, catalog: Catalog, offload: Offload) -> None:
        self._catalog = catalog
        self._offload = offload
        self._forms = _Forms(encode_v2)

    async def __call__(self, request: Request) -> Answer:
        media_type = accepted(request.header(b"accept") or "", V2_PROTOBUF)
        if media_type is None:
            return Response(406, [])
        content = self._catalog.made_swagger()
        if content is None:
            content = await self._offload(self._catalog.swagger)
        if media_type != JSON:
            json_form = content
            content = await self._offload(lambda: self._forms.get("", json_form))
        headers: HeaderList = [
            (b"Content-Type", media_type.encode()),
            (b"Etag", f'"{content.etag}"'.encode()),
            (b"Vary", b"Accept-Encoding"),
            (b"Vary", b"Accept"),
        ]
        packed = _takes_gzip(request) and request.header(b"range") is None
        if packed:
            headers.append((b"Content-Encoding", b"gzip"))
        data = content.packed if packed else await self._offload(content.read)
        return serve(request, data, content.modified, headers, content.etag)


def _takes_gzip(request: Request) -> bool:
    tokens = (request.header(b"accept-encoding") or "").split(",")
    return any(token.strip() == "gzip" for token in tokens)


class _Documents:
    """/openapi/v3/PATH."""

    def __init__(self, catalog: Catalog, offload: Offload, now: Callable[[], float]) -> None:
        self._catalog = catalog
        self._offload = offload
        self._now = now
        self._forms = _Forms(encode_v3)

    async def __call__(self, request: Request, path: str) -> Answer:
        content = self._catalog.made(path)
        if content is None:
            content = await self._offload(lambda: self._catalog.document(path))
        if content is None:
            return Response(404, [])
        media_type = accepted(request.header(b"accept") or "", V3_PROTOBUF)
        if media_type is None:
            return Response(406, [])
        etag = content.etag
        headers: HeaderList = [(b"Content-Type", media_type.encode()), (b"Etag", f'"{etag}"'.encode())]
        headers.append((b"Vary", b"Accept"))
        asked = dict(parse_qsl(request.query)).get("hash", "")
        if asked and asked != etag:
            location = f"{INDEX_PREFIX}{quote(path)}?hash={etag}"
            return Response(301, [*headers, (b"Location", location.encode())])
        if asked:
            expires = formatdate(self._now() + _YEAR, usegmt=True).replace("GMT", "UTC")
            headers += [(b"Cache-Control", b"public, immutable"), (b"Expires", expires.encode())]
        data = await self._read(path, content, media_type)
        return serve(request, data, content.modified, headers, etag)

    async def _read(self, path: str, content: Content, media_type: str) -> bytes:
        if media_type != JSON:
            return await self._offload(lambda: self._forms.get(path, content).read())
        return content.read() if content.size < _LONG else await self._offload(content.read)
