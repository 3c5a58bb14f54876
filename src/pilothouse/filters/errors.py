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
                _forget_frames(error)
                return renderer.error(request, error)
            except RecursionError:
                return renderer.error(request, bad_request("the request is nested too deeply"))

        return handle

    return build


def _forget_frames(error: BaseException | None) -> None:
    """What was waited for knows the error, and the frames that the error came through know what was waited for.

    Such a ring would keep all that was read of a body until old objects are collected, which is seldom.
    """
    while error is not None:
        error.__traceback__ = None
        error = error.__context__
