"""exec, port forwarding and logs for clients that speak WebSocket."""

from __future__ import annotations

import asyncio
import base64
import json
import pathlib
import struct
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from inside import Inside, run, server
from kubelet import kubelet
from spdykubelet import Shouting
from world import PODS, ask, told, world

from pilothouse.serving.http import Response, Upgrade
from pilothouse.serving.messages import BINARY, TEXT, Messages, frame, unmasked

WIRE = pathlib.Path(__file__).resolve().parents[3] / "shared/facts/wire"
SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\n\r\n"
SUCCESS = {"metadata": {}, "status": "Success"}


def handshake(*protocols: str) -> dict[str, str]:
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    return {**headers, "Sec-WebSocket-Protocol": ", ".join(protocols)} if protocols else headers


def masked(payload: bytes, opcode: int = BINARY, *, final: bool = True) -> bytes:
    """A frame as clients send it."""
    size = len(payload)
    mask = b"\x01\x02\x03\x04"
    head = bytes((0x80 * final | opcode,))
    head += bytes((0x80 | size,)) if size < 126 else struct.pack("!BH", 0x80 | 126, size)
    return head + mask + unmasked(payload, mask)


class Client:
    """The client's end: frames that the server sent are in `said`, as (opcode, payload)."""

    def __init__(self) -> None:
        self._words: asyncio.Queue[bytes] = asyncio.Queue()
        self._held = bytearray()
        self.said: list[tuple[int, bytes]] = []
        self.gone = False
        self._news = asyncio.Event()

    def say(self, data: bytes) -> None:
        self._words.put_nowait(data)

    async def receive(self) -> bytes:
        return await self._words.get()

    async def send(self, data: bytes) -> None:
        self._held += data
        while len(self._held) >= 2:
            size, start = self._held[1], 2
            if size == 126:
                size, start = int.from_bytes(self._held[2:4], "big"), 4
            if len(self._held) < start + size:
                break
            self.said.append((self._held[0] & 0xF, bytes(self._held[start : start + size])))
            del self._held[: start + size]
        self._news.set()

    def end(self) -> None:
        self.gone = True
        self._news.set()
        self.say(b"")

    abort = end

    async def until(self, count: int) -> None:
        while len(self.said) < count:
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), 10)


async def switched(inside: Inside, path: str, *protocols: str) -> Upgrade:
    answer = await ask(inside, "GET", path, handshake(*protocols))
    assert isinstance(answer, Upgrade), answer
    assert answer.status == 101
    if protocols:
        assert (b"Sec-WebSocket-Protocol", protocols[0].encode()) in answer.headers
    return answer


@pytest.mark.skipif(not WIRE.is_dir(), reason="the recordings are not here")
@pytest.mark.parametrize("name", ["ws-exec-v5.channel.k8s.io", "ws-exec-no-origin", "ws-attach"])
def test_a_kubelet_that_is_not_there_is_told_on_the_channel_of_errors(tmp_path: Path, name: str) -> None:
    rows = json.loads((WIRE / "upgrade.json").read_text())["requests"]
    row = next(one for one in rows if one["name"] == name)

    async def test() -> None:
        async with server(tmp_path) as inside:
            await world(inside)
            client = Client()
            await (await switched(inside, row["path"], "v5.channel.k8s.io")).run(client)
            expected = [base64.b64decode(one["base64"]) for one in row["frames"] if "base64" in one]
            assert [payload for _, payload in client.said[:2]] == expected
            assert client.said[2] == (8, struct.pack("!H", 1000))

    run(test())


@pytest.mark.skipif(not WIRE.is_dir(), reason="the recordings are not here")
def test_other_subprotocols_are_the_kubelets(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            await world(inside)
            for protocol in ("v4.channel.k8s.io", "channel.k8s.io", "nonsense"):
                status, message = await told(inside, "GET", f"{PODS}/closed/exec?command=ls", handshake(protocol))
                assert (status, message) == (
                    500,
                    "error dialing backend: dial tcp 127.0.0.1:1: connect: connection refused",
                )

    run(test())


async def shell(folder: Path, shouting: Shouting, query: str, *words: bytes, enough: int) -> list[tuple[int, bytes]]:
    """Run a command at a kubelet that shouts; the client says these messages."""
    async with kubelet(folder) as there, server(folder) as inside:
        await world(inside, there.port)
        there.answer, there.talk = SWITCHED, shouting.serve
        client = Client()
        upgrade = await switched(
            inside, f"{PODS}/closed/exec?command=sh&{query}", "v5.channel.k8s.io", "v4.channel.k8s.io"
        )
        talk = asyncio.ensure_future(upgrade.run(client))
        for word in words:
            client.say(masked(word))
        await client.until(enough)
        await asyncio.wait_for(talk, 10)
        assert b"X-Stream-Protocol-Version: v5.channel.k8s.io" in there.heard[0]
        return client.said


def test_a_command_hears_and_is_heard(tmp_path: Path) -> None:
    async def test() -> None:
        shouting = Shouting()
        words = (b"\x00hello", b"\x00 there", b"\xff\x00")
        said = await shell(tmp_path, shouting, "stdin=1&stdout=1&stderr=1", *words, enough=4)
        assert b"".join(payload[1:] for _, payload in said if payload[:1] == b"\x01") == b"HELLO THERE"
        assert json.loads(said[-2][1][1:]) == SUCCESS
        assert said[-1] == (8, struct.pack("!H", 1000))
        assert list(shouting.streams) == ["error", "stdin", "stdout", "stderr"]

    run(test())


def test_a_terminal_has_a_size_and_no_stream_of_errors(tmp_path: Path) -> None:
    async def test() -> None:
        shouting = Shouting(b'{"metadata":{},"status":"Failure","reason":"NonZeroExitCode"}')
        words = (b'\x04{"Width":80,"Height":25}', b"\x00x", b"\xff\x00")
        said = await shell(tmp_path, shouting, "stdin=1&stdout=1&stderr=1&tty=1", *words, enough=4)
        assert list(shouting.streams) == ["error", "stdin", "stdout", "resize"]
        assert shouting.resized == b'{"Width":80,"Height":25}'
        assert json.loads(said[-2][1][1:])["reason"] == "NonZeroExitCode"

    run(test())


def test_a_kubelet_that_goes_away_is_a_failure(tmp_path: Path) -> None:
    async def gone(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.close()

    async def test() -> None:
        async with kubelet(tmp_path) as there, server(tmp_path) as inside:
            await world(inside, there.port)
            there.answer, there.talk = SWITCHED, gone
            client = Client()
            upgrade = await switched(inside, f"{PODS}/closed/exec?command=sh&stdout=1", "v5.channel.k8s.io")
            await asyncio.wait_for(upgrade.run(client), 10)
            assert json.loads(client.said[1][1][1:])["status"] == "Failure"

    run(test())


def test_port_forwarding_is_tunnelled(tmp_path: Path) -> None:
    async def test() -> None:
        async with kubelet(tmp_path) as there, server(tmp_path) as inside:
            await world(inside, there.port)
            there.answer = SWITCHED
            protocol = "SPDY/3.1+portforward.k8s.io"
            upgrade = await switched(inside, f"{PODS}/closed/portforward", protocol)
            client = Client()
            talk = asyncio.ensure_future(upgrade.run(client))
            client.say(masked(b"ab", final=False) + masked(b"c", 0) + masked(b"", 9))
            await client.until(2)
            assert sorted(client.said) == [(BINARY, b"ABC"), (0xA, b"")]
            client.say(masked(struct.pack("!H", 1000), 8))
            await asyncio.wait_for(talk, 10)
            head = there.heard[0].decode().lower()
            assert head.startswith("post /portforward/wire/closed http/1.1")
            assert "upgrade: spdy/3.1" in head
            assert "x-stream-protocol-version: portforward.k8s.io" in head
            assert "sec-websocket" not in head

    run(test())


def test_a_tunnel_to_nowhere_is_refused_before_the_switch(tmp_path: Path) -> None:
    async def test() -> None:
        async with server(tmp_path) as inside:
            await world(inside)
            headers = handshake("SPDY/3.1+portforward.k8s.io")
            assert (await told(inside, "GET", f"{PODS}/closed/portforward", headers))[0] == 500

    run(test())


@pytest.mark.parametrize(
    ("protocols", "said"),
    [
        ((), [(BINARY, b""), (BINARY, b"line1\n")]),
        (("binary.k8s.io",), [(BINARY, b""), (BINARY, b"line1\n")]),
        (("base64.binary.k8s.io",), [(TEXT, b""), (TEXT, b"bGluZTEK")]),
    ],
)
def test_logs_are_messages(tmp_path: Path, protocols: tuple[str, ...], said: list[tuple[int, bytes]]) -> None:
    async def test() -> None:
        async with kubelet(tmp_path) as there, server(tmp_path) as inside:
            await world(inside, there.port)
            there.answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nline1\n\r\n0\r\n\r\n"
            client = Client()
            upgrade = await switched(inside, f"{PODS}/closed/log?follow=1", *protocols)
            await asyncio.wait_for(upgrade.run(client), 10)
            assert client.said == [*said, (8, struct.pack("!H", 1000))]

    run(test())


def test_logs_in_an_unknown_subprotocol_are_refused(tmp_path: Path) -> None:
    async def test() -> None:
        async with kubelet(tmp_path) as there, server(tmp_path) as inside:
            await world(inside, there.port)
            answer = await ask(inside, "GET", f"{PODS}/closed/log", handshake("channel.k8s.io"))
            assert isinstance(answer, Response)
            assert (answer.status, answer.body) == (403, b"")

    run(test())


# Messages by themselves


class Pieces:
    """A client whose bytes come in these pieces."""

    gone = False

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces
        self.sent = b""

    async def receive(self) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""

    async def send(self, data: bytes) -> None:
        self.sent += data

    def end(self) -> None: ...

    def abort(self) -> None: ...


@settings(deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=5), st.integers(1, 40))
def test_messages_arrive_however_they_are_cut(messages: list[bytes], size: int) -> None:
    data = b"".join(masked(one) for one in messages)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]

    async def test() -> list[bytes | None]:
        reader = Messages(Pieces(pieces))
        return [await reader.receive() for _ in range(len(messages) + 1)]

    assert asyncio.run(test()) == [*messages, None]


def test_an_unmasked_frame_ends_the_conversation() -> None:
    far: Any = Pieces([frame(BINARY, b"x")])
    assert asyncio.run(Messages(far).receive()) is None
    assert far.sent == frame(8, struct.pack("!H", 1002))
