"""Answers are not to be cached by anyone in between, unless the handler says otherwise."""

from __future__ import annotations

from pilothouse.serving.http import Answer, Filter, Handler, Request

_HEADER = (b"Cache-Control", b"no-cache, private")


def cache_control() -> Filter:
    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            answer = await inner(request)
            headers = answer.headers
            for name, _ in headers:
                if name == b"Cache-Control":
                    return answer
            headers.insert(0, _HEADER)
            return answer

        return handle

    return build
