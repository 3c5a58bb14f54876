"""Conversion by a webhook: ConversionReviews out, converted objects back (Kubernetes documentation, "Versions in
CustomResourceDefinitions"). Nothing but labels and annotations of an object's metadata may come back changed.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from pilothouse.machinery.jsoncodec import dumps
from pilothouse.serving.client import CallFailed, Client, Destination
from pilothouse.serving.dialing import ClientTLS, DialFailed, client_tls, nobody
from pilothouse.serving.http import BodyTooLarge, HeaderList

Object = dict[str, Any]
Resolve = Callable[[str, str, int], Awaitable[tuple[str, int]]]
"""(namespace, name, port) of a Service -> where to connect. Raises OSError with the reason."""

SECONDS: Final = 30.0  # for one call
_LARGEST: Final = 64 << 20  # bytes of an answer
_CHANGEABLE: Final = ("labels", "annotations")
_FIXED: Final = (("name", "name"), ("namespace", "namespace"), ("uid", "UID"))


class ConversionFailed(Exception):
    """The objects could not be converted; the text is told to the client."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What calls need: a client, a way to find Services, fresh uids."""

    client: Client
    resolve: Resolve
    new_uid: Callable[[], str]


class Webhook:
    """The webhook of one definition. `config`: its `spec.conversion.webhook.clientConfig`."""

    def __init__(self, config: Object, outside: Outside) -> None:
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
            self._url = f"https://{host}:{port}{path if path.startswith('/') else f'/{path}'}"
        else:
            self._service = None
            self._url = str(config.get("url", ""))
        where = urlsplit(self._url)
        self._host, self._port = where.hostname or "", where.port or 443
        query = f"{where.query}&" if where.query else ""
        self._target = f"{where.path or '/'}?{query}timeout={SECONDS:.0f}s"
        self._tls = _trust(config.get("caBundle") or "", self._host)

    def close(self) -> None:
        self._outside.client.forget(self._tls)

    async def convert(self, objects: Sequence[Object], api_version: str) -> list[Object]:
        """The objects (all of one version) in another one. Raises ConversionFailed."""
        first = objects[0]
        head = f"conversion webhook for {first['apiVersion']}, Kind={first['kind']}"
        uid = self._outside.new_uid()
        review = {
            "kind": "ConversionReview",
            "apiVersion": "apiextensions.k8s.io/v1",
            "request": {"uid": uid, "desiredAPIVersion": api_version, "objects": list(objects)},
            "response": {"uid": "", "convertedObjects": None, "result": {"metadata": {}}},
        }
        try:
            answer = await self._call(dumps(review))
        except _CallError as error:
            raise ConversionFailed(f"{head} failed: {error}") from error
        made = _converted(answer, uid, head, len(objects))
        for before, after in zip(objects, made, strict=True):
            _check(before, after, api_version, head)
        return made

    async def _call(self, body: bytes) -> bytes:
        headers: HeaderList = [
            (b"Host", urlsplit(self._url).netloc.encode()),
            (b"Content-Type", b"application/json"),
            (b"Accept", b"application/json, */*"),
        ]
        posted = f'Post "https://{urlsplit(self._url).netloc}{self._target}"'
        try:
            async with asyncio.timeout(SECONDS):
                host, port = self._host, self._port
                if self._service is not None:
                    host, port = await self._outside.resolve(*self._service)
                destination = Destination(host, port, self._tls)
                answered = await self._outside.client.call(destination, "POST", self._target.encode(), headers, body)
                data = await answered.read(_LARGEST)
        except TimeoutError:
            raise _CallError(f"{posted}: context deadline exceeded") from None
        except (DialFailed, CallFailed, OSError) as error:
            raise _CallError(f"{posted}: {error}") from error
        except BodyTooLarge as error:
            raise _CallError(f"the answer is larger than {_LARGEST} bytes") from error
        if answered.status != 200:
            raise _CallError(_refusal(answered.status, data))
        return data


class _CallError(Exception):
    """No usable answer."""


def _trust(bundle: str, name: str) -> ClientTLS:
    """With a bundle that cannot be read nobody is trusted: calls fail, and say why."""
    try:
        return client_tls(name, authorities=base64.b64decode(bundle) if bundle else b"")
    except (OSError, ValueError, binascii.Error):
        return nobody(name)


def _refusal(status: int, data: bytes) -> str:
    """What an answer other than 200 says: a Status' message, or the usual words."""
    try:
        found = orjson.loads(data)
        if found.get("kind") == "Status" and found.get("message"):
            return str(found["message"])
    except (orjson.JSONDecodeError, AttributeError):
        pass  # no Status: the usual words follow
    if status >= 500:
        return 'an error on the server ("unknown") has prevented the request from succeeding'
    if status == 404:
        return "the server could not find the requested resource"
    return f"the server rejected our request for an unknown reason (HTTP {status})"


def _converted(data: bytes, uid: str, head: str, count: int) -> list[Object]:
    try:
        review = orjson.loads(data)
        response = review["response"]
        if review["kind"] != "ConversionReview":
            raise KeyError("kind")
        status, message = response["result"].get("status"), response["result"].get("message")
        found = response.get("convertedObjects") or []
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise ConversionFailed(f"{head} failed: the answer is no ConversionReview: {error!r}") from error
    if response.get("uid") != uid:
        raise ConversionFailed(f'{head} failed: expected response.uid "{uid}", got "{response.get("uid", "")}"')
    if status != "Success":
        raise ConversionFailed(f"{head} failed: {message or 'no reason was given'}")
    if len(found) != count:
        raise ConversionFailed(f"{head} returned {len(found)} objects, expected {count}")
    made: list[Object] = found
    return made


def _check(before: Object, after: Any, api_version: str, head: str) -> None:
    """Put back what a conversion may not touch; what it must not touch at all is refused."""
    if not isinstance(after, dict) or not isinstance(after.get("metadata"), dict):
        raise ConversionFailed(f"{head} returned invalid object: missing metadata")
    if after.get("apiVersion") != api_version:
        why = f"invalid groupVersion (expected {api_version}, received {after.get('apiVersion')})"
        raise ConversionFailed(f"{head} returned invalid converted object: {why}")
    if after.get("kind") != before["kind"]:
        why = f"invalid kind (expected {before['kind']}, received {after.get('kind')})"
        raise ConversionFailed(f"{head} returned invalid converted object: {why}")
    old, new = before["metadata"], after["metadata"]
    for member, word in _FIXED:
        if new.get(member, "") != old.get(member, ""):
            why = f"must have the same {word}: {old.get(member, '')} != {new.get(member, '')}"
            raise ConversionFailed(f"{head} returned invalid object: {why}")
    kept = {name: value for name, value in old.items() if name not in _CHANGEABLE}
    after["metadata"] = kept | {name: new[name] for name in _CHANGEABLE if new.get(name)}
