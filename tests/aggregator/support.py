"""A front in this process, and servers behind it that behave as a test wants."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pilothouse.app.settings import Settings
from pilothouse.app.wiring import Application, build_application
from pilothouse.serving.client import Client, Destination
from pilothouse.serving.edge import Edge, bind
from pilothouse.serving.http import Answer, Handler, Request, Response
from serving.support import DEADLINE, TEXT, Served, Wire, make_pki, request, run, server_side, serving, until

__all__ = [
    "DEADLINE",
    "TEXT",
    "Far",
    "Front",
    "Served",
    "Wire",
    "front",
    "make_pki",
    "request",
    "run",
    "server_side",
    "serving",
    "until",
]

Object = dict[str, Any]
TOKENS = 'admin-token,admin,admin-uid,"system:masters"\nalice-token,alice,alice-uid,"developers,testers"\n'
GROUP = "far.example.com"
_JSON = [(b"Content-Type", b"application/json")]
APISERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"


class Front:
    """A running front and a client of it."""

    def __init__(self, application: Application, edge: Edge) -> None:
        self.application = application
        self.edge = edge
        self.client = Client()
        self.at = Destination("127.0.0.1", edge.port)
        self.wires: list[Wire] = []

    async def call(
        self, method: str, path: str, body: Object | bytes | None = None, *, user: str = "admin", **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers (names in lower case) and body of an answer. `headers`: "_" stands for "-"."""
        sent = [(b"Host", b"front")]
        if user:
            sent.append((b"Authorization", f"Bearer {user}-token".encode()))
        sent += [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        if data and "Content_Type" not in headers:
            sent.append((b"Content-Type", b"application/json"))
        async with asyncio.timeout(DEADLINE):
            answered = await self.client.call(self.at, method, path.encode(), sent, data)
            found = {name.decode().lower(): value.decode() for name, value in answered.headers}
            return answered.status, found, await answered.read(1 << 28)

    async def get(self, path: str, **headers: str) -> Any:
        """A JSON document."""
        status, _, body = await self.call("GET", path, **headers)
        assert status == 200, (status, body)
        return json.loads(body)

    async def make(self, path: str, obj: Object) -> Object:
        status, _, body = await self.call("POST", path, obj)
        assert status == 201, (status, body)
        made: Object = json.loads(body)
        return made

    async def until(self, path: str, holds: Callable[[int, Any], bool], **headers: str) -> Any:
        """Ask until the answer (status; JSON or bytes) is as wanted."""
        last: Any = None
        try:
            async with asyncio.timeout(DEADLINE):
                while True:
                    status, found, body = await self.call("GET", path, **headers)
                    last = json.loads(body) if "json" in found.get("content-type", "") else body
                    if holds(status, last):
                        return last
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise AssertionError(f"never came true: {path}; the last answer was {last!r}") from None

    async def wire(self) -> Wire:
        """A bare connection to the front."""
        self.wires.append(Wire(*await asyncio.open_connection("127.0.0.1", self.edge.port)))
        return self.wires[-1]

    # API services

    async def register(self, far: Far, group: str = GROUP, version: str = "v1", **spec: Any) -> str:
        """An API service of a server in this process (behind a Service with an external name); its name."""
        service = f"far-{far.port}"
        if not await self.exists(f"/api/v1/namespaces/default/services/{service}"):
            external = {"type": "ExternalName", "externalName": spec.pop("host", "localhost")}
            obj = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": service}, "spec": external}
            await self.make("/api/v1/namespaces/default/services", obj)
        spec = {
            "group": group,
            "version": version,
            "groupPriorityMinimum": 900,
            "versionPriority": 10,
            "service": {"namespace": "default", "name": service, "port": far.port},
            **({} if "caBundle" in spec else {"insecureSkipTLSVerify": True}),
            **spec,
        }
        name = f"{version}.{group}"
        obj = {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": name},
            "spec": spec,
        }
        await self.make(APISERVICES, obj)
        return name

    async def exists(self, path: str) -> bool:
        return (await self.call("GET", path))[0] == 200

    async def condition(self, name: str, reason: str) -> Object:
        """Wait for a reason; the condition."""

        def holds(status: int, body: Any) -> bool:
            return status == 200 and any(one["reason"] == reason for one in conditions(body))

        return conditions(await self.until(f"{APISERVICES}/{name}", holds))[0]

    async def available(self, name: str) -> None:
        await self.condition(name, "Passed")


def conditions(obj: Object) -> list[Object]:
    return list((obj.get("status") or {}).get("conditions") or ())


@asynccontextmanager
async def front(folder: Path, **settings: Any) -> AsyncIterator[Front]:
    """A front with its store in memory, over plain HTTP, ready."""
    tokens = folder / "tokens.csv"
    tokens.write_text(TOKENS)
    chosen = replace(Settings(), storage="memory", data=folder, token_auth_file=tokens, **settings)
    application = await build_application(chosen, b"")
    edge = Edge(application.handler, bind("127.0.0.1", 0))
    await edge.start()
    await application.start()
    running = Front(application, edge)
    try:
        yield running
    finally:
        running.client.close()
        for wire in running.wires:
            wire.abort()
        await edge.drain(0.0)
        await until(lambda: edge.connections == 0)
        await application.stop()


class Far:
    """An extension server: discovery of the kind Echo, and whatever `handler` answers below it. Over TLS."""

    def __init__(self, handler: Handler, group: str = GROUP, version: str = "v1") -> None:
        self._handler = handler
        self._group = group
        self._version = version
        self.seen: list[Request] = []
        self.documents: dict[str, tuple[int, str, bytes]] = {}  # path -> status, media type, body
        self.asked: list[str] = []  # paths of documents
        self.etag = ""  # of all documents
        self.unchanged: list[str] = []  # paths of those that were not sent again
        self.edge: Edge
        self.port = 0

    async def serve(self, request: Request) -> Answer:
        path = request.path
        if path in self.documents:
            self.asked.append(path)
            status, media_type, body = self.documents[path]
            if self.etag and request.header(b"if-none-match") == self.etag:
                self.unchanged.append(path)
                return Response(304, [(b"Etag", self.etag.encode())])
            tags = [(b"Etag", self.etag.encode())] if self.etag else []
            return Response(status, [(b"Content-Type", media_type.encode()), *tags], body)
        if path == f"/apis/{self._group}/{self._version}":
            return Response(200, list(_JSON), json.dumps(self.discovery()).encode())
        if not path.startswith(f"/apis/{self._group}/"):
            return Response(404, list(_JSON), b"{}")
        self.seen.append(request)
        return await self._handler(request)

    def discovery(self) -> Object:
        echoes = {
            "name": "echoes",
            "singularName": "echo",
            "namespaced": True,
            "kind": "Echo",
            "verbs": ["get", "list"],
        }
        where = f"{self._group}/{self._version}"
        return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": where, "resources": [echoes]}


async def echo(request: Request) -> Response:
    """What arrived, as JSON."""
    body = await request.body.read(1 << 28)
    told = {
        "method": request.method,
        "path": request.raw_path.decode(),
        "query": request.query,
        "headers": sorted([name.decode(), value.decode()] for name, value in request.headers),
        "body": body.decode("latin-1") if len(body) < 1000 else len(body),
    }
    return Response(200, list(_JSON), json.dumps(told).encode())


@asynccontextmanager
async def far(
    pki: Path,
    handler: Handler = echo,
    *,
    port: int = 0,
    host: str = "127.0.0.1",
    identity: ssl.SSLContext | None = None,
    **names: str,
) -> AsyncIterator[Far]:
    """A running extension server on a free port (or on `port`). `identity`: instead of one from `pki`, which also tells
    whom to trust.
    """
    server = Far(handler, **names)
    context = identity or server_side(pki)
    edge = server.edge = Edge(server.serve, bind(host, port), context=lambda: context)
    await edge.start()
    server.port = edge.port
    try:
        yield server
    finally:
        await edge.drain(0.0)
        await until(lambda: edge.connections == 0)


def bundle(pki: Path) -> str:
    """The CA of `pki` for an API service."""
    return base64.b64encode((pki / "ca.crt").read_bytes()).decode()


Told = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
