"""Passing a request on and its answer back: what the client says is kept, but for what concerns one connection only."""

from __future__ import annotations

from typing import Final

from pilothouse.serving.client import Answered, CallFailed
from pilothouse.serving.http import ClientGone, HeaderList, Request, Response, Stream, StreamWriter

_HELD: Final = 128 << 10  # bytes that wait for a slow client before the other side has to wait
_NOT_PASSED: Final = frozenset(
    {
        b"authorization", b"connection", b"content-length", b"expect", b"host", b"keep-alive", b"proxy-authenticate",
        b"proxy-authorization", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade",
        b"x-forwarded-for",
    }
)  # fmt: skip
_NOT_RETURNED: Final = frozenset({b"connection", b"content-length", b"date", b"keep-alive", b"transfer-encoding"})


def wants_upgrade(request: Request) -> bytes | None:
    """The protocol that the client wants to change to."""
    asked = next((value for name, value in request.headers if name == b"upgrade"), None)
    words = b",".join(value.lower() for name, value in request.headers if name == b"connection")
    return asked if asked and b"upgrade" in words else None


def passed_headers(request: Request, host: bytes) -> HeaderList:
    """The headers of a request as they go on."""
    headers: HeaderList = [(b"Host", host)]
    through = b""
    for name, value in request.headers:
        if name == b"x-forwarded-for":
            through += value + b", "
        elif name not in _NOT_PASSED:
            headers.append((name, value))
    if request.origin.peer[0]:
        headers.append((b"X-Forwarded-For", through + request.origin.peer[0].encode()))
    return headers


def returned_headers(answered: Answered) -> HeaderList:
    return [(name, value) for name, value in answered.headers if name.lower() not in _NOT_RETURNED]


async def whole(answered: Answered, headers: HeaderList) -> Response:
    """An answer that is here or short. Raises CallFailed."""
    try:
        return Response(answered.status, headers, await answered.read(1 << 30))
    except BaseException:
        answered.close()
        raise


def streamed(answered: Answered, headers: HeaderList) -> Stream:
    """An answer as it comes, however long that takes."""

    async def copy(writer: StreamWriter) -> None:
        try:
            while data := await answered.chunk():
                writer.write(data)
                if writer.buffered > _HELD:
                    await writer.drain()
        except CallFailed as error:
            raise ClientGone(str(error)) from error  # half an answer shall not be taken for a whole one
        finally:
            answered.close()

    return Stream(answered.status, headers, copy)
