"""HTTP of discovery: which form of which document answers a request.

The original serves these paths by two kinds of handlers. `Page.routed` ones refuse other methods than GET, and media
types in other words; the rest answer any method. An aggregated form wins over a plain one wherever it stands in Accept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import orjson

from pilothouse.discovery.catalog import Catalog, Page
from pilothouse.discovery.documents import AGGREGATED_KIND
from pilothouse.discovery.version import VersionInfo
from pilothouse.endpoints.negotiation import JSON, OFFERED, Form, negotiate, parse_accept, routable, unroutable
from pilothouse.machinery.errors import method_not_allowed
from pilothouse.serving.http import Answer, Handler, HeaderList, Request, Response

_AGGREGATED_SUFFIX: Final = f";g=apidiscovery.k8s.io;v=v2;as={AGGREGATED_KIND}"
_AGGREGATED: Final = {"g": "apidiscovery.k8s.io", "v": "v2", "as": AGGREGATED_KIND}


def discovery_handler(catalog: Catalog, otherwise: Handler, offered: tuple[str, ...] = OFFERED) -> Handler:
    """Serves every document of the catalog in the `offered` media types; other paths go to `otherwise`."""

    async def found(page: Page, request: Request) -> Answer:
        if not page.any_method and request.method != "GET":
            raise method_not_allowed()
        if page.aggregated:
            media_type = _aggregated_type(request.header(b"accept") or "", offered)
            aggregated = catalog.page(page.aggregated) if media_type else None
            if media_type and aggregated:
                return _aggregated_answer(catalog, aggregated, request, media_type)
        return _answer(catalog, page, request, offered)

    def serve(request: Request) -> Awaitable[Answer]:
        page = catalog.page(request.path)
        return otherwise(request) if page is None else found(page, request)

    return serve


def _answer(catalog: Catalog, page: Page, request: Request, offered: tuple[str, ...]) -> Response:
    form = _form(request, page, offered)
    return Response(200, [(b"Content-Type", form.media_type.encode())], catalog.render(page, form))


def _aggregated_answer(catalog: Catalog, page: Page, request: Request, media_type: str) -> Response:
    tag = catalog.etag(page)
    headers: HeaderList = [(b"Cache-Control", b"public"), (b"Etag", tag.encode()), (b"Vary", b"Accept")]
    if request.header(b"if-none-match") == tag:  # the original compares whole values: no lists, no "*"
        return Response(304, headers)
    headers.append((b"Content-Type", (media_type + _AGGREGATED_SUFFIX).encode()))
    return Response(200, headers, catalog.render(page, Form(media_type)))


def _aggregated_type(accept: str, offered: tuple[str, ...]) -> str:
    """The media type of the first clause that asks for the aggregated form, "" if none does."""
    if AGGREGATED_KIND not in accept:
        return ""
    for clause in parse_accept(accept):
        if clause.type in offered and all(clause.parameters.get(name) == value for name, value in _AGGREGATED.items()):
            return clause.type
    return ""


def _form(request: Request, page: Page, offered: tuple[str, ...]) -> Form:
    """The plain form of the answer. Raises NotAcceptable: routes say so in other words."""
    if page.routed and not routable(request.header(b"accept") or "", offered):
        raise unroutable(request, offered)
    return negotiate(request, offered=offered)._replace(stream=False)


def version_handler(version: VersionInfo) -> Handler:
    """/version: GET only, JSON only, always indented."""
    body = version.render()

    async def serve(request: Request) -> Answer:
        if request.method != "GET":
            raise method_not_allowed()
        if not routable(request.header(b"accept") or "", (JSON,)):  # whatever it is to be shown as
            raise unroutable(request, (JSON,))
        return Response(200, [(b"Content-Type", JSON.encode())], body)

    return serve


def root_handler(paths: Callable[[], list[str]]) -> Handler:
    """The list of paths at `/`: whatever is asked for, indented JSON. `paths` gives them sorted."""

    async def serve(request: Request) -> Answer:
        body = orjson.dumps({"paths": paths()}, option=orjson.OPT_INDENT_2)
        return Response(200, [(b"Content-Type", JSON.encode())], body)

    return serve
