"""Ways to servers behind the front: endpoints instead of a cluster address, WebSockets, connections given up."""

from __future__ import annotations

import asyncio
import http
import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest
import websockets.asyncio.client
import websockets.asyncio.server
from websockets.datastructures import Headers
from websockets.http11 import Request as Asked
from websockets.http11 import Response as Told

from pilothouse.serving.client import Client, Destination
from pilothouse.serving.dialing import client_tls
from pilothouse.serving.http import Request, Response

from .support import APISERVICES, GROUP, TEXT, Far, Front, Object, far, front, run, server_side, serving, until

ECHOES = f"/apis/{GROUP}/v1/namespaces/default/echoes"
HOST = [(b"Host", b"far")]


async def register(here: Front, port: int, **slices: Object) -> str:
    """An API service of a Service with a cluster address that leads nowhere, and endpoint slices."""
    ports = [{"name": "https", "port": 443, "targetPort": port}]
    service = {"metadata": {"name": "far"}, "spec": {"clusterIP": "10.0.0.77", "ports": ports}}
    await here.make("/api/v1/namespaces/default/services", service)
    for name, endpoint in slices.items():
        labels = {"kubernetes.io/service-name": "far"}
        one = {"metadata": {"name": name, "labels": labels}, "addressType": "IPv4", "endpoints": [endpoint]}
        ported = {**one, "ports": [{"name": "https", "port": port}]}
        await here.make("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", ported)
    spec = {
        "group": GROUP,
        "version": "v1",
        "groupPriorityMinimum": 900,
        "versionPriority": 10,
        "insecureSkipTLSVerify": True,
        "service": {"namespace": "default", "name": "far"},
    }
    await here.make(APISERVICES, {"metadata": {"name": f"v1.{GROUP}"}, "spec": spec})
    return f"v1.{GROUP}"


def own_address() -> str:
    """An address of this machine that other machines could use: slices take no others."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(("192.0.2.1", 9))  # nothing is sent
        except OSError:
            pytest.skip("this machine has no network")
        return str(asking.getsockname()[0])


def test_requests_go_to_the_endpoints_where_that_is_asked_for(tmp_path: Path, pki: Path) -> None:
    """As with --enable-aggregator-routing, for a server that is not on the network of the cluster."""
    address = own_address()
    ready = {"addresses": [address], "conditions": {"ready": True}}
    away = {"addresses": ["192.0.2.1"], "conditions": {"ready": False}}

    async def scenario() -> None:
        routed = {"enable_aggregator_routing": True, "service_cluster_ip_range": "10.0.0.0/24"}
        async with front(tmp_path, **routed) as here, far(pki, host=address) as there:
            name = await register(here, there.port, away=away, ready=ready)
            await here.available(name)
            assert (await here.get(ECHOES))["path"] == ECHOES
            slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
            await here.call("DELETE", f"{slices}/ready")
            await here.condition(name, "MissingEndpoints")
            status, _, body = await here.call("GET", ECHOES)
            assert (status, body) == (503, b"service unavailable\n")

    run(scenario)


def test_a_websocket_reaches_a_server_behind_the_front(tmp_path: Path, pki: Path) -> None:
    def discovery(connection: websockets.asyncio.server.ServerConnection, asked: Asked) -> Told | None:
        if "Upgrade" in asked.headers:
            return None
        body = json.dumps(Far(lambda request: None).discovery()).encode()  # type: ignore[arg-type, return-value]
        headers = Headers({"Content-Type": "application/json", "Content-Length": str(len(body))})
        return Told(http.HTTPStatus.OK.value, "OK", headers, body)

    async def repeat(connection: websockets.asyncio.server.ServerConnection) -> None:
        assert connection.request is not None
        await connection.send(connection.request.headers["X-Remote-User"])
        async for message in connection:
            await connection.send(message)

    async def scenario() -> None:
        context = server_side(pki)
        behind = websockets.asyncio.server.serve(
            repeat, "127.0.0.1", 0, ssl=context, process_request=discovery, subprotocols=["echo"]  # type: ignore[list-item]
        )  # fmt: skip
        async with front(tmp_path) as here, behind as server:
            stand_in = Far(lambda request: None)  # type: ignore[arg-type, return-value]
            stand_in.port = next(iter(server.sockets)).getsockname()[1]
            await here.available(await here.register(stand_in))
            url = f"ws://127.0.0.1:{here.edge.port}{ECHOES}/a/talk"
            headers = {"Authorization": "Bearer alice-token"}
            async with websockets.asyncio.client.connect(
                url, additional_headers=headers, subprotocols=["echo"], compression=None, proxy=None  # type: ignore[list-item]
            ) as talk:  # fmt: skip
                assert talk.subprotocol == "echo"
                assert await talk.recv() == "alice"
                for message in ("hello", b"\x00" * 200_000, ""):
                    await talk.send(message)
                    assert await talk.recv() == message

    run(scenario)


def test_connections_of_a_trust_that_is_over_end_with_their_answer(pki: Path) -> None:
    async def hello(request: Request) -> Response:
        if request.path == "/slow":
            began.set()
            await go_on.wait()
        return Response(200, list(TEXT), b"hello")

    began, go_on = asyncio.Event(), asyncio.Event()

    async def scenario() -> None:
        async with serving(hello, pki=pki) as served:
            client, tls = Client(), client_tls("", careless=True)
            here = Destination("127.0.0.1", served.edge.port, tls)
            other = here._replace(tls=replace(tls))
            for destination in (here, other):
                await (await client.call(destination, "GET", b"/", HOST)).read(10)
            slow = asyncio.create_task(client.call(here, "GET", b"/slow", HOST))
            await began.wait()
            client.forget(tls)
            go_on.set()
            assert await (await slow).read(10) == b"hello"
            await until(lambda: served.edge.connections == 1)
            assert await (await client.call(other, "GET", b"/", HOST)).read(10) == b"hello"
            assert served.edge.connections == 1
            client.close()

    run(scenario)


def test_connections_that_wait_for_long_are_closed(pki: Path) -> None:
    async def hello(request: Request) -> Response:
        return Response(200, list(TEXT), b"hello")

    async def scenario() -> None:
        async with serving(hello) as served:
            client = Client()
            pool = client.pool(Destination("127.0.0.1", served.edge.port))
            both = await asyncio.gather(*(pool.call("GET", b"/", HOST) for _ in range(2)))
            assert [await one.read(10) for one in both] == [b"hello"] * 2
            now = asyncio.get_running_loop().time()
            assert pool.sweep(now - 60.0)
            assert served.edge.connections == 2
            assert not pool.sweep(now)
            await until(lambda: served.edge.connections == 0)
            client.close()

    run(scenario)
