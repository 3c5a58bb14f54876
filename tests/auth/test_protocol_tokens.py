"""Browsers carry their token among the WebSocket subprotocols: on an upgrade, unpadded, beside another protocol."""

from __future__ import annotations

import base64
from pathlib import Path

from running import Server, run, server

UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket"}


def entry(user: str) -> str:
    """The subprotocol with the user's token."""
    token = base64.urlsafe_b64encode(user.encode()).rstrip(b"=").decode()
    return f"base64url.bearer.authorization.k8s.io.{token}"


async def asked(api: Server, protocols: str, user: str = "", **headers: str) -> int:
    sent = {**(headers or UPGRADE), "Sec-WebSocket-Protocol": protocols}
    return (await api.send(user, "GET /api/v1/nodes", headers=sent))[0]


ROWS = (
    (f"{entry('admin')}, chat", 200),
    (f"chat, {entry('admin')}", 200),
    (f"chat, {entry('alice')}", 403),
    (entry("admin"), 401),
    (f"{entry('admin')}, {entry('admin')}, chat", 401),
    (f"{entry('admin')}=, chat", 401),
    (f"{entry('nobody')}, chat", 401),
    (f"{entry('')}, chat", 403),  # anonymous
)


def test_who_is_believed(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as api:
            for protocols, status in ROWS:
                assert await asked(api, protocols) == status, protocols

    run(test())


def test_the_authorization_header_comes_first_and_need_not_be_good(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as api:
            assert await asked(api, f"{entry('admin')}, chat", "alice") == 403
            assert await asked(api, f"{entry('admin')}, chat", "nobody") == 200
            assert await asked(api, f"{entry('admin')}, chat", Accept="application/json") == 403

    run(test())
