"""Which answers are compressed."""

from __future__ import annotations

import gzip

import pytest

from pilothouse.serving.body import NO_BODY
from pilothouse.serving.compression import THRESHOLD, compressed
from pilothouse.serving.http import HeaderList, Request, Response

from .support import run


def ask(encoding: str | None, body: bytes | list[bytes], headers: HeaderList | None = None) -> Response:
    lines: HeaderList = [] if encoding is None else [(b"accept-encoding", encoding.encode())]
    request = Request("GET", b"/", "", lines, NO_BODY)

    async def scenario() -> Response:
        return await compressed(request, Response(200, headers or [(b"Content-Length", b"1")], body))

    return run(scenario)


@pytest.mark.parametrize(
    ("encoding", "size", "yes"),
    [
        ("gzip", THRESHOLD, False),
        ("gzip", THRESHOLD + 1, True),
        ("gzip", 1_000_000, True),
        ("gzip, deflate, br", THRESHOLD + 1, True),
        ("deflate,gzip", THRESHOLD + 1, True),
        ("gzip;q=0.5, identity", THRESHOLD + 1, False),
        ("gzip;q=0", THRESHOLD + 1, False),
        ("GZIP", THRESHOLD + 1, False),
        ("x-gzip", THRESHOLD + 1, False),
        ("*", THRESHOLD + 1, False),
        (None, THRESHOLD + 1, False),
    ],
)
@pytest.mark.parametrize("in_pieces", [True, False])
def test_by_token_and_size(encoding: str | None, size: int, yes: bool, in_pieces: bool) -> None:
    plain = b"x" * size
    answer = ask(encoding, [plain[:100], plain[100:]] if in_pieces else plain)
    body = answer.body if isinstance(answer.body, bytes) else b"".join(answer.body)
    if yes:
        assert answer.headers == [(b"Content-Encoding", b"gzip"), (b"Vary", b"Accept-Encoding")]
        assert gzip.decompress(body) == plain
    else:
        assert body == plain
        assert answer.headers == [(b"Content-Length", b"1")]


def test_what_is_encoded_already_is_left_alone() -> None:
    answer = ask("gzip", b"x" * (THRESHOLD + 1), [(b"Content-Encoding", b"gzip")])
    assert answer.body == b"x" * (THRESHOLD + 1)
