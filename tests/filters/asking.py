"""A filter with a handler inside and a client outside: what the tests of this folder ask with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

import orjson

from pilothouse.builtin.binaryforms import MetaForms
from pilothouse.builtin.types import builtin_types
from pilothouse.endpoints.render import Renderer
from pilothouse.filters.chain import compose
from pilothouse.filters.errors import errors
from pilothouse.filters.request_info import request_info
from pilothouse.registry.request import Caller
from pilothouse.serving.body import NO_BODY
from pilothouse.serving.http import Answer, Filter, Handler, HeaderList, Request, Response

PODS = "/api/v1/namespaces/default/pods"
TEXT = (b"Content-Type", b"text/plain")
ALICE = Caller("alice", "", ("developers", "system:authenticated"))
MASTER = Caller("root", "", ("system:masters", "system:authenticated"))


class Seen(NamedTuple):
    """What a client sees of an answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> str:
        return str(orjson.loads(self.body)["message"])


def get(path: str = "/", query: str = "", method: str = "GET", **headers: str) -> Request:
    """`headers`: names with _ for -."""
    sent = [(name.replace("_", "-").lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    return Request(method, path.encode(), query, [(b"host", b"localhost"), *sent], NO_BODY)


async def fine(request: Request) -> Answer:
    """A handler that has nothing to complain of."""
    return Response(200, [TEXT], b"fine")


def fails(error: BaseException) -> Handler:
    async def handle(request: Request) -> Answer:
        raise error

    return handle


def answers(status: int, body: bytes = b"", *headers: tuple[bytes, bytes]) -> Handler:
    """A new answer each time: filters may change it."""

    async def handle(request: Request) -> Answer:
        made: HeaderList = list(headers)
        return Response(status, made, body)

    return handle


def renderer() -> Renderer:
    return Renderer(MetaForms(builtin_types))


def as_caller(caller: Caller) -> Filter:
    """Stands for authentication."""

    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            request.attach(caller)
            return await inner(request)

        return handle

    return build


def behind(*filters: Filter, caller: Caller = ALICE, handler: Handler = fine) -> Handler:
    """The filters where they stand in the server: errors become answers, and the request and its sender are known."""
    return compose([errors(renderer()), request_info(), as_caller(caller), *filters], handler)


def seen(answer: Answer) -> Seen:
    assert isinstance(answer, Response)
    body = answer.body if isinstance(answer.body, bytes) else b"".join(answer.body)
    return Seen(answer.status, {name.decode(): value.decode("latin-1") for name, value in answer.headers}, body)


def ask(handler: Handler, request: Request | None = None) -> Seen:
    async def main() -> Answer:
        return await handler(request or get())

    return seen(asyncio.run(main()))


def noting(found: list[Request], inner: Handler = fine) -> Handler:
    """A handler that keeps the requests that reach it."""

    async def handle(request: Request) -> Answer:
        found.append(request)
        return await inner(request)

    return handle


def counter() -> Callable[[], str]:
    """Identifiers in order: id-1, id-2, ..."""
    made: list[str] = []

    def new() -> str:
        made.append(f"id-{len(made) + 1}")
        return made[-1]

    return new
