"""A real server in this process with its controllers, and an administrator who calls it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pilothouse.controllers import names
from pilothouse.controllers.client import LoopbackClient, RateLimit, Refusal
from pilothouse.controllers.clock import LoopClock
from pilothouse.controllers.manager import ControllerSettings
from support.inprocess import running

Object = dict[str, Any]
ROOT_CA = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"
TOKEN = "administrator"
DEADLINE = 20.0  # seconds; what takes longer is broken


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


async def eventually(check: Callable[[], Awaitable[bool]], what: str) -> None:
    """Ask until it is so."""
    try:
        async with asyncio.timeout(DEADLINE):
            while not await check():
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"never came true: {what}") from None


class Admin(LoopbackClient):
    """A client that may do everything, with a few words for what tests do all the time."""

    def __init__(self, handler: Any) -> None:
        super().__init__(handler, TOKEN, RateLimit(LoopClock(), 1e6, 1_000_000))

    async def make(self, path: str, name: str, **more: Any) -> Object:
        """Create an object; `more` beside its name: members of its metadata (owners, finalizers), or of the object."""
        metadata = {"name": name}
        for member in ("ownerReferences", "finalizers", "labels", "annotations"):
            if member in more:
                metadata[member] = more.pop(member)
        return await self.create(path, {"metadata": metadata, **more})

    async def namespace(self, name: str) -> str:
        await self.make("/api/v1/namespaces", name)
        return f"/api/v1/namespaces/{name}"

    async def names(self, path: str) -> set[str]:
        return {item["metadata"]["name"] for item in (await self.get(path))["items"]}

    async def find(self, path: str) -> Object | None:
        try:
            return await self.get(path)
        except Refusal as refusal:
            if refusal.not_found:
                return None
            raise

    async def remove(self, path: str, policy: str = "Background") -> None:
        await self.delete(path, {"propagationPolicy": policy})

    async def gone(self, *paths: str) -> None:
        """Wait until none of these is there."""

        async def none_left() -> bool:
            return all([await self.find(path) is None for path in paths])

        await eventually(none_left, f"{', '.join(paths)} gone")

    async def there(self, path: str, also: Callable[[Object], bool] = bool) -> Object:
        """Wait until it is there and as it should be."""
        found: Object = {}

        async def right() -> bool:
            nonlocal found
            found = await self.find(path) or {}
            return bool(found) and also(found)

        await eventually(right, f"{path} as expected")
        return found


def owned_by(owner: Object, kind: str, *, api_version: str = "v1", block: bool = False) -> list[Object]:
    """ownerReferences with this one owner."""
    metadata = owner["metadata"]
    return [
        {
            "apiVersion": api_version,
            "kind": kind,
            "name": metadata["name"],
            "uid": metadata["uid"],
            "blockOwnerDeletion": block,
        }
    ]


@asynccontextmanager
async def server(
    folder: Path, *controllers: str, storage: str = "memory", root_ca: str = ROOT_CA
) -> AsyncIterator[Admin]:
    """Serve with these controllers (all where none is named)."""
    chosen = ControllerSettings(names.choose(controllers or ("*",)), root_ca)
    tokens = f'{TOKEN},administrator,,"system:masters"\n'
    async with running(folder, tokens, chosen, storage=storage, authorization_mode=("Node", "RBAC")) as application:
        yield Admin(application.handler)
