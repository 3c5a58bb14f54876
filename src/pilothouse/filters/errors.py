"""API errors that filters and endpoints raise become Status answers, in the form the client accepts.

So does the end of the stack: only what was sent can be nested that deeply.
"""

from __future__ import annotations

from pilothouse.endpoints.render import Renderer
from pilothouse.machinery.errors import APIError, bad_request
from pilothouse.serving.http import Answer, Filter, Handler, Request


def errors(renderer: Renderer) -> Filter:
    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            try:
                return await inner(request)
            except APIError as error:
                return renderer.error(request, error)
            except RecursionError:
                return renderer.error(request, bad_request("the request is nested too deeply"))

        return handle

    return build
