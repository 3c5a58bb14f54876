"""Gives every request that is not long-running its time: --request-timeout, or less by ?timeout=.

Past it the answer is 504.
"""

from __future__ import annotations

from collections.abc import Awaitable
from types import CoroutineType

from pilothouse.endpoints.requestinfo import Query, RequestInfo, attach_request_info, parse_query
from pilothouse.filters.metrics import Terminated
from pilothouse.machinery.errors import bad_request
from pilothouse.machinery.times import TimeError, parse_duration
from pilothouse.serving.http import Answer, Filter, Handler, Request, Response
from pilothouse.serving.timelimit import TimeLimit, Waits

_BODY = (
    b'{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout",'
    b'"reason":"Timeout","details":{},"code":504}\n'
)


def deadline(limit: float) -> Filter:
    """`limit` in seconds; 0 is none."""
    usual = TimeLimit(limit)

    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            seconds = limit
            if "timeout=" in request.query:
                asked = _asked(request)
                if asked and not _long_running(request):
                    seconds = min(asked, limit) if limit else asked
            if not seconds or _long_running(request):
                return await inner(request)
            return await _within(inner, request, usual if seconds == limit else TimeLimit(seconds))

        return handle

    return build


async def _within(inner: Handler, request: Request, limit: TimeLimit) -> Answer:
    """Most requests are answered without waiting: only the others are watched."""
    asked = inner(request)
    work = asked if isinstance(asked, CoroutineType) else _waiting_for(asked)
    try:
        waits_for = work.send(None)
    except StopIteration as done:
        answer: Answer = done.value
        return answer
    places: dict[str, float] = {}
    try:
        return await limit.carry_on(work, waits_for, places)
    except TimeoutError:
        request.attach(Terminated())
        return Response(504, [(b"Content-Type", b"text/plain; charset=utf-8")], _BODY)
    finally:
        if places:
            request.attach(Waits(places))


async def _waiting_for(asked: Awaitable[Answer]) -> Answer:
    return await asked


def _asked(request: Request) -> float:
    """Seconds of ?timeout=; 0 where it says nothing. Raises BadRequest."""
    text = (request.maybe(Query) or parse_query(request.query)).get("timeout")
    if not text:
        return 0.0
    try:
        return max(parse_duration(text), 0) / 1e9
    except TimeError as error:
        raise bad_request(f"invalid timeout specified in the request URL - {error}") from error


def _long_running(request: Request) -> bool:
    info = request.maybe(RequestInfo)
    return (info or attach_request_info(request)).long_running
