"""What passing a request on costs: CPU time of the front's process, against that of a request it answers itself."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from pilothouse.serving.client import Client, Destination
from pilothouse.serving.dialing import client_tls
from pilothouse.serving.http import Request, Response
from support.server import ADMIN, CONFORMANCE_FLAGS, Server

from .support import APISERVICES, GROUP, Object, far

RATIO = 1.5  # as demanded
TRIES = 6
BLOCKS = 30  # of each kind, in turn
CLIENTS = 16
REQUESTS = 64  # of a block
DIRECT = "/api/v1/namespaces/default"
PROXIED = f"/apis/{GROUP}/v1/namespaces/default/echoes/x"
_SCHEDSTAT = Path("/proc/self/schedstat")


class Bench:
    """Clients of a front in a process of its own; the server behind is in this process, as the clients are."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._client = Client()
        self._at = Destination("127.0.0.1", server.port, client_tls("", careless=True))
        self.body = b""

    def cpu(self) -> float:
        """Seconds of all threads of the front."""
        stats = Path(f"/proc/{self._server.pid}/task").glob("*/schedstat")
        return sum(int(one.read_text().split()[0]) for one in stats) / 1e9

    async def get(self, path: str) -> int:
        answered = await self._client.call(self._at, "GET", path.encode(), self._headers())
        self.body = await answered.read(1 << 20)
        return answered.status

    async def make(self, path: str, obj: Object) -> None:
        headers = [*self._headers(), (b"Content-Type", b"application/json")]
        answered = await self._client.call(self._at, "POST", path.encode(), headers, json.dumps(obj).encode())
        assert answered.status == 201, await answered.read(1 << 20)
        await answered.read(1 << 20)

    def _headers(self) -> list[tuple[bytes, bytes]]:
        return [
            (b"Host", b"front"),
            (b"User-Agent", b"bench"),
            (b"Accept", b"application/json"),
            (b"Authorization", f"Bearer {ADMIN}".encode()),
        ]

    async def block(self, path: str, requests: int = REQUESTS) -> float:
        """CPU seconds of the front for one request."""
        left = requests

        async def client() -> None:
            nonlocal left
            while left > 0:
                left -= 1
                assert await self.get(path) == 200

        before = self.cpu()
        await asyncio.gather(*(client() for _ in range(CLIENTS)))
        return (self.cpu() - before) / requests

    async def ratio(self) -> float:
        """Other work on the machine only ever adds to a block, so the least of each kind is nearest to the truth."""
        pairs = [(await self.block(DIRECT), await self.block(PROXIED)) for _ in range(BLOCKS)]
        return min(proxied for _, proxied in pairs) / min(direct for direct, _ in pairs)

    def close(self) -> None:
        self._client.close()


@pytest.mark.slow
@pytest.mark.skipif(not _SCHEDSTAT.exists(), reason="the system does not tell the CPU time of processes exactly")
def test_a_proxied_read_costs_less_than_half_more(tmp_path: Path, pki: Path) -> None:
    shown = ("--proxy-client-cert-file", str(pki / "admin.crt"), "--proxy-client-key-file", str(pki / "admin.key"))
    server = Server(tmp_path, *CONFORMANCE_FLAGS, *shown)
    answer = Response(200, [(b"Content-Type", b"application/json"), (b"Cache-Control", b"no-cache, private")])

    async def named(request: Request) -> Response:
        return answer

    async def scenario() -> list[float]:
        async with far(pki, named) as there:
            bench = Bench(server)
            try:
                return await measured(bench, answer, there.port)
            finally:
                bench.close()

    try:
        ratios = asyncio.run(scenario())
    finally:
        server.stop()
    print("a proxied read costs", ", ".join(f"{ratio:.2f}" for ratio in ratios), "times a direct one")
    if min(ratios) >= RATIO and os.getloadavg()[0] > (os.cpu_count() or 1) + 1:
        pytest.skip(f"others need this machine too much to measure anything: {min(ratios):.2f}")
    assert min(ratios) < RATIO


async def measured(bench: Bench, answer: Response, port: int) -> list[float]:
    """Ratios, until one is as demanded. `answer`: that of the server behind."""
    assert await bench.get(DIRECT) == 200
    answer.body = bench.body  # both kinds of answers are of one size
    await register(bench, port)
    for path in (DIRECT, PROXIED):
        await bench.block(path)
    ratios: list[float] = []
    while len(ratios) < TRIES and not any(ratio < RATIO for ratio in ratios):
        ratios.append(await bench.ratio())
    return ratios


async def register(bench: Bench, port: int) -> None:
    """An API service of the server behind, available."""
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "far"},
        "spec": {"type": "ExternalName", "externalName": "localhost"},
    }
    await bench.make("/api/v1/namespaces/default/services", service)
    spec = {
        "group": GROUP,
        "version": "v1",
        "groupPriorityMinimum": 900,
        "versionPriority": 10,
        "insecureSkipTLSVerify": True,
        "service": {"namespace": "default", "name": "far", "port": port},
    }
    kind = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": f"v1.{GROUP}"}}
    await bench.make(APISERVICES, {**kind, "spec": spec})
    async with asyncio.timeout(20):
        while await bench.get(PROXIED) != 200:
            await asyncio.sleep(0.01)
