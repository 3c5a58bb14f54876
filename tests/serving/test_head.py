"""Request heads: what is understood, and what is refused with which words."""

from __future__ import annotations

import contextlib
import time

import pytest

from pilothouse.serving.head import Head, HeadParser, HeadRefused


def parse(text: bytes) -> Head:
    return HeadParser().parse(text, text.index(b"\r\n\r\n"))


def refused(text: bytes) -> str:
    with pytest.raises(HeadRefused) as caught:
        parse(text)
    return caught.value.line


def get(*lines: bytes, target: bytes = b"/x", version: bytes = b"HTTP/1.1", host: bytes = b"Host: h") -> bytes:
    return b"\r\n".join([b"GET " + target + b" " + version, *([host] if host else []), *lines, b"", b""])


def test_method_target_and_headers_come_out_as_sent() -> None:
    head = parse(b"PATCH /api/v1?watch=1&x=%zz HTTP/1.1\r\nHost: h\r\nX-A:  b c \t\r\nAccept:\r\n\r\n")
    assert (head.method, head.raw_path, head.query) == ("PATCH", b"/api/v1", "watch=1&x=%zz")
    assert head.fields.headers == ((b"host", b"h"), (b"x-a", b"b c"), (b"accept", b""))
    assert head.keep


@pytest.mark.parametrize("method", [b"get", b"FOO", b"PROPFIND", b"TRACE", b"CONNECT"])
def test_any_token_is_a_method(method: bytes) -> None:
    assert parse(method + b" /x HTTP/1.1\r\nHost: h\r\n\r\n").method == method.decode()


def test_absolute_targets_lose_their_host() -> None:
    assert parse(get(target=b"https://localhost:1/a/b?c=d")).raw_path == b"/a/b"
    assert parse(get(target=b"https://localhost")).raw_path == b"/"
    assert parse(get(target=b"https://localhost?c=d")).query == "c=d"
    assert parse(get(target=b"*")).raw_path == b"*"


def test_bytes_beyond_ascii_and_fragments_are_part_of_the_path() -> None:
    assert parse(get(target="/é#x".encode())).raw_path == "/é#x".encode()


@pytest.mark.parametrize(
    ("version", "keep", "lines"),
    [
        (b"HTTP/1.1", True, []),
        (b"HTTP/1.2", True, []),
        (b"HTTP/1.0", False, []),
        (b"HTTP/1.0", True, [b"Connection: keep-alive"]),
        (b"HTTP/1.1", False, [b"Connection: close"]),
        (b"HTTP/1.1", False, [b"Connection: Upgrade, Close"]),
    ],
)
def test_keeping_the_connection(version: bytes, keep: bool, lines: list[bytes]) -> None:
    assert parse(get(*lines, version=version)).keep is keep


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"hello\r\n\r\n", "400 Bad Request"),
        (b"GET  /x HTTP/1.1\r\nHost: h\r\n\r\n", "400 Bad Request"),
        (b" GET /x HTTP/1.1\r\nHost: h\r\n\r\n", "400 Bad Request"),
        (b"GET /x\r\nHost: h\r\n\r\n", "400 Bad Request"),
        (b"G\x00T /x HTTP/1.1\r\nHost: h\r\n\r\n", "400 Bad Request"),
        (b"GET /x HTTP/1.1 \r\nHost: h\r\n\r\n", "400 Bad Request"),
        (get(target=b"/wi re"), "400 Bad Request"),
        (get(target=b"/a\tb"), "400 Bad Request"),
        (get(target=b"/a\x7fb"), "400 Bad Request"),
        (get(target=b"/%zz"), "400 Bad Request"),
        (get(target=b"/%4"), "400 Bad Request"),
        (get(target=b"x"), "400 Bad Request"),
        (get(version=b"HTTP/2.0"), "505 HTTP Version Not Supported: unsupported protocol version"),
        (get(version=b"HTTP/0.9"), "505 HTTP Version Not Supported: unsupported protocol version"),
        (get(version=b"HTTP/1.1x"), "400 Bad Request"),
        (get(version=b"http/1.1"), "400 Bad Request"),
        (get(host=b""), "400 Bad Request: missing required Host header"),
        (get(b"Host: h"), "400 Bad Request"),
        (get(host=b"Host: a b"), "400 Bad Request: malformed Host header"),
        (get(host=b"Host: a/b"), "400 Bad Request: malformed Host header"),
        (get(b"nonsense"), "400 Bad Request"),
        (get(b"X-A : b"), "400 Bad Request: invalid header name"),
        (get(b": b"), "400 Bad Request: invalid header name"),
        (get("Ä: b".encode()), "400 Bad Request: invalid header name"),
        (get(b"X[A]: b"), "400 Bad Request: invalid header name"),
        (get(b'"X": b'), "400 Bad Request: invalid header name"),
        (get(b"X-A: b\x00c"), "400 Bad Request: invalid header value"),
        (get(b"X-A: b\rc"), "400 Bad Request: invalid header value"),
        (get(b"X-A: b", b" folded"), "400 Bad Request"),
        (get(b"X-A: b\nX-B: c"), "400 Bad Request"),
        (get(b"Content-Length: x"), "400 Bad Request"),
        (get(b"Content-Length: +3"), "400 Bad Request"),
        (get(b"Content-Length: -3"), "400 Bad Request"),
        (get(b"Content-Length: 0x3"), "400 Bad Request"),
        (get(b"Content-Length: 3, 3"), "400 Bad Request"),
        (get(b"Content-Length:"), "400 Bad Request"),
        (get(b"Content-Length: 99999999999999999999"), "400 Bad Request"),
        (get(b"Content-Length: 9999999999999999999"), "400 Bad Request"),
        (get("Content-Length: ٣".encode()), "400 Bad Request"),
        (get(b"Content-Length: 3", b"Content-Length: 4"), "400 Bad Request"),
        (get(b"Content-Length: 3", b"Transfer-Encoding: chunked"), "400 Bad Request"),
        (get(b"Transfer-Encoding: chunked", version=b"HTTP/1.0"), "400 Bad Request"),
        (get(b"Transfer-Encoding: gzip"), "501 Not Implemented"),
        (get(b"Transfer-Encoding: gzip, chunked"), "501 Not Implemented"),
        (get(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"), "501 Not Implemented"),
        (get(b"Transfer-Encoding: \x0bchunked"), "400 Bad Request: invalid header value"),
        (get(b"Transfer-Encoding: chunked;x"), "501 Not Implemented"),
    ],
)
def test_refused(text: bytes, line: str) -> None:
    assert refused(text) == line


@pytest.mark.parametrize("filler", [b" ", b"\t ", b"a ", b":", b", "])
@pytest.mark.parametrize("end", [b"", b"\x01", b" x"])
def test_no_head_takes_more_time_than_its_size_deserves(filler: bytes, end: bytes) -> None:
    text = get(b"X-A:" + filler * (1_000_000 // len(filler)) + end, b"Connection: " + filler * 10_000)
    began = time.thread_time()
    with contextlib.suppress(HeadRefused):
        parse(text)
    assert time.thread_time() - began < 0.5


def test_equal_lengths_may_be_repeated() -> None:
    assert parse(get(b"Content-Length: 3", b"Content-Length: 3")).fields.length == 3


def test_remembered_headers_are_compared_not_believed() -> None:
    parser = HeadParser()

    def next_head(text: bytes) -> Head:
        return parser.parse(text, text.index(b"\r\n\r\n"))

    first = next_head(get(b"X-A: 1"))
    again = next_head(get(b"X-A: 1", target=b"/other"))
    assert again.fields is first.fields
    assert again.raw_path == b"/other"
    assert next_head(get(b"X-A: 2")).fields.headers[-1] == (b"x-a", b"2")
    with pytest.raises(HeadRefused):
        next_head(get(host=b""))
