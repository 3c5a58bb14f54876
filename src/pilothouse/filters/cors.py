"""Cross-origin requests of browsers (`--cors-allowed-origins`): regular expressions searched in the Origin header;
off by default.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pilothouse.serving.http import Answer, Filter, Handler, HeaderList, Request, Response

_METHODS = b"POST, GET, OPTIONS, PUT, DELETE, PATCH"
_ALLOWED = (
    b"Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since"
)


def cors(patterns: Sequence[re.Pattern[str]]) -> Filter:
    def build(inner: Handler) -> Handler:
        if not patterns:
            return inner

        async def handle(request: Request) -> Answer:
            origin = request.header(b"origin")
            if not origin or not any(pattern.search(origin) for pattern in patterns):
                return await inner(request)
            headers: HeaderList = [
                (b"Access-Control-Allow-Credentials", b"true"),
                (b"Access-Control-Allow-Headers", _ALLOWED),
                (b"Access-Control-Allow-Methods", _METHODS),
                (b"Access-Control-Allow-Origin", origin.encode("latin-1")),
                (b"Access-Control-Expose-Headers", b"Date"),
            ]
            if request.method == "OPTIONS":
                return Response(204, [*headers, (b"Cache-Control", b"no-cache, private")])
            answer = await inner(request)
            answer.headers[:0] = headers
            return answer

        return handle

    return build
