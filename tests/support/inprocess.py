"""A whole server in this process, without sockets: how it is started and ended, and what a client would send it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson

from pilothouse.app.settings import Settings
from pilothouse.app.wiring import Application, build_application
from pilothouse.controllers.manager import ControllerSettings
from pilothouse.serving.body import NO_BODY, WholeBody
from pilothouse.serving.http import Answer, BodyReader, Request, Response

JSON = "application/json"
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@asynccontextmanager
async def running(
    folder: Path, tokens: str, controllers: ControllerSettings | None = None, **settings: Any
) -> AsyncIterator[Application]:
    """A server that is ready and, unless `settings` say else, keeps everything in memory.

    `tokens`: lines of a token file, who may come. Without `controllers` there are none.
    """
    file = folder / "tokens.csv"
    file.write_text(tokens)
    chosen = Settings(**{"storage": "memory", "data": folder / "data", "token_auth_file": file, **settings})
    application = await build_application(chosen, b"", controllers)
    await application.start()
    try:
        yield application
    finally:
        await application.begin_shutdown()
        await application.stop()


def asked(
    what: str, body: object = None, kind: str = JSON, *, token: str, headers: Mapping[str, str] = NO_HEADERS
) -> Request:
    """`what`: METHOD PATH[?QUERY]. `body`: bytes, or what is sent as JSON. `kind`: its media type. `token`: or ""."""
    method, _, where = what.partition(" ")
    path, _, query = where.partition("?")
    sent = [(b"host", b"localhost")]
    if token:
        sent.append((b"authorization", b"Bearer " + token.encode()))
    reader: BodyReader = NO_BODY
    if body is not None:
        data = body if isinstance(body, bytes) else orjson.dumps(body)
        reader = WholeBody(data)
        sent += [(b"content-type", kind.encode()), (b"content-length", b"%d" % len(data))]
    sent += [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return Request(method, path.encode(), query, sent, reader)


def body_of(answer: Answer) -> bytes:
    """The body of an answer that is here as a whole."""
    assert isinstance(answer, Response), answer
    return answer.body if isinstance(answer.body, bytes) else b"".join(answer.body)
