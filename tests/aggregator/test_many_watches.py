"""Very many watches through the front: each costs a bounded piece of memory, and nobody else waits."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest

from pilothouse.serving.http import Answer, Request, Stream, StreamWriter
from pilothouse.serving.tls import CertificateFiles, server_context
from support.canary import unharmed
from support.server import CONFORMANCE_FLAGS, Server, eventually
from support.wire import Wire, head

from .support import APISERVICES, GROUP, Far, far, run

ECHOES = f"/apis/{GROUP}/v1/namespaces/default/echoes"
WATCHES = 1000
EACH = 200_000  # bytes: two TLS connections and what stands between them
_EVENT = b'{"type":"BOOKMARK","object":{"metadata":{"name":"%d"}}}\n'


def _whoever_calls(pki: Path) -> ssl.SSLContext:
    """The far side asks nobody for a certificate."""
    return server_context(CertificateFiles(pki / "serving.crt", pki / "serving.key"))


def _register(server: Server, port: int) -> None:
    """The far side at this port serves the group, and is seen to be there."""
    with server.api() as api:
        external = {"type": "ExternalName", "externalName": "localhost"}
        service = {"metadata": {"name": "far"}, "spec": external}
        assert api.post("/api/v1/namespaces/default/services", service).status == 201
        spec = {
            "group": GROUP,
            "version": "v1",
            "groupPriorityMinimum": 900,
            "versionPriority": 10,
            "service": {"namespace": "default", "name": "far", "port": port},
            "insecureSkipTLSVerify": True,
        }
        assert api.post(APISERVICES, {"metadata": {"name": f"v1.{GROUP}"}, "spec": spec}).status == 201
        eventually(lambda: api.get(f"/apis/{GROUP}/v1").status == 200)


def _watch_much(server: Server, there: Far, rounds: list[asyncio.Event], loop: asyncio.AbstractEventLoop) -> None:
    _register(server, there.port)
    before = server.memory()
    wires = [Wire(server) for _ in range(WATCHES)]
    try:
        for wire in wires:
            wire.send(head(f"GET {ECHOES}?watch=1 HTTP/1.1"))
        for wire in wires:
            assert b"200 OK" in wire.until(b"\r\n\r\n")
        assert server.memory() - before < WATCHES * EACH
        numbers = iter(range(len(rounds)))

        def attack() -> None:
            number = next(numbers)
            loop.call_soon_threadsafe(rounds[number].set)
            for wire in wires:
                assert b'"name":"%d"' % number in wire.until(b'"name":"%d"' % number)

        unharmed(server, attack, worst=1.0)  # the far side and all clients are busy in this one process
    finally:
        for wire in wires:
            wire.close()
    eventually(lambda: server.memory() - before < WATCHES * EACH / 2)


@pytest.mark.slow
def test_a_thousand_watches_go_through_the_front(tmp_path: Path, pki: Path) -> None:
    server = Server(tmp_path / "server", *CONFORMANCE_FLAGS)

    async def scenario() -> None:
        rounds = [asyncio.Event() for _ in range(3)]

        async def watch(request: Request) -> Answer:
            async def stream(writer: StreamWriter) -> None:
                for number, event in enumerate(rounds):
                    await event.wait()
                    writer.write(_EVENT % number)
                await writer.closed()

            return Stream(200, [(b"Content-Type", b"application/json")], stream)

        async with far(pki, watch, identity=_whoever_calls(pki)) as there:
            await asyncio.to_thread(_watch_much, server, there, rounds, asyncio.get_running_loop())

    try:
        run(scenario)
        assert server.is_ready()
    finally:
        server.kill()
