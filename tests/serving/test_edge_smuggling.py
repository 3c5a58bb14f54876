"""Requests that two servers could cut apart differently are refused, and nothing behind them is looked at."""

from __future__ import annotations

import pytest

from pilothouse.serving.http import Request, Response

from .support import TEXT, run, serving

HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n"


@pytest.mark.parametrize(
    "attack",
    [
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 34\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0,34\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nX: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nX: y\nContent-Length: 34\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nX: y\rContent-Length: 34\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\x00\r\n\r\n",
        b"POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET / HTTP/1.1\nHost: h\n\n",
        b"\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\n\r\n0\r\n\r\n",
    ],
)
def test_refused(attack: bytes) -> None:
    async def scenario() -> None:
        seen: list[bytes] = []

        async def handler(request: Request) -> Response:
            seen.append(request.raw_path)
            await request.body.read(100)
            return Response(200, TEXT, b"ok")

        async with serving(handler) as served:
            answer = await served.exchange(attack + HIDDEN)
            assert b"/hidden" not in seen
            last = answer[answer.rindex(b"HTTP/1.1 ") :]
            assert last[9:12] in (b"400", b"501", b"505")
            assert b"Connection: close\r\n" in last

    run(scenario)
