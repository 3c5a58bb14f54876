"""Asks first whether a front that we trust says who the caller is; where it does not, everybody is asked himself."""

from __future__ import annotations

from pilothouse.auth.requestheader import FrontProxy
from pilothouse.serving.http import Answer, Filter, Handler, Request


def front_proxy(front: FrontProxy | None, authentication: Filter) -> Filter:
    """`authentication` with the front's word before it. None: there is no such front."""
    if front is None:
        return authentication
    trusted = front

    def build(inner: Handler) -> Handler:
        otherwise = authentication(inner)

        async def handle(request: Request) -> Answer:
            caller = trusted.authenticate(request.origin.certificate, request.headers)
            if caller is None:
                return await otherwise(request)
            request.headers = [
                header
                for header in request.headers
                if header[0] != b"authorization" and not trusted.is_identity(header[0])
            ]
            request.attach(caller)
            return await inner(request)

        return handle

    return build
