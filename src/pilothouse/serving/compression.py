"""gzip of answers, by the original's rule: the bare token `gzip` in Accept-Encoding, and more than 128 KiB of body."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from itertools import chain

from pilothouse.serving.http import HeaderList, Request, Response, Stream, StreamWriter

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
    return Response(response.status, _packed(response.headers), pieces)


class PieceStream(Stream):
    """A long answer that is made while it is sent, piece by piece."""

    __slots__ = ("_pieces",)

    def __init__(self, headers: HeaderList, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        super().__init__(200, headers, self._write)

    async def _write(self, writer: StreamWriter) -> None:
        for piece in self._pieces:
            writer.write(piece)
            await asyncio.sleep(0)
            await writer.drain()

    async def compressed(self, request: Request) -> Stream:
        """The same, compressed where client and size ask for it: the first pieces are made to know the size."""
        if not wants_gzip(request):
            return self
        first: list[bytes] = []
        size = 0
        for piece in self._pieces:
            first.append(piece)
            size += len(piece)
            if size > THRESHOLD:
                break
            await asyncio.sleep(0)
        self._pieces = chain(first, self._pieces)
        return Stream(self.status, _packed(self.headers), self._write_packed) if size > THRESHOLD else self

    async def _write_packed(self, writer: StreamWriter) -> None:
        packing = _Packing(writer)
        await self._write(packing)
        packing.finish()


def _packed(headers: HeaderList) -> HeaderList:
    kept = [header for header in headers if header[0] != b"Content-Length"]
    return [*kept, (b"Content-Encoding", b"gzip"), (b"Vary", b"Accept-Encoding")]


class _Packing:
    """A writer that compresses what goes through. Writers write pieces that are small enough for the loop."""

    def __init__(self, inner: StreamWriter) -> None:
        self._inner = inner
        self._packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)

    def write(self, data: bytes) -> None:
        packed = self._packer.compress(data)
        if packed:
            self._inner.write(packed)

    def finish(self) -> None:
        self._inner.write(self._packer.flush())

    @property
    def buffered(self) -> int:
        return self._inner.buffered

    async def drain(self) -> None:
        await self._inner.drain()

    async def closed(self) -> None:
        await self._inner.closed()
