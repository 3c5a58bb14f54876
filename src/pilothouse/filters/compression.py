"""Long answers go out as gzip where the client asks for it."""

from __future__ import annotations

from pilothouse.serving.compression import PieceStream, compressed
from pilothouse.serving.http import Answer, Filter, Handler, Request, Response


def compression() -> Filter:
    """Innermost: what filters refuse is short. Watches and proxied streams are left alone, and all but the API."""

    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            answer = await inner(request)
            if not request.path.startswith("/api"):
                return answer
            if answer.__class__ is Response:
                return await compressed(request, answer)
            if answer.__class__ is PieceStream:
                return await answer.compressed(request)
            return answer

        return handle

    return build
