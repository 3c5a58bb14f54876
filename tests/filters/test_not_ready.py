"""While paths are still being installed, nobody is told for good that something does not exist."""

from __future__ import annotations

import orjson
import pytest

from filters.asking import answers, ask, behind, fails, fine
from pilothouse.filters.not_ready import not_ready
from pilothouse.machinery.errors import APIError, bad_request, not_found, path_not_found
from pilothouse.serving.http import Handler

TEXT_404 = answers(404, b"404 page not found\n")


def starting(handler: Handler) -> Handler:
    return behind(not_ready(lambda: False), handler=handler)


def started(handler: Handler) -> Handler:
    return behind(not_ready(lambda: True), handler=handler)


@pytest.mark.parametrize("handler", [fails(path_not_found()), TEXT_404])
def test_an_unknown_path_may_be_there_soon(handler: Handler) -> None:
    answer = ask(starting(handler))
    assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
    status = orjson.loads(answer.body)
    assert status["reason"] == "ServiceUnavailable"
    assert status["details"] == {"retryAfterSeconds": 5}
    assert "before all known HTTP paths have been installed" in status["message"]


@pytest.mark.parametrize("error", [not_found("", "pods", "a"), bad_request("no")])
def test_what_is_certain_is_said_at_once(error: APIError) -> None:
    assert ask(starting(fails(error))).status == error.code


def test_what_is_there_is_served_at_once() -> None:
    assert ask(starting(fine)).body == b"fine"


@pytest.mark.parametrize("handler", [fails(path_not_found()), TEXT_404])
def test_later_an_unknown_path_is_not_found(handler: Handler) -> None:
    answer = ask(started(handler))
    assert answer.status == 404
    assert "Retry-After" not in answer.headers
