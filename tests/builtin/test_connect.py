"""Subresources that reach through the server: to a kubelet that is not there, and to one that is."""

from __future__ import annotations

import asyncio
import json
import pathlib
from pathlib import Path
from typing import Any

import pytest
from inside import Inside, run, server
from kubelet import certificate, kubelet
from world import PODS, ask, told, world

from pilothouse.serving.http import Response, Stream, Upgrade
from support.measured import Scrape

WIRE = pathlib.Path(__file__).resolve().parents[3] / "shared/facts/wire"
UPGRADE = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1", "X-Stream-Protocol-Version": "v4.channel.k8s.io"}
CLOSED = "dial tcp 127.0.0.1:1: connect: connection refused"
NO_PORT = 'strconv.ParseUint: parsing "x": invalid syntax'
TOO_LITTLE = "Invalid value: 0: must be greater than 0"
CHUNKED = b"Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n4\r\ntwo\n\r\n0\r\n\r\n"
LOGS = "pods/log closed"
GONE = f"the server could not find the requested resource ( {LOGS})"
BROKEN = f'an error on the server ("bad") has prevented the request from succeeding ( {LOGS})'


def recorded() -> list[dict[str, Any]]:
    """What is told of kubelets that do not answer, without WebSockets and other users."""
    if not WIRE.is_dir():
        return []
    rows = json.loads((WIRE / "upgrade.json").read_text())["requests"]
    left_out = ("noroute", "forbidden")  # needs another network; is about rights
    return [row for row in rows if row.get("method") and not any(word in row["name"] for word in left_out)]


@pytest.mark.skipif(not WIRE.is_dir(), reason="the recordings are not here")
def test_what_a_missing_kubelet_means(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            await world(inside)
            for row in recorded():
                status, message = await told(inside, row["method"], row["path"], row["headers"])
                expected = json.loads(row["body"])["message"] if row["body"] else ""
                assert (row["name"], status, message) == (row["name"], row["status"], expected)

    run(test())


@pytest.mark.parametrize(
    ("method", "path", "status", "message"),
    [
        ("POST", "closed/exec?command=ls", 400, "Upgrade request required"),
        ("POST", "none/exec?command=ls", 404, 'pods "none" not found'),
        ("POST", "two/attach", 400, "a container name must be specified for pod two, choose one of: [i a b]"),
        ("POST", "closed/attach?container=z", 400, "container z is not valid for pod closed"),
        ("POST", "pending/portforward", 400, "pod pending does not have a host assigned"),
        ("POST", "closed/portforward?ports=x", 400, f"cannot convert to []int32: {NO_PORT}"),
        ("PUT", "closed/exec", 405, "the server does not allow this method on the requested resource"),
        ("GET", "closed/exec/deeper", 404, "the server could not find the requested resource"),
        ("GET", "closed/log?tailLines=many", 400, 'strconv.ParseInt: parsing "many": invalid syntax'),
        ("GET", "closed/log?limitBytes=0", 422, f'PodLogOptions "closed" is invalid: limitBytes: {TOO_LITTLE}'),
        ("GET", "closed/log", 500, f'Get "https://127.0.0.1:1/containerLogs/wire/closed/a": {CLOSED}'),
        ("GET", "pending/log", 204, ""),
        ("GET", "pending/proxy/", 400, "address not allowed"),
    ],
)  # fmt: skip
def test_refusals(tmp_path: Path, method: str, path: str, status: int, message: str) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            await world(inside)
            assert await told(inside, method, f"{PODS}/{path}") == (status, message)

    run(test())


def test_a_log_is_negotiated_as_if_it_were_an_object(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            await world(inside)
            for accept in ("application/json", "text/plain, */*", "application/yaml", ""):
                assert (await told(inside, "GET", f"{PODS}/pending/log", {"Accept": accept}))[0] == 204
            there_are = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
            for accept, why in (
                ("text/plain", f"only the following media types are accepted: {there_are}"),
                ("text/html", f"406: Not Acceptable\n\nAvailable representations: text/plain, {there_are}"),
            ):
                asked = await told(inside, "GET", f"{PODS}/none/log?tailLines=x", {"Accept": accept})
                assert asked == (406, why)

    run(test())


def test_logs_come_as_the_kubelet_sends_them(tmp_path: Path) -> None:
    async def test() -> None:
        async with kubelet(tmp_path) as there, server(tmp_path) as inside:
            await world(inside, there.port)
            there.answer = b"HTTP/1.1 200 OK\r\n" + CHUNKED
            answer = await ask(inside, "GET", f"{PODS}/closed/log?follow=true&tailLines=3&container=a&timestamps=1")
            assert isinstance(answer, Stream)
            assert await read(answer) == b"one\ntwo\n"
            line = there.heard[0].split(b"\r\n")[0]
            assert line == b"GET /containerLogs/wire/closed/a?follow=true&tailLines=3&timestamps=true HTTP/1.1"
            assert b"admin-token" not in there.heard[0]

    run(test())


async def read(answer: Stream) -> bytes:
    pieces: list[bytes] = []

    class Far:
        buffered = 0

        def write(self, data: bytes) -> None:
            pieces.append(data)

        async def drain(self) -> None: ...

        async def closed(self) -> None: ...

    await answer.run(Far())
    return b"".join(pieces)


@pytest.mark.parametrize(
    ("answer", "status", "message"),
    [
        (b"400 Bad Request\r\nContent-Length: 7\r\n\r\nno prev", 400, "no prev"),
        (b"404 Not Found\r\nContent-Length: 4\r\n\r\ngone", 404, GONE),
        (b"500 Oh\r\nContent-Length: 3\r\n\r\nbad", 500, BROKEN),
    ],
)  # fmt: skip
def test_a_kubelet_that_has_no_logs(tmp_path: Path, answer: bytes, status: int, message: str) -> None:
    async def test() -> None:
        async with kubelet(tmp_path) as there, server(tmp_path) as inside:
            await world(inside, there.port)
            there.answer = b"HTTP/1.1 " + answer
            assert await told(inside, "GET", f"{PODS}/closed/log") == (status, message)

    run(test())


class Ends:
    """The client's end of an upgraded connection: says some words, then listens until as many came back."""

    def __init__(self, *words: bytes) -> None:
        self._words = list(words)
        self._wanted = sum(map(len, words))
        self._all = asyncio.Event()
        self.heard = b""

    gone = False

    async def receive(self) -> bytes:
        if self._words:
            return self._words.pop(0)
        await self._all.wait()
        return b""

    async def send(self, data: bytes) -> None:
        self.heard += data
        if len(self.heard) >= self._wanted:
            self._all.set()

    def end(self) -> None:
        self._all.set()

    def abort(self) -> None:
        self._all.set()


def test_exec_is_a_bare_connection_to_the_kubelet(tmp_path: Path) -> None:
    async def test() -> None:
        async with kubelet(tmp_path) as there, server(tmp_path) as inside:
            await world(inside, there.port)
            there.answer = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\n\r\n"
            path = f"{PODS}/closed/exec?command=sh&command=-c&command=echo%20%26&stdin=true&stdout=1&tty=1&unknown=1"
            answer = await ask(inside, "POST", path, {**UPGRADE, "X-Custom": "1", "X-Forwarded-For": "203.0.113.9"})
            assert isinstance(answer, Upgrade)
            assert answer.status == 101
            front = Ends(b"hello ", b"there")
            await asyncio.wait_for(answer.run(front), 10)
            assert front.heard == b"HELLO THERE"
            head = there.heard[0].decode().split("\r\n")
            assert (
                head[0]
                == "POST /exec/wire/closed/a?command=sh&command=-c&command=echo+%26&input=1&output=1&tty=1 HTTP/1.1"
            )
            names = {line.partition(": ")[0].lower(): line.partition(": ")[2] for line in head[1:] if line}
            assert names["host"] == "localhost:6443"
            assert names["x-forwarded-for"] == "203.0.113.9, 127.0.0.1"
            assert names["x-custom"] == "1"
            assert "authorization" not in names

    run(test())


def test_a_kubelet_that_will_not_is_passed_on(tmp_path: Path) -> None:
    async def test() -> None:
        async with kubelet(tmp_path) as there, server(tmp_path) as inside:
            await world(inside, there.port)
            there.answer = b"HTTP/1.1 418 Teapot\r\nX-Node: yes\r\nContent-Length: 9\r\n\r\nno coffee"
            answer = await ask(inside, "POST", f"{PODS}/closed/portforward?ports=80&ports=443", UPGRADE)
            assert isinstance(answer, Response)
            assert (answer.status, answer.body) == (418, b"no coffee")
            assert (b"X-Node", b"yes") in answer.headers
            assert there.heard[0].startswith(b"POST /portForward/wire/closed?port=80%2C443 HTTP/1.1\r\n")

    run(test())


def test_kubelets_are_verified_where_an_authority_is_named(tmp_path: Path) -> None:
    async def test() -> None:
        good, other = tmp_path / "good.crt", tmp_path / "other.crt"
        good.write_bytes(certificate()[0])
        other.write_bytes(certificate.__wrapped__()[0])
        for authority, status in ((good, 200), (other, 500)):
            async with kubelet(tmp_path) as there, server(tmp_path, kubelet_certificate_authority=authority) as inside:
                await world(inside, there.port)
                answer = await ask(inside, "GET", f"{PODS}/closed/log")
                assert answer.status == status
                told = Scrape((await inside.send("GET", "/metrics")).body)
                assert told.value("kube_apiserver_pod_logs_insecure_backend_total", usage="enforce_tls") == 1
                assert told.value("kube_apiserver_pod_logs_backend_tls_failure_total") == (status == 500)
                if authority is other:
                    await ask(inside, "GET", f"{PODS}/closed/log?insecureSkipTLSVerifyBackend=true")
                    told = Scrape((await inside.send("GET", "/metrics")).body)
                    assert told.value("kube_apiserver_pod_logs_insecure_backend_total", usage="skip_tls_allowed") == 1
                    assert told.value("kube_apiserver_pod_logs_backend_tls_failure_total") == 1

    run(test())


# Proxies


async def slice_for(inside: Inside, service: str, *addresses: str) -> None:
    endpoints = [{"addresses": [address]} for address in addresses]
    body = {
        "metadata": {"name": service, "labels": {"kubernetes.io/service-name": service}},
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": 8080}],
        "endpoints": endpoints,
    }
    await inside.make("/apis/discovery.k8s.io/v1/namespaces/wire/endpointslices", body)


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("services/none/proxy/", 503, 'no endpoints available for service "none"'),
        ("services/ftp:a:http/proxy/", 400, 'invalid service request "ftp:a:http"'),
        ("services/a:b:c:d/proxy/", 400, 'invalid service request "a:b:c:d"'),
        ("services/here:other/proxy/", 503, 'no endpoints available for service "here"'),
    ],
)
def test_a_service_that_leads_nowhere(tmp_path: Path, path: str, status: int, message: str) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            await world(inside)
            await slice_for(inside, "here", "10.1.2.3")
            assert await told(inside, "GET", f"/api/v1/namespaces/wire/{path}") == (status, message)

    run(test())


def test_what_is_proxied_begins_at_a_slash(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            await world(inside)
            await slice_for(inside, "here", "10.1.2.3")
            answer = await ask(inside, "GET", "/api/v1/namespaces/wire/services/here:http/proxy?q=1")
            assert answer.status == 301
            assert (b"Location", b"/api/v1/namespaces/wire/services/here:http/proxy/?q=1") in answer.headers

    run(test())


def test_the_servers_own_addresses_are_not_for_proxies(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            await world(inside)
            assert await told(inside, "GET", "/api/v1/nodes/wire-closed/proxy/healthz") == (400, "address not allowed")
            assert (await told(inside, "GET", "/api/v1/nodes/none/proxy/healthz"))[0] == 404

    run(test())
