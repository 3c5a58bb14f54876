"""However requests are cut into pieces, and whatever is wrong with them, the same is answered and nothing breaks."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.serving.channel import Channel
from pilothouse.serving.connection import Connection, Shared
from pilothouse.serving.eager import EagerRunner
from pilothouse.serving.flusher import Flusher
from pilothouse.serving.http import BodyBroken, BodyTooLarge, ClientGone, Request, Response
from pilothouse.serving.limits import Limits
from pilothouse.serving.reply import ReplyWriter

from .support import TEXT, request

STREAM = (
    request("/a?x=1", "GET", "X-A: b")
    + request("/b", "POST", body=b"hello")
    + request("/c", "POST", "Transfer-Encoding: chunked")
    + b"5\r\nhello\r\n3;x=y\r\nyou\r\n0\r\nT: 1\r\n\r\n"
    + request("/later", "PUT", "Expect: 100-continue", body=b"x" * 40)
    + request("/ignore", "PUT", body=b"y" * 30)
    + b"GET /last HTTP/1.0\r\n\r\n"
)


class Transport(asyncio.Transport):
    """Takes what is written, and is closed when asked to."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent += data

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    abort = close

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        """The far end of a test does not look at it."""

    def pause_reading(self) -> None:
        """Pieces come on, as they may for a moment from a real transport."""

    def resume_reading(self) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...


async def handler(request: Request) -> Response:
    if request.raw_path == b"/later":
        await asyncio.sleep(0)
    body = b""
    if request.raw_path != b"/ignore":
        try:
            body = await request.body.read(64)
        except (BodyTooLarge, BodyBroken) as error:
            body = type(error).__name__.encode()
        except ClientGone:
            raise
    return Response(200, TEXT, f"{request.method} {request.path} {request.query} ".encode() + body)


def answers(pieces: list[bytes]) -> bytes:
    """What a connection sends to these pieces. Fails if anything escapes to the loop."""

    async def scenario() -> bytes:
        loop = asyncio.get_running_loop()
        escaped: list[object] = []
        loop.set_exception_handler(lambda _, context: escaped.append(context))
        runner = EagerRunner(loop)
        shared = Shared(handler, Limits(), loop, runner, ReplyWriter(lambda: 0.0))
        transport = Transport()
        channel = Channel(Connection(shared), Flusher(loop))

        def receive(piece: bytes) -> None:
            if not transport.closed:
                channel.data_received(piece)

        channel.connection_made(transport)
        for piece in pieces:
            loop.call_soon(receive, piece)
            await asyncio.sleep(0)
        end = time.monotonic() + 5
        before = b"?"
        while before != transport.sent and time.monotonic() < end:
            before = transport.sent
            for _ in range(20):
                await asyncio.sleep(0)
        channel.connection_lost(None)
        for _ in range(5):
            await asyncio.sleep(0)
        runner.close()
        await asyncio.sleep(0)
        assert not shared.connections
        assert not escaped
        return transport.sent

    return uvloop.run(scenario())


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in pairwise(edges) if a < b]


places = st.lists(st.integers(0, 2000), max_size=15)


@settings(max_examples=60, deadline=None)
@given(places)
def test_pieces_make_no_difference(where: list[int]) -> None:
    whole = answers([STREAM])
    assert whole.count(b" 200 OK\r\n") == 6
    assert whole.endswith(b"GET /last  ")
    assert answers(cut(STREAM, where)) == whole


@settings(max_examples=150, deadline=None)
@given(places, st.lists(st.tuples(st.integers(0, 2000), st.binary(max_size=3)), min_size=1, max_size=3))
def test_damaged_requests_are_answered_alike_in_all_pieces(where: list[int], damage: list[tuple[int, bytes]]) -> None:
    data = STREAM
    for place, replacement in damage:
        place %= len(data)
        data = data[:place] + replacement + data[place + 1 :]
    whole, pieces = answers([data]), answers(cut(data, where))
    assert whole.startswith(b"HTTP/1.1 ") or not whole
    assert whole == pieces or whole.startswith(pieces) or pieces.startswith(whole)
