"""/metrics and /metrics/slis: what a scrape gets, made in a thread because it takes a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from pilothouse.kit import exposition
from pilothouse.kit.metrics import Registry
from pilothouse.serving.http import Handler, Request, Response

_FORMS: Final[dict[str, tuple[str, Callable[[Registry], bytes]]]] = {
    "openmetrics": (exposition.OPENMETRICS_TYPE, exposition.openmetrics),
    "protobuf": (exposition.PROTOBUF_TYPE, exposition.protobuf),
    "text": (exposition.TEXT_TYPE, exposition.text),
}


def metrics_handler(registry: Registry, began: float) -> Handler:
    """`began`: when the process did, in seconds since 1970."""

    async def serve(request: Request) -> Response:
        if request.method == "DELETE":
            registry.reset()
            return Response(200, [(b"Content-Type", b"text/plain; charset=utf-8")], b"metrics reset\n")
        media_type, render = _FORMS[form_of(request.header(b"accept") or "")]
        registry.settle()
        body = await asyncio.to_thread(render, registry)
        return Response(
            200,
            [(b"Content-Type", media_type.encode()), (b"Process-Start-Time-Unix", b"%d" % began)],
            body,
        )

    return serve


def form_of(accept: str) -> str:
    """`openmetrics`, `protobuf` or `text`: the first of the known forms that Accept names, text where it names none."""
    for clause in accept.split(","):
        media_type, *parameters = (part.strip() for part in clause.split(";"))
        if media_type == "application/openmetrics-text":
            return "openmetrics"
        if media_type == "application/vnd.google.protobuf" and "encoding=delimited" in parameters:
            return "protobuf"
        if media_type == "text/plain":
            return "text"
    return "text"
