"""Says what the URL asks for, once and for everyone inside."""

from __future__ import annotations

from collections.abc import Awaitable

from pilothouse.endpoints.requestinfo import QUERY_WORK, attach_request_info
from pilothouse.kit.aside import Aside
from pilothouse.serving.http import Answer, Filter, Handler, Request


def request_info(aside: Aside | None = None) -> Filter:
    """`aside`: where long queries are read."""
    run = (aside or Aside()).run

    def build(inner: Handler) -> Handler:
        async def with_query(request: Request) -> Answer:
            await run(QUERY_WORK * len(request.query), attach_request_info, request)
            return await inner(request)

        def handle(request: Request) -> Awaitable[Answer]:
            if request.query:
                return with_query(request)
            attach_request_info(request)
            return inner(request)

        return handle

    return build
