"""What handlers warn of reaches the client as Warning headers."""

from __future__ import annotations

import pytest

from filters.asking import ask, behind, get, renderer
from pilothouse.endpoints.scope import Warnings
from pilothouse.filters.chain import compose
from pilothouse.filters.errors import errors
from pilothouse.filters.warnings import warning_headers, warnings
from pilothouse.machinery.errors import bad_request
from pilothouse.serving.http import Answer, Handler, Request, Response


def warning(*texts: str, refuse: bool = False) -> Handler:
    async def handle(request: Request) -> Answer:
        request.attached(Warnings).extend(texts)
        if refuse:
            raise bad_request("no")
        return Response(200, [], b"fine")

    return compose([errors(renderer()), warnings()], handle)


def shown(*texts: str) -> list[str]:
    return [value.decode() for _, value in warning_headers(texts)]


def test_a_warning_is_a_header() -> None:
    assert ask(warning("v1 is old")).headers["Warning"] == '299 - "v1 is old"'


def test_without_warnings_there_is_no_header() -> None:
    assert "Warning" not in ask(warning()).headers


def test_a_refusal_warns_as_well() -> None:
    answer = ask(warning("v1 is old", refuse=True))
    assert (answer.status, answer.headers["Warning"]) == (400, '299 - "v1 is old"')


def test_each_is_said_once_in_order() -> None:
    assert shown("b", "a", "b") == ['299 - "b"', '299 - "a"']


def test_nothing_is_no_warning() -> None:
    assert shown("") == []


@pytest.mark.parametrize(
    ("text", "quoted"), [('say "a"', r"say \"a\""), ("a\\b", r"a\\b"), ("ümläut", "ümläut"), ("x" * 4000, "x" * 4000)]
)
def test_texts_are_quoted_and_whole(text: str, quoted: str) -> None:
    assert shown(text) == [f'299 - "{quoted}"']


def test_a_text_cannot_begin_another_header() -> None:
    (value,) = shown("a\r\nSet-Cookie: b")
    assert "\r" not in value and "\n" not in value


def test_too_many_are_cut_first_and_then_left_out() -> None:
    texts = [f"{number:02}" + "x" * 400 for number in range(40)]
    found = shown(*texts)
    assert len(found) == 4096 // 256
    assert found[0] == f'299 - "{texts[0][:256]}"'


def test_warnings_of_one_request_are_not_those_of_the_next() -> None:
    handler = warning("a")
    for _ in range(2):
        assert ask(handler, get()).headers["Warning"] == '299 - "a"'
    assert "Warning" not in ask(behind(warnings())).headers
