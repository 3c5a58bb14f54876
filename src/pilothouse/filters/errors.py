"""API errors that filters and endpoints raise become Status answers, in the form the client accepts."""

from __future__ import annotations

from pilothouse.endpoints.render import Renderer
from pilothouse.machinery.errors import APIError
from pilothouse.serving.http import Answer, Filter, Handler, Request


def errors(renderer: Renderer) -> Filter:
    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            try:
                return await inner(request)
            except APIError as error:
                return renderer.error(request, error)

        return handle

    return build
