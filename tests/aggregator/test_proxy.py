"""Requests that go through the front to extension servers, and what comes back when those misbehave."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilothouse.aggregator.identity import Rewriter
from pilothouse.registry.request import Caller
from pilothouse.serving.http import Answer, Request, Response, Stream, StreamWriter, Upgrade

from .support import GROUP, TEXT, Far, bundle, echo, far, front, make_pki, run, until

ECHOES = f"/apis/{GROUP}/v1/namespaces/default/echoes"


def headers_of(told: dict[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in told["headers"]:
        found.setdefault(name, []).append(value)
    return found


def test_the_far_side_learns_who_asks_and_no_secrets(tmp_path: Path, pki: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki) as there:
            await here.available(await here.register(there))
            told = json.loads(
                (
                    await here.call(
                        "POST",
                        f"{ECHOES}/a%20b/?x=1&x=%2F",
                        b"not json",
                        user="alice",
                        Content_Type="application/strange",
                        X_Remote_User="mallory",
                        X_Remote_Group="system:masters",
                        X_Remote_Extra_Scopes="all",
                        X_Forwarded_For="10.9.9.9",
                        X_Forwarded_Host="evil",
                        Connection="keep-alive, X-Private",
                        X_Private="hop",
                        X_Kept="yes",
                    )
                )[2]
            )
            found = headers_of(told)
            assert (told["method"], told["path"], told["query"]) == ("POST", f"{ECHOES}/a%20b/", "x=1&x=%2F")
            assert told["body"] == "not json"
            assert found["x-remote-user"] == ["alice"] and found["x-remote-uid"] == ["alice-uid"]
            assert sorted(found["x-remote-group"]) == ["developers", "system:authenticated", "testers"]
            assert found["x-forwarded-for"] == ["10.9.9.9, 127.0.0.1"]
            assert found["x-forwarded-host"] == [f"localhost:{there.port}"] == found["host"]
            assert found["x-forwarded-uri"] == [f"{ECHOES}/a%20b/"] and found["x-forwarded-proto"] == ["https"]
            assert found["content-type"] == ["application/strange"] and found["x-kept"] == ["yes"]
            assert not found.keys() & {"authorization", "x-remote-extra-scopes", "x-private", "connection"}

    run(scenario)


def test_answers_come_back_as_they_are(tmp_path: Path, pki: Path) -> None:
    async def answer(request: Request) -> Answer:
        last = request.path.rpartition("/")[2]
        if last == "moved":
            return Response(307, [(b"Location", b"https://elsewhere/")], b"")
        if last == "unchanged":
            return Response(304, [])
        if last == "large":
            return Response(200, list(TEXT), b"x" * 3_000_000)
        return Response(418, [(b"Content-Type", b"text/x"), (b"X-Own", b"1"), (b"Keep-Alive", b"9")], b"teapot")

    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki, answer) as there:
            await here.available(await here.register(there))
            status, headers, body = await here.call("GET", ECHOES)
            assert (status, body, headers["content-type"], headers["x-own"]) == (418, b"teapot", "text/x", "1")
            assert "audit-id" in headers and "keep-alive" not in headers
            assert (await here.call("HEAD", ECHOES))[::2] == (418, b"")
            for name in ("moved", "unchanged"):
                status, headers, body = await here.call("GET", f"{ECHOES}/{name}")
                assert status == 502 and body.startswith(b"the backend attempted to redirect")
            status, headers, body = await here.call("GET", f"{ECHOES}/large")
            assert status == 200 and len(body) == 3_000_000

    run(scenario)


def test_large_bodies_stream_both_ways(tmp_path: Path, pki: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki) as there:
            await here.available(await here.register(there))
            _, _, body = await here.call("POST", ECHOES, b"x" * 5_000_000)
            assert json.loads(body)["body"] == 5_000_000
            wire = await here.wire()
            wire.send(f"POST {ECHOES} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer admin-token\r\n".encode())
            wire.send(b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
            await until(lambda: len(there.seen) == 2)  # the far side has the request before its body is whole
            wire.send(b"2\r\nde\r\n0\r\n\r\n")
            _, body = await wire.answer()
            assert json.loads(body)["body"] == "abcde"
            wire.close()

    run(scenario)


def test_events_come_at_once_and_the_end_of_either_side_reaches_the_other(tmp_path: Path, pki: Path) -> None:
    events: asyncio.Queue[bytes] = asyncio.Queue()
    ends: list[str] = []

    async def watch(request: Request) -> Answer:
        async def stream(writer: StreamWriter) -> None:
            try:
                while event := await events.get():
                    writer.write(event)
            finally:
                ends.append(request.query)

        return Stream(200, [(b"Content-Type", b"application/json")], stream)

    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki, watch) as there:
            await here.available(await here.register(there))
            wire = await here.wire()
            auth = "Authorization: Bearer admin-token\r\n"
            wire.send(f"GET {ECHOES}?watch=1&n=1 HTTP/1.1\r\nHost: a\r\n{auth}\r\n".encode())
            await wire.until(b"\r\n\r\n")
            for number in range(3):
                events.put_nowait(b"event%d" % number)
                assert await wire.until(b"event%d\r\n" % number)
            events.put_nowait(b"")
            await wire.until(b"0\r\n\r\n")
            wire.send(f"GET {ECHOES}?watch=1&n=2 HTTP/1.1\r\nHost: a\r\n{auth}\r\n".encode())
            await wire.until(b"\r\n\r\n")
            wire.abort()
            await until(lambda: "watch=1&n=2" in ends)

    run(scenario)


def test_a_client_that_does_not_read_holds_the_far_side_up_and_no_memory(tmp_path: Path, pki: Path) -> None:
    sent = 0

    async def flood(request: Request) -> Answer:
        async def stream(writer: StreamWriter) -> None:
            nonlocal sent
            while True:
                writer.write(b"x" * 65536)
                sent += 65536
                await writer.drain()

        return Stream(200, list(TEXT), stream)

    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki, flood) as there:
            await here.available(await here.register(there))
            wire = await here.wire()
            wire.writer.transport.pause_reading()
            auth = "Authorization: Bearer admin-token\r\n"
            wire.send(f"GET {ECHOES}?watch=1 HTTP/1.1\r\nHost: a\r\n{auth}\r\n".encode())
            before = -1
            while sent != before or not sent:
                before = sent
                await asyncio.sleep(0.1)
            assert sent < 32 << 20  # sockets of four ends, and little in between
            wire.abort()

    run(scenario)


def test_upgraded_connections_are_passed_on_with_early_bytes_and_halves(tmp_path: Path, pki: Path) -> None:
    async def mirror(request: Request) -> Answer:
        async def back(connection: Any) -> None:
            while data := await connection.receive():
                await connection.send(data.upper())
            await connection.send(b"bye")
            connection.end()

        if request.header(b"upgrade") != "mirror":
            return Response(400, list(TEXT), b"no upgrade")
        return Upgrade(101, [(b"Connection", b"Upgrade"), (b"Upgrade", b"mirror"), (b"X-Own", b"1")], back)

    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki, mirror) as there:
            await here.available(await here.register(there))
            head = f"GET {ECHOES}/a/tunnel HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer admin-token\r\n"
            wire = await here.wire()
            wire.send(f"{head}Connection: Upgrade\r\nUpgrade: mirror\r\n\r\nearly".encode())
            answer = await wire.until(b"\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 101 ") and b"X-Own: 1" in answer
            assert await wire.until(b"EARLY")
            wire.send(b"and late")
            assert await wire.until(b"AND LATE")
            wire.writer.write_eof()
            assert await wire.rest() == b"bye"
            wire = await here.wire()
            wire.send(f"{head}Connection: Upgrade\r\nUpgrade: other\r\n\r\n".encode())
            answer, body = await wire.answer()
            assert answer.startswith(b"HTTP/1.1 400 ") and body == b"no upgrade"

    run(scenario)


def test_a_tunnel_ends_when_the_far_side_is_gone(tmp_path: Path, pki: Path) -> None:
    async def drop(request: Request) -> Answer:
        async def back(connection: Any) -> None:
            await connection.receive()
            connection.abort()

        return Upgrade(101, [(b"Connection", b"Upgrade"), (b"Upgrade", b"x")], back)

    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki, drop) as there:
            await here.available(await here.register(there))
            wire = await here.wire()
            head = f"GET {ECHOES}/a/tunnel HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer admin-token\r\n"
            wire.send(f"{head}Connection: Upgrade\r\nUpgrade: x\r\n\r\n".encode())
            await wire.until(b"\r\n\r\n")
            wire.send(b"!")
            assert await wire.rest() == b""

    run(scenario)


async def _misbehave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A server that is bad in the way that the path says."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        how = head.split(b" ")[1].partition(b"?")[0].rpartition(b"/")[2]
        discovery = b'{"kind":"APIResourceList","groupVersion":"x/v1","resources":[]}'
        if how == b"v1":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(discovery), discovery))
        elif how == b"reset":
            writer.transport.abort()
        elif how == b"garbage":
            writer.write(b"\x00\xff\x13garbage\r\n\r\n")
        elif how == b"headers":
            writer.write(b"HTTP/1.1 200 OK\r\nX: " + b"y" * (10 << 20) + b"\r\n\r\n")
        elif how == b"half":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\nhalf")
            await writer.drain()
            await asyncio.sleep(0.05)
        elif how == b"hang":
            await asyncio.sleep(30)
        await writer.drain()
        writer.close()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass


def test_bad_servers_are_told_apart_and_hurt_nobody_else(tmp_path: Path, pki: Path) -> None:
    from serving.support import server_side

    async def scenario() -> None:
        bad = await asyncio.start_server(_misbehave, "127.0.0.1", 0, ssl=server_side(pki))
        port = bad.sockets[0].getsockname()[1]
        async with bad, front(tmp_path) as here, far(pki, group="good.example.com") as good:
            await here.available(await here.register(good, "good.example.com"))
            stand_in = Far(echo)
            stand_in.port = port
            await here.available(await here.register(stand_in))
            expected = {
                "reset": (503, b"error trying to reach service: "),
                "garbage": (503, b"error trying to reach service: malformed HTTP response"),
                "headers": (503, b"error trying to reach service: the head of the answer is longer than"),
                "hang?timeout=300ms": (504, b'{"metadata":{},"status":"Failure","message":"Timeout:'),
            }
            for how, (status, begins) in expected.items():
                answer = await here.call("GET", f"{ECHOES}/{how}")
                assert answer[0] == status and answer[2].startswith(begins), (how, answer)
                fine = await here.get("/apis/good.example.com/v1/namespaces/default/echoes")
                assert fine["method"] == "GET"
            wire = await here.wire()
            wire.send(f"GET {ECHOES}/half HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer admin-token\r\n\r\n".encode())
            rest = await wire.rest()
            assert b"half" in rest and not rest.endswith(b"0\r\n\r\n")  # the client can tell that this was not all

    run(scenario)


def test_connections_to_the_far_side_are_kept_but_not_for_ever_many(tmp_path: Path, pki: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki) as there:
            await here.available(await here.register(there))
            for _ in range(20):
                await here.get(ECHOES)
            assert there.edge.connections <= 4  # those of the proxy and of the checks
            await asyncio.gather(*(here.get(ECHOES) for _ in range(80)))
            await until(lambda: there.edge.connections <= 34)

    run(scenario)


def test_trust_follows_the_api_service(tmp_path: Path, pki: Path) -> None:
    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki) as there:
            name = await here.register(there, caBundle=bundle(pki))
            condition = await here.condition(name, "FailedDiscoveryCheck")
            assert "certificate is valid for localhost, not far-" in condition["message"]
            assert (await here.call("GET", ECHOES))[0] == 503
            path = f"/apis/apiregistration.k8s.io/v1/apiservices/{name}"
            patch = {"spec": {"caBundle": None, "insecureSkipTLSVerify": True}}
            status, _, _ = await here.call("PATCH", path, patch, Content_Type="application/merge-patch+json")
            assert status == 200
            await here.available(name)
            assert (await here.call("GET", ECHOES))[0] == 200

    run(scenario)


def test_the_client_certificate_is_shown(tmp_path: Path, pki: Path) -> None:
    async def shown(request: Request) -> Answer:
        return Response(200, list(TEXT), b"shown" if request.origin.certificate else b"none")

    async def scenario() -> None:
        files = {"proxy_client_cert_file": pki / "admin.crt", "proxy_client_key_file": pki / "admin.key"}
        async with front(tmp_path, **files) as here, far(pki, shown) as there:
            await here.available(await here.register(there))
            assert (await here.call("GET", ECHOES))[2] == b"shown"

    run(scenario)


def test_a_changed_client_certificate_is_shown_from_then_on(tmp_path: Path, pki: Path) -> None:
    shown: list[bytes | None] = []

    async def note(request: Request) -> Answer:
        shown.append(request.origin.certificate)
        return Response(200, list(TEXT), b"")

    async def scenario() -> None:
        chain, key = tmp_path / "client.crt", tmp_path / "client.key"
        for file in (chain, key):
            file.write_bytes((pki / f"admin{file.suffix}").read_bytes())
        files = {"proxy_client_cert_file": chain, "proxy_client_key_file": key}
        async with front(tmp_path, **files) as here, far(pki, note) as there:
            await here.available(await here.register(there))
            await here.call("GET", ECHOES)
            aggregator = here.application.front.aggregator
            aggregator.refresh_certificate()
            await here.call("GET", ECHOES)
            assert shown[0] == shown[1]
            shutil.copytree(pki, tmp_path / "again")
            again = make_pki(tmp_path / "again")  # the same CA, another certificate
            for file in (chain, key):
                file.write_bytes((again / f"admin{file.suffix}").read_bytes())
            aggregator.refresh_certificate()
            await here.call("GET", ECHOES)
            assert shown[2] != shown[1]
            key.write_bytes(b"rubbish")
            aggregator.refresh_certificate()
            status, _, body = await here.call("GET", ECHOES)
            assert status == 503 and b"error trying to reach service" in body

    run(scenario)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    b"x-remote-user",
                    b"x-remote_user",
                    b"x_remote_group",
                    b"x-remote-extra-a",
                    b"x_remote_extra_b",
                    b"impersonate-user",
                    b"authorization",
                    b"connection",
                    b"x-kept",
                    b"host",
                    b"transfer-encoding",
                ]
            ),
            st.sampled_from([b"mallory", b"x-kept", b"close, x-other", b""]),
        ),
        max_size=6,
    )
)
def test_no_header_of_a_client_names_a_caller(headers: list[tuple[bytes, bytes]]) -> None:
    caller = Caller("alice", "u", ("g",))
    lines = Rewriter()(tuple(headers), "10.0.0.1", caller, b"far:443").lines.decode().lower().split("\r\n")
    named = [line.replace("_", "-") for line in lines if line.replace("_", "-").startswith(("x-remote", "impersonate"))]
    assert named == ["x-remote-user: alice", "x-remote-uid: u", "x-remote-group: g"]
    assert [line for line in lines if line.startswith("host:")] == ["host: far:443"]
    assert not [line for line in lines if line.startswith(("authorization", "transfer-encoding", "connection"))]


def test_what_is_not_proxied_is_not_slower_for_it(tmp_path: Path, pki: Path) -> None:
    """Paths that only look like those of an API service stay with this server."""

    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki) as there:
            await here.available(await here.register(there))
            for path in (f"/apis/{GROUP}/v2/echoes", f"/api/{GROUP}/v1", f"/x/apis/{GROUP}/v1", f"/apis/{GROUP}x/v1/a"):
                assert (await here.call("GET", path))[0] == 404
            assert there.seen == []

    run(scenario)


def test_a_slow_request_tells_what_it_waited_for(tmp_path: Path, pki: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def slow(request: Request) -> Answer:
        await asyncio.sleep(0.7)
        return Response(200, list(TEXT), b"at last")

    async def scenario() -> None:
        async with front(tmp_path) as here, far(pki, slow) as there:
            await here.available(await here.register(there))
            assert (await here.call("GET", ECHOES))[0] == 200

    with caplog.at_level(logging.WARNING):
        run(scenario)
    (line,) = [line for line in caplog.messages if line.startswith(f"slow: GET {ECHOES} by admin took")]
    assert re.search(r"; waited about [0-9]+ ms in .*aggregator/proxy.py _pass_on > serving/client.py call", line), line
