"""Chunked request bodies, whole and in any pieces."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilothouse.serving.chunks import ChunkDecoder
from pilothouse.serving.http import BodyBroken

BODY = b'5\r\n{"met\r\n15;ext=1\r\nadata":{"name":"w2"}}\r\n0\r\nX-Trailer: 1\r\n\r\n'


def decode(pieces: list[bytes]) -> tuple[bytes, bool, bytes]:
    decoder = ChunkDecoder()
    body = b"".join(piece for data in pieces for piece in decoder.feed(data))
    return body, decoder.done, decoder.rest


def test_extensions_and_trailers_are_skipped() -> None:
    assert decode([BODY + b"GET"]) == (b'{"metadata":{"name":"w2"}}', True, b"GET")


@given(st.lists(st.integers(0, len(BODY)), max_size=12))
def test_pieces_make_no_difference(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(BODY)]
    pieces = [BODY[a:b] for a, b in itertools.pairwise(edges)]
    assert decode(pieces) == (b'{"metadata":{"name":"w2"}}', True, b"")


def test_byte_by_byte() -> None:
    assert decode([BODY[i : i + 1] for i in range(len(BODY))])[0] == b'{"metadata":{"name":"w2"}}'


@pytest.mark.parametrize(
    "text",
    [
        b"zz\r\n",
        b"\r\n",
        b"-1\r\n",
        b"0x3\r\nabc\r\n",
        b"+3\r\nabc\r\n",
        b"3 3\r\nabc\r\n",
        b"3\r\nabcd\r\n",
        b"3\r\nabcXY0\r\n\r\n",
        b"ffffffffffffffffff\r\n",
        b"3;" + b"x" * 5000 + b"\r\n",
        b"3;a\nb\r\nabc\r\n",
        b"1" * 5000,
        b"0\r\n" + b"a: b\r\n" * 20000,
    ],
)
def test_what_is_no_chunk_is_refused(text: bytes) -> None:
    with pytest.raises(BodyBroken):
        decode([text])
