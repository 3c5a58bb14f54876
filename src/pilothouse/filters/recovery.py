"""Outermost: whatever escapes below becomes a 500 and a line in the log, never a broken server."""

from __future__ import annotations

import logging

from pilothouse.serving.http import Answer, ClientGone, Filter, Handler, Request, Response

_log = logging.getLogger(__name__)
_TEXT = b"This request caused apiserver to panic. Look in the logs for details."


def recovery() -> Filter:
    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            try:
                return await inner(request)
            except ClientGone:
                raise
            except Exception:
                _log.exception("%s %s failed", request.method, request.path)
                return Response(500, [(b"Content-Type", b"text/plain; charset=utf-8")], _TEXT)

        return handle

    return build
