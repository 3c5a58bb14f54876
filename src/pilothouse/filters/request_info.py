"""Says what the URL asks for, once and for everyone inside."""

from __future__ import annotations

from pilothouse.endpoints.requestinfo import attach_request_info
from pilothouse.serving.http import Answer, Filter, Handler, Request


def request_info() -> Filter:
    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            attach_request_info(request)
            return await inner(request)

        return handle

    return build
