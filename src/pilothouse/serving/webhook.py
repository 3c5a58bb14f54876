"""Calls of webhooks: where one is (a URL or a Service), whom to trust there, one POST of JSON, errors in the words
that operators know. Conversion and admission share it.

Redirects are followed on the same host alone: a webhook must not send the server to places that it may not reach.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Any, Final
from urllib.parse import quote, urljoin, urlsplit

import orjson

from pilothouse.kit.record import record
from pilothouse.kit.traceparent import TRACEPARENT
from pilothouse.serving.client import Answered, CallFailed, Client, Destination
from pilothouse.serving.dialing import ClientTLS, DialFailed, client_tls, nobody
from pilothouse.serving.http import BodyTooLarge, HeaderList
from pilothouse.serving.webhook_metrics import CallMetrics

Resolve = Callable[[str, str, int], Awaitable[tuple[str, int]]]
"""(namespace, name, port) of a Service -> where to connect. Raises OSError with the reason."""

LARGEST: Final = 64 << 20  # bytes of an answer
_MOST_REDIRECTS: Final = 10
_MOST_OF_REDIRECT: Final = 64 << 10  # bytes of its body
_AS_GET: Final = frozenset({301, 302, 303})
_REDIRECTS: Final = _AS_GET | {307, 308}
_KEPT_SIGNS: Final = "/%$&+,:;=@~!*'()"  # of a path, not escaped
_WORDS: Final = {
    401: "the server has asked for the client to provide credentials",
    403: "unknown",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}


class CallError(Exception):
    """No usable answer; the text says why. `status`: of HTTP, where one came."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status


@record
class Outside:
    """What calls need: a client, a way to find Services, fresh uids."""

    client: Client
    resolve: Resolve
    new_uid: Callable[[], str]
    metrics: CallMetrics = field(default_factory=CallMetrics)


class Endpoint:
    """One webhook as a `clientConfig` says it: `url` or `service` (namespace, name, port, path), and `caBundle`.

    Raises ValueError for a URL that is none.
    """

    def __init__(self, config: dict[str, Any], outside: Outside) -> None:
        self._outside = outside
        service = config.get("service")
        if service is not None:
            host = f"{service.get('name', '')}.{service.get('namespace', '')}.svc"
            self._service: tuple[str, str, int] | None = (
                service.get("namespace", ""),
                service.get("name", ""),
                service.get("port") or 443,
            )
            port, path = self._service[2], service.get("path") or "/"
            url = f"https://{host}:{port}{path if path.startswith('/') else f'/{path}'}"
        else:
            self._service = None
            url = str(config.get("url", ""))
        where = urlsplit(url)
        self._authority = where.netloc
        self._host, self._port = where.hostname or "", where.port or 443
        self._path = quote(where.path or "/", safe=_KEPT_SIGNS)
        self._query = f"{where.query}&" if where.query else ""
        self._tls = _trust(config.get("caBundle") or "", self._host)

    def close(self) -> None:
        """Nobody calls it any more: connections that are kept are closed."""
        self._outside.client.forget(self._tls)

    async def post(self, body: bytes, seconds: float, most: int = LARGEST) -> bytes:
        """The body of the answer 200, of `most` bytes, that comes within `seconds`. Raises CallError."""
        target = f"{self._path}?{self._query}timeout={seconds:.0f}s"
        posted = f'Post "https://{self._authority}{target}"'
        metrics = self._outside.metrics
        began = metrics.clock()
        try:
            async with asyncio.timeout(seconds):
                answered = await self._final(target, body)
                data = await answered.read(most)
            metrics.answered(self._authority, answered.status, began, len(body), len(data))
        except TimeoutError:
            metrics.failed(self._authority, began, len(body))
            raise CallError(f"{posted}: context deadline exceeded") from None
        except (DialFailed, CallFailed, OSError, UnicodeError) as error:
            metrics.failed(self._authority, began, len(body))
            raise CallError(f"{posted}: {error}") from error
        except BodyTooLarge as error:
            raise CallError(f"the answer is larger than {most} bytes") from error
        data = _unpacked(answered, data, most)
        if answered.status != 200:
            raise CallError(_refusal(answered.status, data), answered.status)
        return data

    async def _final(self, target: str, body: bytes) -> Answered:
        """The answer behind all redirects."""
        host, port = self._host, self._port
        if self._service is not None:
            host, port = await self._outside.resolve(*self._service)
        destination = Destination(host, port, self._tls)
        method = "POST"
        for _ in range(_MOST_REDIRECTS):
            answered = await self._sent(destination, method, target, body)
            if answered.status not in _REDIRECTS:
                return answered
            location = _header(answered, b"location")
            if not location:
                return answered
            await answered.read(_MOST_OF_REDIRECT)
            if answered.status in _AS_GET:
                method, body = "GET", b""
            target = self._moved(target, location)
        raise CallError(f"stopped after {_MOST_REDIRECTS} redirects")

    async def _sent(self, destination: Destination, method: str, target: str, body: bytes) -> Answered:
        headers: HeaderList = [
            (b"Host", self._authority.encode()),
            (b"User-Agent", b"pilothouse"),
            (b"Content-Type", b"application/json"),
            (b"Accept", b"application/json, */*"),
            (b"Accept-Encoding", b"gzip"),
        ]
        parent = TRACEPARENT.get()
        if parent:
            headers.append((b"Traceparent", parent))
        call = self._outside.client.call
        try:
            return await call(destination, method, target.encode(), headers, body)
        except CallFailed as failure:
            if not failure.unsent:
                raise
        self._outside.client.forget(self._tls)  # what else is kept is as old
        return await call(destination, method, target.encode(), headers, body)

    def _moved(self, target: str, location: str) -> str:
        """The target of a redirect. Raises CallError for another host."""
        here = f"https://{self._authority}"
        there = urlsplit(urljoin(f"{here}{target}", location))
        if (there.scheme, there.netloc) != ("https", self._authority):
            raise CallError(f"redirected to another host: {there.scheme}://{there.netloc}")
        path = quote(there.path or "/", safe=_KEPT_SIGNS)
        return f"{path}?{there.query}" if there.query else path


def _trust(bundle: str, name: str) -> ClientTLS:
    """With a bundle that cannot be read nobody is trusted: calls fail, and say why."""
    try:
        return client_tls(name, authorities=base64.b64decode(bundle) if bundle else b"")
    except (OSError, ValueError, binascii.Error):
        return nobody(name)


def _header(answered: Answered, wanted: bytes) -> str:
    return next((value.decode("latin-1") for name, value in answered.headers if name.lower() == wanted), "")


def _unpacked(answered: Answered, data: bytes, most: int) -> bytes:
    """The body without its packing. Raises CallError for one that is broken, or too large."""
    if _header(answered, b"content-encoding").strip().lower() != "gzip":
        return data
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        plain = unpacking.decompress(data, most)
    except zlib.error as error:
        raise CallError(f"gzip: {error}") from error
    if unpacking.unconsumed_tail:
        raise CallError(f"the answer is larger than {most} bytes")
    if not unpacking.eof:
        raise CallError("unexpected EOF")
    return plain


def _refusal(status: int, data: bytes) -> str:
    """What an answer other than 200 says: a Status' message, or the usual words."""
    try:
        found = orjson.loads(data)
        if found.get("kind") == "Status" and found.get("message"):
            return str(found["message"])
    except (orjson.JSONDecodeError, AttributeError):
        pass  # no Status: the usual words follow
    if status in _WORDS:
        return _WORDS[status]
    if status >= 500:
        return 'an error on the server ("unknown") has prevented the request from succeeding'
    return f"the server rejected our request for an unknown reason (HTTP {status})"
