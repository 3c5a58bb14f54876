"""The server in front of an extension: whom it names callers with, and whether it allows what they ask."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from pilothouse.auth.attributes import Attributes
from pilothouse.auth.refusal import refusal_at_the_door
from pilothouse.endpoints.requestinfo import RequestInfo
from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError
from pilothouse.registry.request import Caller
from pilothouse.serving.client import CallFailed, Client, Destination
from pilothouse.serving.dialing import DialFailed, client_tls
from pilothouse.serving.http import Answer, BodyTooLarge, Filter, Handler, HeaderList, Request

MASTERS: Final = "system:masters"
INFO: Final = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_SECONDS: Final = 10.0
_REMEMBERED: Final = 10.0  # seconds that a decision is good for
_MOST: Final = 4096  # decisions that are remembered
_LARGEST: Final = 1 << 20
_OPEN: Final = ("/healthz", "/livez", "/readyz")  # for anybody
Object = dict[str, Any]


@record
class Trusted:
    """Who may name callers: certificates of clients, signed by one of `authorities` (PEM) for one of `names`."""

    authorities: bytes
    names: tuple[str, ...] = ()


class Upstream:
    """The server in front. `authorities`: PEM of the CA of its certificate, b"" for those of the system."""

    def __init__(self, url: str, *, token: Callable[[], str] | str = "", authorities: bytes = b"") -> None:
        self._url = urlsplit(url)
        self._token = token if callable(token) else lambda: token
        self._authorities = authorities
        self._client: Client | None = None
        self._destination: Destination | None = None
        self._decisions: OrderedDict[bytes, tuple[float, bool, str]] = OrderedDict()

    def _connection(self) -> tuple[Client, Destination]:
        """Made on the loop that uses it."""
        if self._client is None or self._destination is None:
            host = self._url.hostname or "localhost"
            secure = self._url.scheme == "https"
            tls = client_tls(host, authorities=self._authorities) if secure else None
            self._client = Client()
            self._destination = Destination(host, self._url.port or (443 if secure else 80), tls)
        return self._client, self._destination

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    async def call(self, method: str, path: str, body: Object | None = None) -> Object:
        """A JSON document. Raises APIError."""
        client, destination = self._connection()
        headers: HeaderList = [
            (b"Host", destination.authority.encode()),
            (b"Accept", b"application/json"),
            (b"Content-Type", b"application/json"),
            (b"Authorization", b"Bearer " + self._token().encode()),
        ]
        data = b"" if body is None else orjson.dumps(body)
        try:
            async with asyncio.timeout(_SECONDS):
                answered = await client.call(destination, method, path.encode(), headers, data)
                found = await answered.read(_LARGEST)
        except (DialFailed, CallFailed, TimeoutError, BodyTooLarge) as error:
            raise APIError(500, "InternalError", f"{method} {path}: {error}") from error
        if answered.status >= 300:
            raise APIError(500, "InternalError", f"{method} {path}: status {answered.status}")
        document: Object = json.loads(found)
        return document

    async def trusted(self) -> Trusted:
        """Who may name callers, as the front says. Raises APIError."""
        data = (await self.call("GET", INFO)).get("data") or {}
        names = json.loads(data.get("requestheader-allowed-names", "[]"))
        return Trusted(data.get("requestheader-client-ca-file", "").encode(), tuple(names))

    async def allows(self, attributes: Attributes) -> tuple[bool, str]:
        """Whether the front allows it, and its reason. Raises APIError."""
        spec = _spec(attributes)
        key = orjson.dumps(spec)
        known = self._decisions.get(key)
        now = time.monotonic()
        if known is not None and known[0] > now:
            return known[1], known[2]
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
        status = (await self.call("POST", REVIEWS, review)).get("status") or {}
        allowed, reason = bool(status.get("allowed")), str(status.get("reason") or "")
        self._decisions[key] = now + _REMEMBERED, allowed, reason
        if len(self._decisions) > _MOST:
            self._decisions.popitem(last=False)
        return allowed, reason


def _spec(attributes: Attributes) -> Object:
    caller = attributes.caller
    spec: Object = {
        "user": caller.name,
        "uid": caller.uid,
        "groups": list(caller.groups),
        "extra": {key: list(values) for key, values in caller.extra},
    }
    if not attributes.is_resource:
        return {**spec, "nonResourceAttributes": {"path": attributes.path, "verb": attributes.verb}}
    asked = {
        "verb": attributes.verb,
        "group": attributes.group,
        "version": attributes.version,
        "resource": attributes.resource,
        "subresource": attributes.subresource,
        "namespace": attributes.namespace,
        "name": attributes.name,
    }
    return {**spec, "resourceAttributes": {key: value for key, value in asked.items() if value}}


def delegated(upstream: Upstream | None) -> Filter:
    """Each request is put to the front's authorizers; without a front whoever was let in may do everything."""

    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            caller = request.attached(Caller)
            if upstream is not None and MASTERS not in caller.groups and request.path not in _OPEN:
                info = request.attached(RequestInfo)
                attributes = Attributes(
                    caller, info.verb, info.is_resource, info.path, info.group, info.version, info.namespace,
                    info.resource, info.subresource, info.name,
                )  # fmt: skip
                allowed, reason = await upstream.allows(attributes)
                if not allowed:
                    raise refusal_at_the_door(attributes, reason)
            return await inner(request)

        return handle

    return build


def in_cluster(environment: Mapping[str, str] = os.environ, account: Path = _ACCOUNT) -> Upstream:
    """The server of the cluster in which this program runs, by what each pod is given. Raises OSError, KeyError."""
    host, port = environment["KUBERNETES_SERVICE_HOST"], environment["KUBERNETES_SERVICE_PORT"]
    where = f"[{host}]" if ":" in host else host
    token = account / "token"  # it is replaced from time to time
    return Upstream(
        f"https://{where}:{port}",
        token=lambda: token.read_text().strip(),
        authorities=(account / "ca.crt").read_bytes(),
    )
