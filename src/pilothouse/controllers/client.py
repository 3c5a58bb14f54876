"""The loopback client: calls the server's own handler in this process, through the whole chain of filters.

There is no socket and no HTTP text between. A controller is refused by the same code as everybody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

import orjson

from pilothouse.controllers.clock import Clock, sleep
from pilothouse.controllers.streams import Collector, Later, Object, Watch
from pilothouse.serving.body import NO_BODY, WholeBody
from pilothouse.serving.http import BodyReader, Handler, HeaderList, Origin, Request, Response, Stream

JSON: Final = "application/json"
MERGE_PATCH: Final = "application/merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"
METADATA: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
AGENT: Final = "kube-controller-manager/pilothouse"  # what stands before the slash owns the fields that are written
_HERE: Final = Origin(("127.0.0.1", 0))
Parameters = Mapping[str, str]


class Refusal(Exception):
    """The server said no. `retry_after`: seconds that it asked to wait, 0 where it did not."""

    def __init__(
        self, code: int, reason: str, message: str, causes: tuple[str, ...] = (), retry_after: float = 0.0
    ) -> None:
        super().__init__(message or f"status {code}")
        self.code = code
        self.reason = reason
        self.causes = causes  # their reasons
        self.retry_after = retry_after

    @property
    def not_found(self) -> bool:
        return self.code == 404

    @property
    def conflict(self) -> bool:
        return self.code == 409

    @property
    def namespace_ends(self) -> bool:
        """Refused because the namespace is being deleted."""
        return self.code == 403 and "NamespaceTerminating" in self.causes


class RateLimit:
    """At most `burst` requests at once and `rate` a second in the long run."""

    def __init__(self, clock: Clock, rate: float, burst: int) -> None:
        self._clock = clock
        self._rate = rate
        self._burst = float(burst)
        self._left = float(burst)
        self._seen = clock.now()

    async def take(self) -> None:
        """Wait for one's turn."""
        now = self._clock.now()
        self._left = min(self._burst, self._left + (now - self._seen) * self._rate)
        self._seen = now
        self._left -= 1.0
        if self._left < 0:
            await sleep(self._clock, -self._left / self._rate)


class LoopbackClient:
    """One identity's way to the server. Documents are JSON, as dicts."""

    def __init__(self, handler: Handler, token: str, limit: RateLimit) -> None:
        self._handler = handler
        self._limit = limit
        self._head: HeaderList = [
            (b"host", b"localhost"),
            (b"user-agent", AGENT.encode()),
            (b"authorization", b"Bearer " + token.encode()),
        ]

    async def get(self, path: str, parameters: Parameters | None = None, accept: str = JSON) -> Object:
        return await self.send("GET", path, parameters, accept=accept)

    async def create(self, path: str, obj: Object) -> Object:
        return await self.send("POST", path, None, obj)

    async def update(self, path: str, obj: Object) -> Object:
        return await self.send("PUT", path, None, obj)

    async def patch(
        self, path: str, patch: Object, parameters: Parameters | None = None, kind: str = MERGE_PATCH
    ) -> Object:
        """`kind` is the Content-Type; what comes back is only metadata."""
        return await self.send("PATCH", path, parameters, patch, content_type=kind, accept=METADATA)

    async def delete(self, path: str, options: Object) -> Object:
        """`options` are DeleteOptions without kind and apiVersion. Works for one object and for a collection."""
        body = {"kind": "DeleteOptions", "apiVersion": "v1", **options}
        return await self.send("DELETE", path, None, body)

    async def watch(self, path: str, parameters: Parameters, accept: str = JSON, later: Later | None = None) -> Watch:
        """`parameters` without `watch`; `later` as Watch has it. Raises Refusal."""
        answer = await self._call("GET", path, {**parameters, "watch": "true"}, None, JSON, accept)
        if isinstance(answer, Stream) and answer.status == 200:
            return Watch(answer, later)
        await _read(answer)
        raise Refusal(500, "", f"GET {path}: not a watch")

    async def send(
        self, method: str, path: str, parameters: Parameters | None = None, body: Object | None = None, *,
        content_type: str = JSON, accept: str = JSON,
    ) -> Object:  # fmt: skip
        """The answer's document. Raises Refusal."""
        return await _read(await self._call(method, path, parameters, body, content_type, accept))

    async def get_unless(self, path: str, etag: str, accept: str) -> tuple[Object | None, str]:
        """The document at a path and its ETag; None where the ETag is the one given. Raises Refusal."""
        answer = await self._call("GET", path, None, None, JSON, accept, ((b"if-none-match", etag.encode()),))
        if answer.status == 304:
            return None, etag
        tag = next((value.decode("latin-1") for name, value in answer.headers if name.lower() == b"etag"), "")
        return await _read(answer), tag

    async def _call(
        self, method: str, path: str, parameters: Parameters | None, body: Object | None,
        content_type: str, accept: str, extra: tuple[tuple[bytes, bytes], ...] = (),
    ) -> Response | Stream:  # fmt: skip
        await self._limit.take()
        headers = [*self._head, (b"accept", accept.encode()), *extra]
        reader: BodyReader = NO_BODY
        if body is not None:
            data = orjson.dumps(body)
            headers += [(b"content-type", content_type.encode()), (b"content-length", b"%d" % len(data))]
            reader = WholeBody(data)
        query = urlencode(parameters) if parameters else ""
        answer = await self._handler(Request(method, path.encode(), query, headers, reader, origin=_HERE))
        if isinstance(answer, Response | Stream):
            return answer
        raise Refusal(500, "", f"{method} {path}: the connection was taken over")


async def _read(answer: Response | Stream) -> Object:
    if isinstance(answer, Stream):
        collector = Collector()
        await answer.run(collector)
        body = b"".join(collector.pieces)
    else:
        body = answer.body if isinstance(answer.body, bytes) else b"".join(answer.body)
    if answer.status >= 300:
        raise _refusal(answer.status, body)
    await asyncio.sleep(0)  # others have their turn between a controller's requests
    document: Any = orjson.loads(body)
    if not isinstance(document, dict):
        raise Refusal(500, "", "the answer is not an object")
    return document


def _refusal(code: int, body: bytes) -> Refusal:
    """From a Status; other bodies are taken as text."""
    try:
        status = orjson.loads(body)
    except orjson.JSONDecodeError:
        status = None
    if not isinstance(status, dict):
        return Refusal(code, "", body[:200].decode("utf-8", "replace").strip())
    return refusal_of(status, code)


def refusal_of(status: Object, code: int = 500) -> Refusal:
    """What a Status says. `code`: where the Status has none."""
    details = status.get("details") or {}
    causes = tuple(str(cause.get("reason", "")) for cause in details.get("causes") or ())
    wait = float(details.get("retryAfterSeconds") or 0)
    return Refusal(
        int(status.get("code") or code), status.get("reason") or "", status.get("message") or "", causes, wait
    )
