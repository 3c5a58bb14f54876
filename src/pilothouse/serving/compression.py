"""gzip of answers, by the original's rule: the bare token `gzip` in Accept-Encoding, and more than 128 KiB of body."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Sequence
from concurrent.futures import Executor

from pilothouse.serving.http import Request, Response

THRESHOLD = 131072  # bytes; larger bodies are compressed
_OFF_LOOP = 256 << 10  # bytes of body from which compressing would hold the loop for too long
_LEVEL = 1
_GZIP = 31  # zlib's window bits for a gzip wrapper


def wants_gzip(request: Request) -> bool:
    """Is `gzip` itself among the encodings? Tokens with a weight, `*` and other spellings do not count."""
    accepted = request.header(b"accept-encoding")
    return accepted is not None and any(token.strip() == "gzip" for token in accepted.split(","))


def gzip_pieces(body: bytes | Sequence[bytes], level: int = _LEVEL) -> list[bytes]:
    """The body compressed, in pieces."""
    packer = zlib.compressobj(level, zlib.DEFLATED, _GZIP)
    pieces = [packer.compress(piece) for piece in ((body,) if isinstance(body, bytes) else body)]
    pieces.append(packer.flush())
    return [piece for piece in pieces if piece]


async def compressed(request: Request, response: Response, executor: Executor | None = None) -> Response:
    """The response, compressed where client and size ask for it. Big bodies are compressed in `executor`."""
    body = response.body
    size = len(body) if isinstance(body, bytes) else sum(map(len, body))
    if size <= THRESHOLD or not wants_gzip(request):
        return response
    if any(name == b"Content-Encoding" for name, _ in response.headers):
        return response
    if size > _OFF_LOOP:
        pieces = await asyncio.get_running_loop().run_in_executor(executor, gzip_pieces, body)
    else:
        pieces = gzip_pieces(body)
    headers = [header for header in response.headers if header[0] != b"Content-Length"]
    headers += [(b"Content-Encoding", b"gzip"), (b"Vary", b"Accept-Encoding")]
    return Response(response.status, headers, pieces)
