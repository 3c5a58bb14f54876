"""Connections that stall, lie about their requests, or go away in the middle: they cost little and end."""

from __future__ import annotations

import socket
import ssl
import time
from pathlib import Path

import pytest

from support.api import Api
from support.canary import unharmed
from support.server import ADMIN, CONFORMANCE_FLAGS, Server, eventually
from support.wire import Wire, exchange, head, statuses

VERSION = "GET /version HTTP/1.1"
MEGABYTE = 1 << 20


def test_connections_that_say_nothing_cost_little(target: Server) -> None:
    before = target.memory()
    silent: list[socket.socket] = []

    def attack() -> None:
        for _ in range(300):
            silent.append(socket.create_connection(("127.0.0.1", target.port)))
        for plain in silent[:100]:
            plain.send(b"\x16\x03\x01\x02\x00\x01")  # a handshake that begins and stops
        time.sleep(0.2)  # while the canary sings

    try:
        unharmed(target, attack)
        assert target.memory() - before < len(silent) * 100_000
    finally:
        for plain in silent:
            plain.close()


def test_half_sent_heads_and_bodies_do_not_hold_up_others(target: Server) -> None:
    wires: list[Wire] = []

    def attack() -> None:
        for number in range(60):
            wire = Wire(target)
            wires.append(wire)
            if number % 2:
                wire.send(b"GET /version HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            else:
                length, kind = "Content-Length: 1000", "Content-Type: application/json"
                wire.send(head("POST /api/v1/namespaces/default/configmaps HTTP/1.1", length, kind) + b"{")
        for wire in wires:
            wire.send(b"x")

    try:
        unharmed(target, attack)
    finally:
        for wire in wires:
            wire.close()


@pytest.mark.slow
def test_a_head_that_never_ends_is_given_up(target: Server) -> None:
    with Wire(target, timeout=60.0) as wire:
        began = time.monotonic()
        wire.send(b"GET /version HTTP/1.1\r\nHost: ")
        assert statuses(wire.rest()) in ([], [408])
        assert time.monotonic() - began < 45


def test_clients_that_vanish_leave_nothing(target: Server) -> None:
    """The connection is cut in each state a request can be in."""
    for number in range(90):
        wire = Wire(target)
        if number % 3 == 0:
            wire.send(head("GET /api/v1/pods?watch=1 HTTP/1.1"))
            wire.until(b"\r\n\r\n")
        elif number % 3 == 1:
            wire.send(head("POST /api/v1/namespaces/default/configmaps HTTP/1.1", "Content-Length: 100") + b"{")
        else:
            wire.send(head(VERSION) * 20)
        wire._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")  # close by reset
        wire.close()
    eventually(lambda: open_sockets(target) <= 5)


def open_sockets(server: Server) -> int:
    """Established connections to the server's port, as the system counts them."""
    count = 0
    with open("/proc/net/tcp") as table:
        for line in list(table)[1:]:
            local, state = line.split()[1], line.split()[3]
            count += local.endswith(f":{server.port:04X}") and state == "01"
    return count


@pytest.mark.parametrize(
    "lines",
    [
        ["Content-Length: 5", "Transfer-Encoding: chunked"],
        ["Content-Length: 5", "Content-Length: 6"],
        ["Content-Length: 5, 6"],
        ["Content-Length: +5"],
        ["Content-Length: 0x5"],
        ["Content-Length: 5 5"],
        ["Content-Length: -1"],
        ["Content-Length: 99999999999999999999999"],
        ["Transfer-Encoding: xchunked"],
        ["Transfer-Encoding: chunked, identity"],
        ["Transfer-Encoding: identity, chunked"],
        ["Transfer-Encoding : chunked"],
        [" Transfer-Encoding: chunked"],
        ["Transfer-Encoding:\x0bchunked"],
        ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
        ["X: a\0b"],
        ["X: a\rb"],
        ["X: a\nContent-Length: 5"],
        ["X Y: z"],
        [": z"],
        ["Host: other", "Host: third"],
    ],
)
def test_what_two_servers_might_read_differently_is_refused(target: Server, lines: list[str]) -> None:
    """The bytes behind the head look like a request; it must never be answered."""
    hidden = head("GET /api/v1/namespaces HTTP/1.1")
    answer = exchange(target, head("POST /version HTTP/1.1", *lines) + b"0\r\n\r\n" + hidden)
    assert statuses(answer) in ([400], [501], []), answer[:500]
    assert b"NamespaceList" not in answer


@pytest.mark.parametrize(
    "body",
    [
        b"5\r\nhello\r\n0\r\n",  # never ends
        b"+5\r\nhello\r\n0\r\n\r\n",
        b"0x5\r\nhello\r\n0\r\n\r\n",
        b"5\nhello\n0\n\n",
        b"5;a=\0\r\nhello\r\n0\r\n\r\n",
        b"5\r\nhelloXX0\r\n\r\n",
        b"-1\r\n\r\n",
        b"FFFFFFFFFFFFFFFFF\r\n",
        b"5" + b";x" * 20000 + b"\r\nhello\r\n0\r\n\r\n",
        b"0\r\n" + b"T: v\r\n" * 20000,
        b"1\r\n{\r\n" * 20000 + b"0\r\n\r\n",
    ],
)
def test_broken_chunks_end_the_request(target: Server, body: bytes) -> None:
    """A request hidden behind broken chunks is not answered."""
    hidden = head("GET /api/v1/namespaces HTTP/1.1", "Connection: close")
    kind = "Content-Type: application/json"
    first = head("POST /api/v1/namespaces/default/configmaps HTTP/1.1", "Transfer-Encoding: chunked", kind)
    with Wire(target, timeout=5.0) as wire:
        wire.send(first + body)
        if b"0\r\n" not in body[-8:] or body.endswith(b"0\r\n"):
            wire.send(hidden)
        answer = wire.until(b"}")
    assert all(400 <= code < 500 for code in statuses(answer)), answer[:300]
    assert b"NamespaceList" not in answer


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("GET  /version HTTP/1.1", [400]),
        ("GET /version HTTP/9.9", [400, 505]),
        ("GET /version", [400]),
        ("G\0T /version HTTP/1.1", [400]),
        ("GET /ver\0sion HTTP/1.1", [400]),
        ("GET /version\tHTTP/1.1", [400]),
        ("PRI * HTTP/2.0", [400, 505]),
        ("", [400]),
    ],
)
def test_broken_request_lines_are_refused(target: Server, line: str, right: list[int]) -> None:
    found = statuses(exchange(target, head(line, "Connection: close")))
    assert found in [[code] for code in right] or found == []


def test_huge_heads_are_refused(target: Server) -> None:
    assert statuses(exchange(target, head(VERSION, "X: " + "x" * (2 * MEGABYTE)))) in ([431], [])
    assert statuses(exchange(target, head(VERSION, *(f"X{number}: y" for number in range(200_000))))) in ([431], [])
    assert statuses(exchange(target, head(f"GET /{'x' * 2 * MEGABYTE} HTTP/1.1"))) in ([431], [414], [])


def test_large_heads_do_not_hold_up_others(target: Server) -> None:
    lines = [f"X{number}: y" for number in range(60_000)]
    cookies = [f"Cookie: {'a=b; ' * 100}" for _ in range(1500)]
    groups = [f"Impersonate-Group: g{number}" for number in range(30_000)]

    def attack() -> None:
        for more in (lines, cookies, ["Impersonate-User: x", *groups], [f"Accept: {'a/b,' * 200_000}"]):
            answer = exchange(target, head(VERSION, "Connection: close", *more))
            assert all(code < 500 for code in statuses(answer)), answer[:300]

    unharmed(target, attack)


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/configmaps?labelSelector=" + ",".join(f"k{number}+in+(a,b)" for number in range(20_000)),
        "/api/v1/configmaps?labelSelector=" + "(" * 300_000,
        "/api/v1/configmaps?fieldSelector=" + ",".join(f"metadata.name!=x{number}" for number in range(20_000)),
        "/api/v1/configmaps?fieldSelector=" + "\\" * 300_000,
        "/api/v1/configmaps?continue=" + "A" * 300_000,
        "/api/v1/configmaps?limit=" + "9" * 300_000,
        "/api/v1/configmaps?resourceVersion=" + "9" * 300_000,
        "/api/v1/configmaps?" + "&".join(f"a{number}=b" for number in range(60_000)),
        "/api/v1/configmaps?" + "&" * 500_000,
        "/api/v1/configmaps?timeoutSeconds=" + "9" * 5000 + "&watch=1",
        "/" + "/".join("a" for _ in range(200_000)),
        "/api/v1/namespaces/" + "%41" * 200_000,
        "/api/v1/namespaces/" + "a" * 300_000,
    ],
    ids=lambda path: path[:40],
)
def test_long_paths_and_queries_do_not_hold_up_others(target: Server, path: str) -> None:
    def attack() -> None:
        with target.api() as api:
            answer = api.get(path)
            assert answer.status < 500, answer.text[:300]

    unharmed(target, attack)


def test_pipelined_requests_are_answered_in_order_and_leave_others_their_turn(target: Server) -> None:
    def attack() -> None:
        with Wire(target) as wire:
            wire.send(head("GET /api/v1/namespaces/default HTTP/1.1") * 500 + head(VERSION, "Connection: close"))
            answer = wire.rest()
        assert statuses(answer) == [200] * 501
        assert answer.rindex(b"gitVersion") > answer.rindex(b'"Namespace"')

    unharmed(target, attack)


def test_tls_rubbish_is_dropped(target: Server) -> None:
    for rubbish in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 10_000, b"\x16\x03\x01\xff\xff" + b"x" * 70_000, b"\x80" * 5):
        with socket.create_connection(("127.0.0.1", target.port), timeout=10.0) as plain:
            plain.sendall(rubbish)
            plain.shutdown(socket.SHUT_WR)
            try:
                while plain.recv(1 << 16):
                    pass
            except ConnectionError:
                continue


def test_the_oldest_tls_that_is_spoken(target: Server) -> None:
    context = ssl.create_default_context(cafile=str(target.ca))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    plain = socket.create_connection(("127.0.0.1", target.port), timeout=10.0)
    with context.wrap_socket(plain, server_hostname="localhost") as wrapped:
        assert wrapped.version() == "TLSv1.2"


@pytest.mark.parametrize(
    "token", ["", " ", "x", "Bearer", "\xff\xfe", "a" * 100_000, "eyJ.eyJ.x", "." * 50_000, "eyJhbGciOiJub25lIn0.e30."]
)
def test_tokens_that_are_none(target: Server, token: str) -> None:
    line = f"Authorization: Bearer {token}"
    answer = exchange(target, head("GET /api/v1/pods HTTP/1.1", "Connection: close", line, token=""))
    assert statuses(answer) in ([401], [403], [400]), answer[:300]


def test_a_connection_is_good_for_many_requests(target: Server) -> None:
    before = target.memory()
    with Api("127.0.0.1", target.port, target.ca, ADMIN, 20.0) as api:
        for _ in range(1500):
            assert api.get("/api/v1/namespaces/none").status == 404
    assert target.memory() - before < 16 * MEGABYTE


def test_a_body_that_trickles_in_is_given_up(tmp_path: Path) -> None:
    """The request's time runs while its body is awaited."""
    server = Server(tmp_path, *CONFORMANCE_FLAGS, "--request-timeout=1s", "--storage=memory")
    try:
        with Wire(server) as wire:
            began = time.monotonic()
            kind = "Content-Type: application/json"
            wire.send(head("POST /api/v1/namespaces/default/configmaps HTTP/1.1", "Content-Length: 1000", kind))
            wire.send(b'{"metadata":')
            assert statuses(wire.until(b"}")) == [504]
            assert time.monotonic() - began < 10
    finally:
        server.kill()
