"""A broken handler is a 500 for one client and a line in the log, and nothing else."""

from __future__ import annotations

import asyncio
import logging

import pytest

from filters.asking import ask, fails, fine, get
from pilothouse.filters.chain import compose
from pilothouse.filters.recovery import recovery
from pilothouse.serving.http import ClientGone


def test_a_failure_is_answered_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        answer = ask(compose([recovery()], fails(ZeroDivisionError("oh"))), get("/api/v1/pods"))
    assert answer.status == 500
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.body == b"This request caused apiserver to panic. Look in the logs for details."
    (line,) = caplog.records
    assert line.getMessage() == "GET /api/v1/pods failed"
    assert line.exc_info is not None and line.exc_info[0] is ZeroDivisionError


def test_the_client_learns_nothing_of_the_failure(caplog: pytest.LogCaptureFixture) -> None:
    assert b"secret" not in ask(compose([recovery()], fails(ValueError("secret")))).body


@pytest.mark.parametrize("ending", [ClientGone(), asyncio.CancelledError()])
def test_nobody_answers_a_client_that_is_gone(ending: BaseException, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(type(ending)):
        ask(compose([recovery()], fails(ending)))
    assert not caplog.records


def test_the_next_request_is_answered() -> None:
    assert ask(compose([recovery()], fine)).body == b"fine"
