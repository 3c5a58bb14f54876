"""Says what the URL asks for, once and for everyone inside."""

from __future__ import annotations

from pilothouse.endpoints.requestinfo import QUERY_WORK, attach_request_info
from pilothouse.kit.aside import Aside
from pilothouse.serving.http import Answer, Filter, Handler, Request


def request_info(aside: Aside | None = None) -> Filter:
    """`aside`: where long queries are read."""
    run = (aside or Aside()).run

    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            if request.query:
                await run(QUERY_WORK * len(request.query), attach_request_info, request)
            else:
                attach_request_info(request)
            return await inner(request)

        return handle

    return build
