"""A whole server in this process that asks who may, and users who call it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from pilothouse.app.wiring import Application
from support.inprocess import NO_HEADERS, asked, body_of, running

Object = dict[str, Any]
TOKENS = 'admin,admin,1,"system:masters"\nalice,alice,2,"developers"\nbob,bob,3\n'
RBAC = "/apis/rbac.authorization.k8s.io/v1"


class Server:
    def __init__(self, application: Application) -> None:
        self.application = application

    async def send(
        self,
        user: str,
        what: str,
        body: Object | None = None,
        kind: str = "application/json",
        *,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> tuple[int, Any]:
        """`what`: METHOD PATH[?QUERY]. Status and body."""
        answer = await self.application.handler(asked(what, body, kind, token=user, headers=headers))
        raw = body_of(answer)
        return answer.status, orjson.loads(raw) if raw.startswith(b"{") else raw.decode()

    async def give(self, user: str, namespace: str, *rules: Object) -> None:
        """A Role of these rules for the user, in one namespace; both are called as the user."""
        home = f"{RBAC}/namespaces/{namespace}"
        role = {"metadata": {"name": user}, "rules": list(rules)}
        assert (await self.send("admin", f"POST {home}/roles", role))[0] == 201
        binding = {
            "metadata": {"name": user},
            "roleRef": {"kind": "Role", "name": user},
            "subjects": [{"kind": "User", "name": user}],
        }
        assert (await self.send("admin", f"POST {home}/rolebindings", binding))[0] == 201

    async def settled(self, asking: Callable[[], Awaitable[tuple[int, Any]]], status: int) -> Any:
        """Ask until it is answered with this status; the body."""
        deadline = asyncio.get_running_loop().time() + 10
        while True:
            found, body = await asking()
            if found == status:
                return body
            assert asyncio.get_running_loop().time() < deadline, body
            await asyncio.sleep(0.001)


@asynccontextmanager
async def server(folder: Path, **settings: Any) -> AsyncIterator[Server]:
    chosen = {"authorization_mode": ("Node", "RBAC"), **settings}
    async with running(folder, TOKENS, **chosen) as application:
        yield Server(application)


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)
