"""No request goes on for ever, but for those that are meant to."""

from __future__ import annotations

import asyncio

import orjson
import pytest

from filters.asking import PODS, ask, behind, fine, get
from pilothouse.filters.deadline import deadline
from pilothouse.serving.http import Answer, Handler, Request

SOON = 0.01  # seconds
NEVER = 3600.0


def waiting(limit: float, ended: list[str] | None = None) -> Handler:
    """A handler that never answers: it notes when it is told to stop."""

    async def handle(request: Request) -> Answer:
        try:
            await asyncio.Event().wait()
        finally:
            if ended is not None:
                ended.append(request.path)
        return await fine(request)

    return behind(deadline(limit), handler=handle)


def turning(limit: float, turns: int) -> Handler:
    """A handler that gives others their turn so many times, and answers."""

    async def handle(request: Request) -> Answer:
        for _ in range(turns):
            await asyncio.sleep(0)
        return await fine(request)

    return behind(deadline(limit), handler=handle)


def test_a_request_that_takes_too_long_is_ended() -> None:
    ended: list[str] = []
    answer = ask(waiting(SOON, ended), get(PODS))
    assert answer.status == 504
    status = orjson.loads(answer.body)
    assert (status["reason"], status["message"]) == (
        "Timeout", "Timeout: request did not complete within the allotted timeout",
    )  # fmt: skip
    assert ended == [PODS]  # nothing works on for nobody


def test_a_client_may_want_less_time() -> None:
    assert ask(waiting(NEVER), get(PODS, "timeout=10ms")).status == 504
    assert ask(waiting(0), get(PODS, "timeout=10ms")).status == 504


def test_a_client_gets_no_more_time_than_there_is() -> None:
    assert ask(waiting(SOON), get(PODS, "timeout=1h")).status == 504


@pytest.mark.parametrize("query", ["", "timeout=", "timeout=0s", "timeout=0", "timeout=-5s", "timeout=1m30s"])
def test_who_asks_for_nothing_sensible_has_the_usual_time(query: str) -> None:
    assert ask(turning(NEVER, 3), get(PODS, query)).body == b"fine"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("soon", 'time: invalid duration "soon"'),
        ("10", 'time: missing unit in duration "10"'),
        ("3x", 'time: unknown unit "x" in duration "3x"'),
    ],
)
def test_a_time_that_is_none_is_refused(text: str, why: str) -> None:
    answer = ask(turning(NEVER, 0), get(PODS, f"timeout={text}"))
    assert answer.status == 400
    assert answer.message == f"invalid timeout specified in the request URL - {why}"


@pytest.mark.parametrize(
    ("path", "query"),
    [(PODS, "watch=true"), ("/api/v1/watch/pods", ""), (f"{PODS}/a/log", "follow=true"), (f"{PODS}/a/exec", "")],
)
def test_what_is_meant_to_last_has_no_deadline(path: str, query: str) -> None:
    async def main() -> None:
        asked = asyncio.ensure_future(waiting(SOON)(get(path, query)))
        done, _ = await asyncio.wait([asked], timeout=5 * SOON)
        assert not done
        asked.cancel()

    asyncio.run(main())
