"""A real server in this process, without controllers, and an administrator who calls it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from pilothouse.app.settings import Settings
from pilothouse.app.wiring import Application, build_application
from pilothouse.serving.body import NO_BODY, WholeBody
from pilothouse.serving.http import Request, Response

Object = dict[str, Any]
TOKENS = 'admin-token,admin,admin-uid,"system:masters"\nalice-token,alice,alice-uid,"developers,testers"\n'


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: Any

    def __getitem__(self, name: str) -> Any:
        return self.body[name]


class Inside:
    def __init__(self, application: Application) -> None:
        self.application = application

    async def send(
        self, method: str, path: str, body: Object | None = None, *,
        token: str = "admin-token", kind: str = "application/json",
    ) -> Reply:  # fmt: skip
        """`path` with its query; `token` "" asks as nobody."""
        where, _, query = path.partition("?")
        headers = [(b"host", b"localhost"), (b"accept", b"application/json")]
        if token:
            headers.append((b"authorization", b"Bearer " + token.encode()))
        if body is not None:
            headers.append((b"content-type", kind.encode()))
        reader = NO_BODY if body is None else WholeBody(orjson.dumps(body))
        answer = await self.application.handler(Request(method, where.encode(), query, headers, reader))
        assert isinstance(answer, Response)
        raw = answer.body if isinstance(answer.body, bytes) else b"".join(answer.body)
        found = {name.decode().lower(): value.decode() for name, value in answer.headers}
        try:
            return Reply(answer.status, found, orjson.loads(raw) if raw else None)
        except orjson.JSONDecodeError:
            return Reply(answer.status, found, raw.decode())

    async def make(self, path: str, body: Object, **more: str) -> Object:
        reply = await self.send("POST", path, body, **more)
        assert reply.status == 201, reply.body
        made: Object = reply.body
        return made

    async def get(self, path: str) -> Object:
        reply = await self.send("GET", path)
        assert reply.status == 200, reply.body
        found: Object = reply.body
        return found


@asynccontextmanager
async def server(folder: Path, **settings: Any) -> AsyncIterator[Inside]:
    tokens = folder / "tokens.csv"
    tokens.write_text(TOKENS)
    chosen = Settings(storage="memory", data=folder / "data", token_auth_file=tokens, **settings)
    application = await build_application(chosen, b"")
    await application.start()
    try:
        yield Inside(application)
    finally:
        await application.begin_shutdown()
        await application.stop()


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)
