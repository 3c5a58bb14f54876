"""One extension server's API service: two tasks that watch over it as long as it is registered.

One examines whether the server is there and keeps the condition; the other reads its documents while it is. Both sleep
between, and are woken by changes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from pilothouse.aggregator import documents, openapi
from pilothouse.aggregator.availability import Conditions, Examiner, Verdict
from pilothouse.aggregator.call import Document, Reader, Unanswered
from pilothouse.aggregator.proxy import Backend
from pilothouse.discovery.model import Version
from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError

_log = logging.getLogger(__name__)
_JSON: Final = "application/json"


@record
class Pace:
    """Seconds: first and longest pause after a failed examination, between those that pass, between readings of the
    documents, after the first reading that failed (the next pauses are longer)."""

    first: float = 0.05
    longest: float = 0.75
    passed: float = 10.0
    reading: float = 60.0
    unread: float = 1.0


@record
class Found:
    """What a server says of itself. `None`: it has not said it (yet)."""

    version: Version | None = None
    openapi: bytes | None = None  # version 3 document, its own or made of the Swagger document
    openapi_etag: str = ""
    swagger: bytes | None = None  # packed; see aggregator/openapi.py


@record
class Tools:
    """What keepers work with."""

    examiner: Examiner
    conditions: Conditions
    reader: Reader
    offload: Callable[..., Awaitable[Any]]
    pace: Pace


class Keeper:
    """`changed` is told when documents are others than before."""

    def __init__(self, backend: Backend, tools: Tools, changed: Callable[[], None]) -> None:
        self.backend = backend
        self.found = Found()
        self._tools = tools
        self._changed = changed
        self._wake_examiner = asyncio.Event()
        self._wake_reader = asyncio.Event()
        self._verdict: Verdict | None = None
        self._link = ""
        self._swagger_etag = ""
        self._aggregated_etag = ""
        loop = asyncio.get_running_loop()
        name = backend.service.name
        self._tasks = [
            loop.create_task(self._examine(), name=f"examine {name}"),
            loop.create_task(self._read(), name=f"documents of {name}"),
        ]

    def replace(self, backend: Backend) -> None:
        """The API service was changed."""
        self.backend = backend
        self._link = self._swagger_etag = self._aggregated_etag = ""
        self.wake()
        self._wake_reader.set()

    def refresh(self, backend: Backend) -> None:
        """Only the condition was changed: by us, or by somebody who had better not."""
        self.backend = backend
        if self._verdict is not None and backend.service.condition != self._verdict.shown:
            self.wake()

    def wake(self) -> None:
        """Something that the examination looks at was changed."""
        self._wake_examiner.set()

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # Is it there?

    async def _examine(self) -> None:
        pace = self._tools.pace
        pause = pace.first
        passed = False
        woken = True
        while True:
            self._wake_examiner.clear()
            backend = self.backend
            verdict = await self._tools.examiner.examine(backend)
            if backend is not self.backend:
                continue  # what was examined is not registered any more
            self._verdict = verdict
            written = await self._write(verdict)
            if verdict.status and written:
                if woken or not passed:  # another server may stand there now
                    self._wake_reader.set()
                passed, pause, rest = True, pace.first, pace.passed
            else:
                passed, rest, pause = False, pause, min(pause * 2, pace.longest)
            woken = await _sleep(self._wake_examiner, rest)

    async def _write(self, verdict: Verdict) -> bool:
        name = self.backend.service.name
        try:
            await self._tools.conditions.write(name, verdict)
        except APIError as error:
            _log.info("the condition of %s could not be written: %s", name, error.message)
            return False
        return True

    # What does it serve?

    async def _read(self) -> None:
        pace = self._tools.pace
        while True:
            await self._wake_reader.wait()
            self._wake_reader.clear()
            pause = pace.unread
            while self.backend.service.available:
                if await self._read_all():
                    pause, rest = pace.unread, pace.reading
                else:
                    rest, pause = pause, min(pause * 2, pace.reading)
                await _sleep(self._wake_reader, rest)
                self._wake_reader.clear()

    async def _read_all(self) -> bool:
        """Could all documents be read?"""
        read = True
        before = self.found
        for step in (self._read_discovery, self._read_v3, self._read_swagger):
            read = await self._try(step) and read
            if self.found is not before:
                before = self.found
                self._changed()
        return read

    async def _try(self, step: Callable[[Backend], Awaitable[Found]]) -> bool:
        """What cannot be read is logged; what was read before stays."""
        backend = self.backend
        try:
            found = await step(backend)
        except (Unanswered, documents.Unreadable, openapi.Unreadable) as error:
            _log.info("documents of %s: %s", backend.service.name, error)
            return False
        if backend is self.backend:
            self.found = found
        return True

    async def _read_discovery(self, backend: Backend) -> Found:
        """Raises Unanswered, documents.Unreadable."""
        reader, service = self._tools.reader, backend.service
        answer = await reader.get(backend, "/apis", accept=documents.AGGREGATED, etag=self._aggregated_etag)
        if answer.status == 304:
            return self.found
        version: Version | None = None
        if answer.status == 200 and documents.is_aggregated(answer.media_type):
            version = documents.from_aggregated(answer.body, service.group, service.version)
            self._aggregated_etag = answer.etag if version is not None else ""
        if version is None:
            plain = await reader.get(backend, f"/apis/{service.group}/{service.version}")
            if plain.status != 200:
                raise documents.Unreadable(f"status {plain.status} from {plain.url}")
            version = documents.from_plain(plain.body, service.version)
        return self._with(version=version)

    async def _read_v3(self, backend: Backend) -> Found:
        """Raises Unanswered, openapi.Unreadable."""
        reader, service = self._tools.reader, backend.service
        index = await reader.get(backend, openapi.INDEX)
        link = openapi.link_of(index.body, service.group, service.version) if index.status == 200 else ""
        if link == self._link:
            return self.found
        if not link:  # it is made of the Swagger document then, which is read next
            self._link = self._swagger_etag = ""
            return self.found
        answer = await reader.get(backend, link)
        if answer.status != 200:
            raise openapi.Unreadable(f"status {answer.status} from {answer.url}")
        await self._tools.offload(partial(openapi.check_v3, answer.body))
        self._link = link
        return self._with(openapi=answer.body, openapi_etag=_digest(link, answer))

    async def _read_swagger(self, backend: Backend) -> Found:
        """Raises Unanswered, openapi.Unreadable."""
        reader, service = self._tools.reader, backend.service
        answer = await reader.get(backend, openapi.SWAGGER, accept=_JSON, etag=self._swagger_etag)
        if answer.status == 304:
            return self.found
        has_third = bool(self._link)
        if answer.status != 200:
            return self._with(swagger=None) if has_third else self._with(swagger=None, openapi=None, openapi_etag="")
        work = partial(_worked, answer.body, service.group, service.version, not has_third)
        packed, third = await self._tools.offload(work)
        self._swagger_etag = answer.etag
        if has_third:
            return self._with(swagger=packed)
        return self._with(swagger=packed, openapi=third or None, openapi_etag="")

    def _with(self, **changes: object) -> Found:
        """What was found, with changes; the same object where nothing is other than before."""
        after = replace(self.found, **changes)  # type: ignore[arg-type]
        return self.found if after == self.found else after


def _worked(body: bytes, group: str, version: str, to_third: bool) -> tuple[bytes, bytes]:
    """The packed part of a Swagger document, and the v3 document made of it if that is wanted. Raises Unreadable."""
    packed = openapi.swagger_part(body, group, version)
    return packed, openapi.upgraded(body, group, version) if to_third else b""


def _digest(link: str, answer: Document) -> str:
    """The hash by which the server's index knows the document."""
    return link.partition("?hash=")[2] or answer.etag.strip('"')


async def _sleep(woken: asyncio.Event, seconds: float) -> bool:
    """Was it woken?"""
    try:
        async with asyncio.timeout(seconds):
            await woken.wait()
    except TimeoutError:
        return False
    return True
