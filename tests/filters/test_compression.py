"""Long answers of the API go out as gzip where the client asks for it."""

from __future__ import annotations

import gzip

import pytest

from filters.asking import PODS, answers, ask, get
from pilothouse.filters.chain import compose
from pilothouse.filters.compression import compression
from pilothouse.serving.http import Handler

LIMIT = 128 * 1024
LONG = b"x" * (LIMIT + 1)


def answering(body: bytes) -> Handler:
    return compose([compression()], answers(200, body))


def test_a_long_answer_is_compressed_for_who_asks() -> None:
    answer = ask(answering(LONG), get(PODS, accept_encoding="gzip"))
    assert answer.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(answer.body) == LONG


@pytest.mark.parametrize("encoding", ["", "identity", "gzip;q=1", "*", "deflate"])
def test_others_get_it_as_it_is(encoding: str) -> None:
    assert ask(answering(LONG), get(PODS, accept_encoding=encoding)) == (200, {}, LONG)


def test_a_short_answer_is_left_alone() -> None:
    short = b"x" * LIMIT
    assert ask(answering(short), get(PODS, accept_encoding="gzip")).body == short


def test_pages_outside_of_the_api_are_left_alone() -> None:
    assert ask(answering(LONG), get("/metrics", accept_encoding="gzip")).body == LONG


def test_what_is_compressed_already_is_left_alone() -> None:
    packed = compose([compression()], answers(200, LONG, (b"Content-Encoding", b"br")))
    assert ask(packed, get(PODS, accept_encoding="gzip")).headers == {"Content-Encoding": "br"}
