"""Conditions and ranges of a kept document, as HTTP defines them and the original's server carries them out."""

from __future__ import annotations

import pytest

from pilothouse.openapi.content import serve
from support.inprocess import asked

MODIFIED = 1_700_000_000.5  # Tue, 14 Nov 2023 22:13:20 GMT
THEN, BEFORE = "Tue, 14 Nov 2023 22:13:20 GMT", "Tue, 14 Nov 2023 22:13:19 GMT"

ANSWERS: list[tuple[dict[str, str], int, bytes]] = [
    ({}, 200, b"0123456789"),
    ({"If-None-Match": '"e"'}, 304, b""),
    ({"If-None-Match": '"x", W/"e"'}, 304, b""),
    ({"If-None-Match": "*"}, 304, b""),
    ({"If-None-Match": '"x"', "If-Modified-Since": THEN}, 200, b"0123456789"),
    ({"If-Modified-Since": THEN}, 304, b""),
    ({"If-Modified-Since": BEFORE}, 200, b"0123456789"),
    ({"If-Modified-Since": "yesterday"}, 200, b"0123456789"),
    ({"If-Match": '"e"'}, 200, b"0123456789"),
    ({"If-Match": "*"}, 200, b"0123456789"),
    ({"If-Match": '"x"'}, 412, b""),
    ({"If-Match": 'W/"e"'}, 412, b""),
    ({"If-Unmodified-Since": THEN}, 200, b"0123456789"),
    ({"If-Unmodified-Since": BEFORE}, 412, b""),
    ({"Range": "bytes=2-4"}, 206, b"234"),
    ({"Range": "bytes=7-"}, 206, b"789"),
    ({"Range": "bytes=-3"}, 206, b"789"),
    ({"Range": "bytes=2-99999999999999999999999"}, 206, b"23456789"),
    ({"Range": "bytes=10-"}, 416, b"invalid range: failed to overlap\n"),
    ({"Range": "bytes=4-2"}, 416, b"invalid range\n"),
    ({"Range": "bytes=a-b"}, 416, b"invalid range\n"),
    ({"Range": "lines=0-1"}, 416, b"invalid range\n"),
    ({"Range": "bytes=0-1", "If-Range": '"e"'}, 206, b"01"),
    ({"Range": "bytes=0-1", "If-Range": '"x"'}, 200, b"0123456789"),
    ({"Range": "bytes=0-1", "If-Range": THEN}, 206, b"01"),
    ({"Range": "bytes=0-1", "If-Range": BEFORE}, 200, b"0123456789"),
]


@pytest.mark.parametrize(("headers", "status", "body"), ANSWERS)
def test_what_a_client_gets(headers: dict[str, str], status: int, body: bytes) -> None:
    answer = serve(asked("GET /openapi/v2", token="", headers=headers), b"0123456789", MODIFIED, [], "e")
    assert (answer.status, answer.body) == (status, body)


def test_only_reading_spares_the_document() -> None:
    headers = {"If-None-Match": '"e"'}
    assert serve(asked("POST /openapi/v2", token="", headers=headers), b"0123456789", MODIFIED, [], "e").status == 412
