"""Our own requests to the servers behind API services: short documents, within a time and a size."""

from __future__ import annotations

import asyncio
from typing import Final

from pilothouse.aggregator.identity import identity
from pilothouse.aggregator.proxy import Backend
from pilothouse.aggregator.services import Resolver, Unresolved
from pilothouse.kit.record import record
from pilothouse.registry.request import Caller
from pilothouse.serving.client import CallFailed, Client, Destination
from pilothouse.serving.dialing import DialFailed
from pilothouse.serving.http import BodyTooLarge, HeaderList

SECONDS: Final = 5.0
_SELF: Final = Caller("system:kube-aggregator", "", ("system:masters",))


class Unanswered(Exception):
    """No answer; `url` is what was asked for, where an address was found."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(why)
        self.url = url


@record
class Document:
    """An answer. `media_type` as it was sent; `etag` "" where there is none."""

    url: str
    status: int
    media_type: str
    etag: str
    body: bytes


class Reader:
    """Reads documents of backends."""

    def __init__(self, client: Client, resolver: Resolver) -> None:
        self._client = client
        self._resolver = resolver

    async def get(
        self, backend: Backend, path: str, *, accept: str = "application/json", etag: str = "", limit: int = 8 << 20,
        seconds: float = SECONDS,
    ) -> Document:  # fmt: skip
        """Raises Unanswered."""
        url = path
        try:
            async with asyncio.timeout(seconds):
                host, port = await self._resolver.address(backend.reference)
                destination = Destination(host, port, backend.tls)
                url = f"https://{destination.authority}{path}"
                headers: HeaderList = [
                    (b"Host", destination.authority.encode()),
                    (b"User-Agent", b"pilothouse"),
                    (b"Accept", accept.encode()),
                    *identity(_SELF),
                ]
                if etag:
                    headers.append((b"If-None-Match", etag.encode("latin-1")))
                answered = await self._client.call(destination, "GET", path.encode(), headers)
                try:
                    body = await answered.read(limit)
                finally:
                    answered.close()
        except TimeoutError:
            raise Unanswered(
                url, "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
            ) from None
        except BodyTooLarge:
            raise Unanswered(url, f"the answer is longer than {limit} bytes") from None
        except (DialFailed, CallFailed, Unresolved) as error:
            raise Unanswered(url, str(error)) from error
        found = {name: value.decode("latin-1") for name, value in answered.headers}
        return Document(url, answered.status, found.get(b"Content-Type", ""), found.get(b"Etag", ""), body)
