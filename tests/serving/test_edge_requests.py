"""Requests over real sockets: framing, keeping connections, bodies."""

from __future__ import annotations

import asyncio
import logging
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from pilothouse.serving.http import BodyBroken, BodyTooLarge, ClientGone, Request, Response
from pilothouse.serving.limits import Limits

from .support import CLOSE, TEXT, TurnMeter, request, run, serving, until


async def echo(request: Request) -> Response:
    """Method, target and body; the paths `/ignore` (body not read) and `/later` (answered after a wait) are special."""
    if request.raw_path == b"/ignore":
        return Response(200, TEXT, b"ignored")
    try:
        body = await request.body.read(3 << 20)
    except BodyTooLarge:
        return Response(413, TEXT, b"too large")
    except BodyBroken as error:
        return Response(500, TEXT, str(error).encode())
    if request.raw_path == b"/later":
        await asyncio.sleep(0.001)
    about = f"{request.method} {request.path} {request.query} {request.version} {request.origin.scheme} {len(body)}"
    return Response(200, TEXT, about.encode())


@pytest.mark.parametrize("tls", [True, False])
def test_a_connection_is_kept_for_many_requests(tls: bool, pki: Path) -> None:
    async def scenario() -> None:
        async with serving(echo, pki=pki if tls else None) as served:
            wire = await served.connect()
            for index in range(5):
                wire.send(request(f"/{index}?a=b"))
                head, body = await wire.answer()
                assert head.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: ")
                assert body == f"GET /{index} a=b 1.1 {'https' if tls else 'http'} 0".encode()
            assert served.edge.connections == 1
            wire.close()
            await until(lambda: served.edge.connections == 0)

    run(scenario)


def test_pipelined_requests_are_answered_in_order(pki: Path) -> None:
    async def scenario() -> None:
        async with serving(echo, pki=pki) as served:
            wire = await served.connect()
            wire.send(
                request("/later")
                + request("/a", "POST", body=b"x" * 5)
                + request("/later", "POST", body=b"y" * 50000)
                + request("/b", "POST", "Transfer-Encoding: chunked")
                + b"3\r\nabc\r\n0\r\n\r\n"
                + request("/c")
            )
            bodies = [(await wire.answer())[1].split()[1::3] for _ in range(5)]
            assert bodies == [[b"/later", b"0"], [b"/a", b"5"], [b"/later", b"50000"], [b"/b", b"3"], [b"/c", b"0"]]

    run(scenario)


def test_a_flood_of_pipelined_requests_is_read_no_faster_than_it_is_answered() -> None:
    async def scenario() -> None:
        limits = Limits(read_ahead=4096)
        async with serving(echo, limits=limits) as served:
            wire = await served.connect()
            wire.send(request("/later") * 500)
            for _ in range(500):
                assert (await wire.answer())[1].startswith(b"GET /later")

    run(scenario)


def test_requests_may_come_in_any_pieces() -> None:
    async def scenario() -> None:
        async with serving(echo) as served:
            wire = await served.connect()
            data = request("/x", "POST", body=b"abc") + request("/y")
            for index in range(len(data)):
                wire.send(data[index : index + 1])
                await asyncio.sleep(0)
            assert (await wire.answer())[1] == b"POST /x  1.1 http 3"
            assert (await wire.answer())[1] == b"GET /y  1.1 http 0"

    run(scenario)


def test_http_1_0() -> None:
    async def scenario() -> None:
        async with serving(echo) as served:
            answer = await served.exchange(b"GET /x HTTP/1.0\r\n\r\n")
            assert answer.startswith(b"HTTP/1.0 200 OK\r\n")
            assert answer.endswith(b"\r\n\r\nGET /x  1.0 http 0")
            assert b"Connection" not in answer
            wire = await served.connect()
            wire.send(b"GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            assert b"Connection: keep-alive\r\n" in (await wire.answer())[0]
            assert await wire.is_open()

    run(scenario)


def test_connection_close_is_repeated_and_done() -> None:
    async def scenario() -> None:
        async with serving(echo) as served:
            answer = await served.exchange(request("/x", "GET", "Connection: close"))
            assert CLOSE in answer
            assert answer.endswith(b"GET /x  1.1 http 0")

    run(scenario)


def test_head_requests_get_no_body() -> None:
    async def scenario() -> None:
        async with serving(echo) as served:
            wire = await served.connect()
            wire.send(request("/x", "HEAD") + request("/y"))
            assert b"Content-Length: 19\r\n" in await wire.until(b"\r\n\r\n")
            assert (await wire.answer())[1].startswith(b"GET /y")

    run(scenario)


def test_continue_is_said_when_the_body_is_read(pki: Path) -> None:
    async def scenario() -> None:
        async with serving(echo, pki=pki) as served:
            wire = await served.connect()
            wire.send(request("/x", "PUT", "Expect: 100-continue", "Content-Length: 3"))
            assert await wire.until(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            wire.send(b"abc")
            assert (await wire.answer())[1].endswith(b"3")
            wire.send(request("/x", "PUT", "Expect: 100-continue", body=b"abcd"))
            assert await wire.until(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            assert (await wire.answer())[1].endswith(b"4")

    run(scenario)


def test_an_answer_without_reading_the_body_comes_without_continue_and_closes() -> None:
    async def scenario() -> None:
        async with serving(echo) as served:
            answer = await served.exchange(request("/ignore", "PUT", "Expect: 100-continue", "Content-Length: 3"))
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
            assert CLOSE in answer

    run(scenario)


def test_other_expectations_are_refused() -> None:
    async def scenario() -> None:
        async with serving(echo) as served:
            answer = await served.exchange(request("/x", "GET", "Expect: magic"))
            lines = answer.split(b"\r\n")
            assert lines[:2] == [b"HTTP/1.1 417 Expectation Failed", b"Connection: close"]
            assert lines[3:] == [b"Content-Length: 0", b"", b""]

    run(scenario)


@pytest.mark.parametrize("size", [26, 200_000])
def test_a_small_body_nobody_read_is_skipped(size: int) -> None:
    async def scenario() -> None:
        async with serving(echo) as served:
            wire = await served.connect()
            wire.send(request("/ignore", "GET", body=b"x" * size))
            head, body = await wire.answer()
            assert body == b"ignored"
            assert CLOSE not in head
            assert await wire.is_open()

    run(scenario)


@pytest.mark.parametrize("path", ["/ignore", "/x"])
def test_a_large_body_nobody_wants_ends_the_connection_but_not_the_answer(path: str, pki: Path) -> None:
    async def scenario() -> None:
        async with serving(echo, pki=pki) as served:
            wire = await served.connect()
            wire.send(request(path, "POST", body=b"x" * 5_000_000))
            head, body = await wire.answer()
            assert CLOSE in head
            assert body == (b"ignored" if path == "/ignore" else b"too large")
            assert await wire.rest() == b""

    run(scenario)


def test_a_body_of_many_megabytes_is_held_back_until_it_is_read(pki: Path) -> None:
    async def scenario() -> None:
        go, sizes, bodies = asyncio.Event(), [], []

        async def slow(request: Request) -> Response:
            bodies.append(request.body)
            await go.wait()
            while piece := await request.body.chunk():
                sizes.append(len(piece))
            return Response(200, TEXT, b"done")

        async with serving(slow, pki=pki) as served:
            wire = await served.connect()
            wire.send(request("/x", "POST", body=b"x" * 20_000_000))
            await until(lambda: bool(bodies) and bodies[0]._stopped)
            for _ in range(20):
                await asyncio.sleep(0.001)
                assert bodies[0]._held < 600_000
            go.set()
            assert (await wire.answer())[1] == b"done"
            assert sum(sizes) == 20_000_000

    run(scenario)


def test_chunked_bodies(pki: Path) -> None:
    async def scenario() -> None:
        async with serving(echo, pki=pki) as served:
            wire = await served.connect()
            wire.send(request("/x", "PUT", "Transfer-Encoding: chunked"))
            for _ in range(100):
                wire.send(b"1000\r\n" + b"x" * 0x1000 + b"\r\n")
                await asyncio.sleep(0)
            wire.send(b"0\r\nX-Trailer: 1\r\n\r\n")
            assert (await wire.answer())[1].endswith(b"%d" % (100 * 0x1000))
            assert await wire.is_open()

    run(scenario)


def test_broken_chunks_are_told_to_the_reader_and_end_the_connection() -> None:
    async def scenario() -> None:
        async with serving(echo) as served:
            answer = await served.exchange(
                request("/x", "PUT", "Transfer-Encoding: chunked") + b"zz\r\n{}\r\n0\r\n\r\n"
            )
            assert answer.startswith(b"HTTP/1.1 500 Internal Server Error\r\n")
            assert CLOSE in answer
            assert answer.endswith(b"invalid byte in chunk length")

    run(scenario)


def test_a_client_that_goes_within_its_body_is_told_to_the_reader() -> None:
    async def scenario() -> None:
        errors: list[Exception] = []

        async def reader(request: Request) -> Response:
            try:
                await request.body.read(100)
            except ClientGone as error:
                errors.append(error)
                raise
            except asyncio.CancelledError:
                errors.append(ClientGone())
                raise
            return Response(200, TEXT)

        async with serving(reader) as served:
            wire = await served.connect()
            wire.send(request("/x", "PUT", "Content-Length: 900") + b"abc")
            await until(lambda: served.edge.connections == 1)
            await asyncio.sleep(0.01)
            wire.close()
            await until(lambda: bool(errors) and served.edge.connections == 0)

    run(scenario)


@pytest.mark.parametrize("many_pieces", [True, False])
@pytest.mark.parametrize("tls", [True, False])
def test_a_long_answer_holds_the_loop_for_milliseconds_only(many_pieces: bool, tls: bool, pki: Path) -> None:
    async def scenario() -> None:
        body = [b"x" * 4000] * 5000 if many_pieces else b"x" * 20_000_000

        async def large(request: Request) -> Response:
            return Response(200, TEXT, body)

        async with serving(large, pki=pki if tls else None) as served:
            # The client is a process of its own: its turns must not be counted. Nor must what starting it takes this
            # process, so it waits for a word before it asks.
            program = (
                "import socket,ssl,sys\n"
                "s=socket.create_connection(('127.0.0.1',int(sys.argv[1])))\n"
                "if sys.argv[2]:\n"
                " c=ssl.create_default_context(cafile=sys.argv[2]); s=c.wrap_socket(s,server_hostname='localhost')\n"
                "print('ready',flush=True)\n"
                "sys.stdin.readline()\n"
                "s.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')\n"
                "n=0\n"
                "while d:=s.recv(1<<20): n+=len(d)\n"
                "print(n)\n"
            )
            trust = str(pki / "ca.crt") if tls else ""
            meter = TurnMeter()
            turns: list[float] = []
            for _ in range(4):  # a busy machine holds up the loop now and then; what the edge does, it does every time
                child = await asyncio.create_subprocess_exec(
                    sys.executable, "-c", program, str(served.edge.port), trust, stdin=PIPE, stdout=PIPE
                )
                assert child.stdout is not None
                assert await child.stdout.readline() == b"ready\n"
                meter.worst = 0.0
                out, _ = await child.communicate(b"go\n")
                turns.append(meter.worst)
                assert int(out) > 20_000_000
                if len(turns) > 1 and meter.worst < 0.01:  # the first warms up
                    break
            assert min(turns[1:]) < 0.01

    run(scenario)


def test_an_error_of_the_handler_is_logged_and_answered(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(request: Request) -> Response:
        if request.raw_path == b"/wrong":
            return "no answer at all"  # type: ignore[return-value]
        if request.raw_path == b"/large":
            raise BodyTooLarge(3)
        if request.raw_path == b"/gone":
            raise ClientGone
        if request.raw_path == b"/break":
            return Response(200, [(b"X", b"a\r\nb")])
        raise RuntimeError("this went wrong")

    async def scenario() -> None:
        async with serving(broken) as served:
            wire = await served.connect()
            wire.send(request("/x"))
            head, body = await wire.answer()
            assert head.startswith(b"HTTP/1.1 500 Internal Server Error\r\nContent-Type: text/plain")
            assert body == b"500 Internal Server Error"
            wire.send(request("/large"))
            assert (await wire.answer())[0].startswith(b"HTTP/1.1 413 Request Entity Too Large\r\n")
            for path in ("/wrong", "/gone", "/break"):
                assert await served.exchange(request(path)) == b""

    with caplog.at_level(logging.ERROR):
        run(scenario)
    assert "this went wrong" in caplog.text
    assert caplog.text.count("Traceback") == 3  # a client that is gone is no error


def test_a_handler_that_is_cancelled_from_within_does_not_leave_its_client_waiting(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def cancelled(request: Request) -> Response:
        if request.raw_path == b"/later":
            await asyncio.sleep(0)
        raise asyncio.CancelledError

    async def scenario() -> None:
        async with serving(cancelled) as served:
            for path in ("/later", "/now"):
                assert await served.exchange(request(path)) == b""

    run(scenario)
    assert "GET /now was cancelled" in caplog.text


def test_answers_are_framed_by_their_size(pki: Path) -> None:
    async def scenario() -> None:
        async def sized(request: Request) -> Response:
            size = int(request.query)
            return Response(200, TEXT, b"x" * size if request.method == "GET" else [b"x" * (size // 2)] * 2)

        async with serving(sized, pki=pki) as served:
            wire = await served.connect()
            for size in (0, 1, 2048, 2049, 16384, 16385, 65536, 65537, 300_000, 1_000_000):
                for method in ("GET", "POST"):
                    wire.send(request(f"/?{size}", method))
                    head, body = await wire.answer()
                    sent = size if method == "GET" else size // 2 * 2
                    assert len(body) == sent
                    assert (b"chunked" in head) is (sent > 2048)

    run(scenario)
