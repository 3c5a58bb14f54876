"""How answers are framed."""

from __future__ import annotations

import pytest

from pilothouse.serving.http import HeaderList
from pilothouse.serving.reply import HeaderInjected, ReplyWriter, http_date

DATE = b"Date: Sun, 29 Nov 2026 21:10:47 GMT\r\n"
WALL = 1795986647.9


def writer() -> ReplyWriter:
    return ReplyWriter(lambda: WALL)


def head(
    size: int | None,
    headers: HeaderList | None = None,
    *,
    status: int = 200,
    minor: int = 1,
    is_head: bool = False,
    keep: bool = True,
) -> tuple[bytes, bool]:
    framing = writer().frame(status, headers or [], size, minor=minor, is_head=is_head, keep=keep)
    return framing.head, framing.close


def test_dates_do_not_depend_on_the_locale() -> None:
    assert http_date(0) == b"Thu, 01 Jan 1970 00:00:00 GMT"
    assert http_date(int(WALL)) == b"Sun, 29 Nov 2026 21:10:47 GMT"


def test_headers_are_sorted_and_the_order_of_equal_names_is_kept() -> None:
    headers = [(b"Warning", b"z"), (b"Content-Type", b"a"), (b"Warning", b"a"), (b"Audit-Id", b"1")]
    expected = b"Audit-Id: 1\r\nContent-Type: a\r\nWarning: z\r\nWarning: a\r\n" + DATE + b"Content-Length: 5\r\n\r\n"
    assert head(5, headers) == (b"HTTP/1.1 200 OK\r\n" + expected, False)
    assert writer().short(200, headers, b"12345") == b"HTTP/1.1 200 OK\r\n" + expected + b"12345"


@pytest.mark.parametrize(("size", "is_chunked"), [(0, False), (2048, False), (2049, True)])
def test_longer_answers_are_chunked(size: int, is_chunked: bool) -> None:
    assert (b"Transfer-Encoding: chunked" in head(size)[0]) is is_chunked
    whole = writer().short(200, [], b"x" * size)
    assert (b"\r\n801\r\n" in whole) is is_chunked
    assert (b"Content-Length: %d\r\n" % size in whole) is not is_chunked


def test_a_length_of_the_handler_is_believed() -> None:
    headers = [(b"Content-Length", b"5000")]
    assert b"chunked" not in head(5000, headers)[0]
    assert head(5000, headers)[0].count(b"Content-Length") == 1
    assert writer().short(200, headers, b"x" * 5000) is None  # no case for the short way


def test_a_date_of_the_handler_is_kept() -> None:
    assert head(0, [(b"Date", b"then")])[0].count(b"Date") == 1


@pytest.mark.parametrize("status", [204, 304])
def test_answers_that_have_no_body_have_no_length(status: int) -> None:
    assert b"Length" not in head(0, status=status)[0]


def test_answers_to_head_requests_say_the_length_they_would_have() -> None:
    assert b"Content-Length: 7\r\n" in head(7, is_head=True)[0]
    assert b"chunked" not in head(7000, is_head=True)[0]


def test_old_clients_get_the_end_of_the_connection_instead_of_chunks() -> None:
    assert head(10, minor=0, keep=True) == (
        b"HTTP/1.0 200 OK\r\n" + DATE + b"Content-Length: 10\r\nConnection: keep-alive\r\n\r\n",
        False,
    )
    assert head(10, minor=0, keep=False) == (b"HTTP/1.0 200 OK\r\n" + DATE + b"Content-Length: 10\r\n\r\n", True)
    assert head(None, minor=0, keep=True) == (b"HTTP/1.0 200 OK\r\n" + DATE + b"\r\n", True)


def test_the_last_answer_says_so() -> None:
    assert head(3, keep=False)[0].endswith(b"Content-Length: 3\r\nConnection: close\r\n\r\n")
    assert head(None, keep=False)[0].endswith(b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n")


def test_handlers_may_ask_for_the_end_but_not_for_a_framing() -> None:
    answer, close = head(3, [(b"Connection", b"close"), (b"Transfer-Encoding", b"chunked")])
    assert close
    assert answer.endswith(DATE + b"Content-Length: 3\r\nConnection: close\r\n\r\n")


@pytest.mark.parametrize("value", [b"a\r\nX: b", b"a\nb", b"a\rb"])
def test_a_line_break_in_a_header_is_never_sent(value: bytes) -> None:
    with pytest.raises(HeaderInjected):
        writer().short(200, [(b"X-A", value)], b"")


def test_a_percent_sign_in_a_name_is_just_a_letter() -> None:
    assert b"X%b: 1\r\n" in head(0, [(b"X%b", b"1")])[0]


def test_plans_are_bounded() -> None:
    replies = writer()
    for index in range(2000):
        replies.short(200, [(b"X-%d" % index, b"")], b"")
    assert len(replies._plans) <= 512
