"""/metrics: the text of a scrape, made in a thread because it takes a while."""

from __future__ import annotations

import asyncio

from pilothouse.kit.metrics import Registry
from pilothouse.serving.http import Handler, Request, Response


def metrics_handler(registry: Registry) -> Handler:
    async def serve(request: Request) -> Response:
        openmetrics = "application/openmetrics-text" in (request.header(b"accept") or "")
        content_type, body = await asyncio.to_thread(_render, registry, openmetrics)
        return Response(200, [(b"Content-Type", content_type.encode())], body)

    return serve


def _render(registry: Registry, openmetrics: bool) -> tuple[str, bytes]:
    from pilothouse.kit import exposition

    content_type = exposition.OPENMETRICS_TYPE if openmetrics else exposition.TEXT_TYPE
    return content_type, exposition.render(registry, openmetrics=openmetrics)
