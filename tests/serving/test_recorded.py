"""What the edge itself answers, compared byte by byte with recorded answers of kube-apiserver."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pilothouse.serving.http import Request, Response

from .support import run, serving

RECORDED = Path(__file__).parents[3] / "shared" / "facts" / "wire" / "http.json"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not RECORDED.exists(), reason="needs the recorded answers beside the checkout"),
]
EDGE_ANSWERS = (
    "http2-version-line",
    "http3",
    "expect-other",
    "no-host",
    "two-hosts",
    "bad-host",
    "garbage",
    "bad-header",
    "space-header",
    "two-lengths",
    "bad-transfer-encoding",
    "bad-length",
    "path-bad-escape",
    "path-space",
)
REACH_THE_HANDLER = (
    "http10",
    "http10-keep-alive",
    "http12",
    "keep-alive",
    "connection-close",
    "expect-continue",
    "any-host",
    "absolute-uri",
    "chunked",
    "get-with-body",
    "method-HEAD",
    "method-OPTIONS",
    "method-TRACE",
    "method-CONNECT",
    "method-get",
    "method-FOO",
    "method-PROPFIND",
    "path-double-slash",
    "path-encoded-slash",
    "path-semicolon-query",
    "path-fragment",
    "path-utf8",
)


def recorded(name: str) -> dict[str, Any]:
    found = {row["name"]: row for row in json.loads(RECORDED.read_text())["exchanges"]}[name]
    assert isinstance(found, dict)
    return found


def without_times(answer: bytes) -> bytes:
    return re.sub(rb"Date: [^\r]*", b"Date: <date>", answer)


@pytest.mark.parametrize("name", EDGE_ANSWERS)
def test_answers_of_the_edge(name: str) -> None:
    row = recorded(name)

    async def scenario() -> None:
        async with serving() as served:
            answer = await served.exchange(row["sent"].encode("latin-1"))
            assert without_times(answer) == without_times(row["received"].encode("latin-1"))

    run(scenario)


@pytest.mark.parametrize("name", REACH_THE_HANDLER)
def test_answers_through_the_edge(name: str) -> None:
    """The handler gives what was recorded, without the headers that the edge adds; the whole must come out the same."""
    row = recorded(name)
    interim, expected = re.fullmatch(
        rb"(HTTP/1\.1 100 Continue\r\n\r\n)?(.*)", row["received"].encode("latin-1"), re.S
    ).groups()  # type: ignore[union-attr]
    head, _, body = expected.partition(b"\r\n\r\n")
    status, *lines = head.split(b"\r\n")
    headers = [tuple(line.split(b": ", 1)) for line in lines]
    own = [header for header in headers if header[0] not in (b"Date", b"Content-Length", b"Connection")]
    length = int(dict(headers).get(b"Content-Length", len(body)))

    async def handler(request: Request) -> Response:
        await request.body.read(1 << 20)
        return Response(int(status.split()[1]), list(reversed(own)), body or b"x" * length)

    async def scenario() -> None:
        async with serving(handler) as served:
            wire = await served.connect()
            wire.send(row["sent"].encode("latin-1"))
            if interim:
                assert await wire.until(interim) == interim
            if row["connection_after"] == "open":
                assert without_times(await wire.exactly(len(expected))) == without_times(expected)
                assert await wire.is_open()
            else:
                assert without_times(await wire.rest()) == without_times(expected)

    run(scenario)
