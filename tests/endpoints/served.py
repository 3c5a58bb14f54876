"""A whole server in this process without sockets, and clients of it: whole answers, watches, WebSockets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, NamedTuple, TypeVar

import orjson

from pilothouse.app.wiring import Application
from pilothouse.serving.http import Answer, Response, Stream
from support.inprocess import JSON, NO_HEADERS, asked, body_of

T = TypeVar("T")
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
DEADLINE = 10.0  # seconds; only a broken server makes a test wait that long


class Seen(NamedTuple):
    """A whole answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def message(self) -> str:
        return str(self.json()["message"])

    @property
    def kind(self) -> str:
        return self.headers["Content-Type"]


class Collected:
    """The far end of a stream. `until` waits for what is to come."""

    def __init__(self) -> None:
        self.data = b""
        self._came = asyncio.Event()
        self._gone = asyncio.Event()

    def write(self, data: bytes) -> None:
        self.data += data
        self._came.set()

    @property
    def buffered(self) -> int:
        return 0

    async def drain(self) -> None: ...

    async def closed(self) -> None:
        await self._gone.wait()

    def leave(self) -> None:
        """The client goes."""
        self._gone.set()

    async def until(self, enough: Callable[[bytes], bool]) -> bytes:
        async with asyncio.timeout(DEADLINE):
            while not enough(self.data):
                self._came.clear()
                await self._came.wait()
        return self.data


class Watch:
    """A running watch. `until` waits for so many lines."""

    def __init__(self, stream: Stream) -> None:
        self.status = stream.status
        self.headers = {name.decode(): value.decode() for name, value in stream.headers}
        self.writer = Collected()
        self._task = asyncio.ensure_future(stream.run(self.writer))

    async def events(self, number: int) -> list[dict[str, Any]]:
        """All events from the beginning on, once there are so many. A line is an event."""
        data = await self.writer.until(lambda data: data.count(b"\n") >= number)
        return [orjson.loads(line) for line in data.splitlines()]

    async def to_the_end(self) -> bytes:
        await asyncio.wait_for(self._task, DEADLINE)
        return self.writer.data

    async def leave(self) -> None:
        self.writer.leave()
        await self.to_the_end()


class Served:
    """Requests come from an administrator."""

    def __init__(self, application: Application, loop: asyncio.AbstractEventLoop) -> None:
        self.application = application
        self._loop = loop

    def run(self, story: Coroutine[Any, Any, T]) -> T:
        """A story that fails takes its watches with it."""

        async def told() -> T:
            before = asyncio.all_tasks()
            try:
                return await asyncio.wait_for(story, 3 * DEADLINE)
            except BaseException:
                left = asyncio.all_tasks() - before
                for task in left:
                    task.cancel()
                await asyncio.gather(*left, return_exceptions=True)
                raise

        return self._loop.run_until_complete(told())

    async def answer(
        self, what: str, body: object = None, kind: str = JSON, headers: Mapping[str, str] = NO_HEADERS
    ) -> Answer:
        """`what`: METHOD PATH[?QUERY]. A `body` that is no bytes is sent as JSON; `kind`: its media type."""
        return await self.application.handler(asked(what, body, kind, token="admin", headers=headers))

    async def send(
        self, what: str, body: object = None, kind: str = JSON, headers: Mapping[str, str] = NO_HEADERS
    ) -> Seen:
        answer = await self.answer(what, body, kind, headers)
        if isinstance(answer, Response):
            data = body_of(answer)
        else:
            assert isinstance(answer, Stream)
            writer = Collected()
            await answer.run(writer)
            data = writer.data
        return Seen(answer.status, {name.decode(): value.decode() for name, value in answer.headers}, data)

    async def watch(self, path: str, headers: Mapping[str, str] = NO_HEADERS) -> Watch:
        answer = await self.answer(f"GET {path}", headers=headers)
        assert isinstance(answer, Stream), answer
        return Watch(answer)

    def ask(self, what: str, body: object = None, kind: str = JSON, headers: Mapping[str, str] = NO_HEADERS) -> Seen:
        return self.run(self.send(what, body, kind, headers))

    def make(self, path: str, body: object) -> dict[str, Any]:
        found = self.ask(f"POST {path}", body)
        assert found.status == 201, found.body
        made: dict[str, Any] = found.json()
        return made


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
