"""A real server in this process, without controllers, and an administrator who calls it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from pilothouse.app.wiring import Application
from support.inprocess import asked, body_of, running

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
        token: str = "admin-token", kind: str = "application/json", accept: str = "application/json",
    ) -> Reply:  # fmt: skip
        """`path` with its query; `token` "" asks as nobody."""
        headers = {"Accept": accept}
        answer = await self.application.handler(asked(f"{method} {path}", body, kind, token=token, headers=headers))
        raw = body_of(answer)
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
    async with running(folder, TOKENS, **settings) as application:
        yield Inside(application)


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)
