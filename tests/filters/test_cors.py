"""Browsers of other origins may call where --cors-allowed-origins says so."""

from __future__ import annotations

import re

import pytest

from filters.asking import ask, fine, get, noting
from pilothouse.filters.chain import compose
from pilothouse.filters.cors import cors
from pilothouse.serving.http import Handler, Request

ORIGIN = "https://ui.example.com"


def allowing(*patterns: str, handler: Handler = fine) -> Handler:
    return compose([cors([re.compile(pattern) for pattern in patterns])], handler)


def test_an_allowed_origin_is_told_so() -> None:
    answer = ask(allowing(r"//ui\.example\.com$"), get(origin=ORIGIN))
    assert answer.body == b"fine"
    assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert answer.headers["Access-Control-Allow-Credentials"] == "true"
    assert answer.headers["Access-Control-Allow-Methods"] == "POST, GET, OPTIONS, PUT, DELETE, PATCH"
    assert answer.headers["Access-Control-Expose-Headers"] == "Date"


def test_a_question_before_the_request_is_answered_here() -> None:
    found: list[Request] = []
    answer = ask(allowing("example", handler=noting(found)), get(method="OPTIONS", origin=ORIGIN))
    assert (answer.status, answer.body, found) == (204, b"", [])
    assert "Authorization" in answer.headers["Access-Control-Allow-Headers"]


@pytest.mark.parametrize("origin", ["https://elsewhere.example.org", ""])
def test_other_origins_hear_nothing_of_it(origin: str) -> None:
    answer = ask(allowing(r"//ui\.example\.com$"), get(origin=origin))
    assert answer.body == b"fine"
    assert not [name for name in answer.headers if name.startswith("Access-Control")]


def test_any_of_several_patterns_will_do() -> None:
    assert "Access-Control-Allow-Origin" in ask(allowing("^never$", "example"), get(origin=ORIGIN)).headers


def test_without_patterns_it_is_not_even_there() -> None:
    assert cors([])(fine) is fine
