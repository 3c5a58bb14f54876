"""Watches of browsers: one message an event, over WebSocket."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from endpoints.served import DEADLINE, PROTOBUF, Served, config_map
from pilothouse.serving.http import Response, Upgrade
from pilothouse.serving.messages import frame

# The example of RFC 6455, 1.3.
KEY, ACCEPT = "dGhlIHNhbXBsZSBub25jZQ==", b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
NORMAL, PROTOCOL_ERROR = 1000, 1002


def handshake(**changed: str) -> dict[str, str]:
    """`changed`: names with _ for -; an empty one is left out."""
    headers = {
        "connection": "Upgrade", "upgrade": "websocket", "origin": "https://ui.example.com",
        "sec-websocket-version": "13", "sec-websocket-key": KEY,
    }  # fmt: skip
    headers |= {name.replace("_", "-"): value for name, value in changed.items()}
    return {name: value for name, value in headers.items() if value}


class Browser:
    """A client's end of the connection: it reads whole messages."""

    gone = False

    def __init__(self) -> None:
        self._sent: asyncio.Queue[bytes] = asyncio.Queue()
        self._received = b""
        self._came = asyncio.Event()
        self.ended = False

    async def receive(self) -> bytes:
        return await self._sent.get()

    async def send(self, data: bytes) -> None:
        self._received += data
        self._came.set()

    def end(self) -> None:
        self.ended = True

    def abort(self) -> None:
        self.ended = True

    def say(self, opcode: int, payload: bytes = b"", mask: bytes | None = b"\x01\x02\x03\x04") -> None:
        """A short frame of the client."""
        if mask is None:
            self._sent.put_nowait(bytes((0x80 | opcode, len(payload))) + payload)
            return
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
        self._sent.put_nowait(bytes((0x80 | opcode, 0x80 | len(payload))) + mask + masked)

    def hang_up(self) -> None:
        self._sent.put_nowait(b"")

    async def message(self) -> tuple[int, bytes]:
        """Opcode and payload of the next one."""
        async with asyncio.timeout(DEADLINE):
            while (found := self._take()) is None:
                self._came.clear()
                await self._came.wait()
        return found

    def _take(self) -> tuple[int, bytes] | None:
        data = self._received
        if len(data) < 2:
            return None
        width = {126: 2, 127: 8}.get(data[1], 0)
        size = int.from_bytes(data[2 : 2 + width]) if width else data[1]
        end = 2 + width + size
        if len(data) < end:
            return None
        self._received = data[end:]
        return data[0] & 15, data[2 + width : end]


async def connect(served: Served, path: str, headers: Mapping[str, str]) -> tuple[Browser, asyncio.Task[Any]]:
    answer = await served.answer(f"GET {path}", headers=headers)
    assert isinstance(answer, Upgrade), answer
    browser = Browser()
    return browser, asyncio.ensure_future(answer.run(browser))


def test_the_handshake(served: Served, place: str) -> None:
    async def story() -> None:
        answer = await served.answer(
            f"GET {place}/configmaps?watch=1", headers=handshake(sec_websocket_protocol="chat")
        )
        assert isinstance(answer, Upgrade)
        headers = dict(answer.headers)
        assert (answer.status, headers[b"Sec-WebSocket-Accept"]) == (101, ACCEPT)
        assert headers[b"Sec-WebSocket-Protocol"] == b"chat"

    served.run(story())


REFUSED = [
    ({"origin": ""}, 403),
    ({"origin": "nowhere"}, 403),
    ({"sec_websocket_key": ""}, 400),
    ({"sec_websocket_version": "8"}, 400),
    ({"sec_websocket_protocol": "a, b"}, 400),
]


@pytest.mark.parametrize(("changed", "status"), REFUSED)
def test_a_broken_handshake_is_refused(served: Served, place: str, changed: dict[str, str], status: int) -> None:
    async def story() -> None:
        answer = await served.answer(f"GET {place}/configmaps?watch=1", headers=handshake(**changed))
        assert isinstance(answer, Response)
        assert answer.status == status

    served.run(story())


def test_every_event_is_a_message(served: Served, place: str) -> None:
    async def story() -> None:
        path = f"{place}/configmaps"
        await served.send(f"POST {path}", config_map("a"))
        await served.send(f"POST {path}", config_map("b", big="x" * 100_000))
        browser, task = await connect(served, f"{path}?watch=1", handshake())
        for name in ("a", "b"):
            opcode, payload = await browser.message()
            event = orjson.loads(payload)
            assert (opcode, event["type"], event["object"]["metadata"]["name"]) == (TEXT, "ADDED", name)
        browser.hang_up()
        await asyncio.wait_for(task, DEADLINE)
        assert browser.ended

    served.run(story())


def test_events_of_protobuf_are_binary_messages_without_a_length(served: Served, place: str) -> None:
    async def story() -> None:
        path = f"{place}/configmaps"
        for name in "ab":
            await served.send(f"POST {path}", config_map(name))
        browser, task = await connect(served, f"{path}?watch=1", handshake(accept=PROTOBUF))
        for letter in (b"a", b"b"):
            opcode, payload = await browser.message()
            assert opcode == BINARY
            assert payload.startswith(b"\x0a\x05ADDED")
            assert payload.count(b"k8s\0") == 1
            assert b"\x0a\x01" + letter in payload
        browser.hang_up()
        await asyncio.wait_for(task, DEADLINE)

    served.run(story())


def test_a_ping_is_answered_with_its_own_words(served: Served, place: str) -> None:
    async def story() -> None:
        browser, task = await connect(served, f"{place}/configmaps?watch=1", handshake())
        browser.say(TEXT, b"whatever")  # a watch does not listen
        browser.say(PING, b"hello")
        assert await browser.message() == (PONG, b"hello")
        browser.hang_up()
        await asyncio.wait_for(task, DEADLINE)

    served.run(story())


def test_a_frame_without_a_mask_ends_it(served: Served, place: str) -> None:
    async def story() -> None:
        browser, task = await connect(served, f"{place}/configmaps?watch=1", handshake())
        browser.say(TEXT, b"whatever", mask=None)
        opcode, payload = await browser.message()
        assert (opcode, int.from_bytes(payload[:2])) == (CLOSE, PROTOCOL_ERROR)
        await asyncio.wait_for(task, DEADLINE)
        assert browser.ended

    served.run(story())


def test_a_client_may_close(served: Served, place: str) -> None:
    async def story() -> None:
        browser, task = await connect(served, f"{place}/configmaps?watch=1", handshake())
        browser.say(CLOSE, NORMAL.to_bytes(2))
        await asyncio.wait_for(task, DEADLINE)
        assert browser.ended

    served.run(story())


def test_the_end_of_a_watch_is_a_close(served: Served, place: str) -> None:
    async def story() -> None:
        browser, task = await connect(served, f"{place}/configmaps?watch=1&timeoutSeconds=1", handshake())
        opcode, payload = await browser.message()
        assert (opcode, int.from_bytes(payload)) == (CLOSE, NORMAL)
        await asyncio.wait_for(task, DEADLINE)

    served.run(story())


@pytest.mark.parametrize(("size", "head"), [(0, 2), (125, 2), (126, 4), (65_535, 4), (65_536, 10)])
def test_frames_are_as_short_as_can_be(size: int, head: int) -> None:
    made = frame(BINARY, b"x" * size)
    assert len(made) == head + size
    assert made[0] == 0x82
