"""pods/proxy, services/proxy, nodes/proxy: HTTP through the server to what runs in the cluster (Kubernetes
documentation, "Access Services Running on Clusters").
"""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pilothouse.builtin.core.connect.kubelets import Outgoing, address_of
from pilothouse.builtin.core.connect.passing import (
    passed_headers,
    returned_headers,
    streamed,
    wants_upgrade,
    whole,
)
from pilothouse.endpoints.requestinfo import Query, RequestInfo
from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError, bad_request
from pilothouse.registry.reader import list_objects
from pilothouse.registry.request import ListOptions
from pilothouse.registry.resource import Object
from pilothouse.serving.body import passed_on
from pilothouse.serving.client import Answered, CallFailed, Destination
from pilothouse.serving.dialing import DialFailed
from pilothouse.serving.http import Answer, HeaderList, Request, Response, Upgrade
from pilothouse.serving.tunnel import tunnel

if TYPE_CHECKING:
    from pilothouse.builtin.oddparts import PartContext, Stores

METHODS: Final = frozenset({"GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH"})
_PORTS: Final = {"http": 80, "https": 443}
_TEXT: Final = (b"Content-Type", b"text/plain; charset=utf-8")
_SERVICE_LABEL: Final = "kubernetes.io/service-name"
_WHOLE: Final = 128 << 10  # bytes of an answer that are waited for and sent at once
Find = Callable[["Where"], Awaitable[Destination]]


@record
class Where:
    """What the name in the path says: `http:web:8080`, `web:8080` or `web`."""

    namespace: str
    scheme: str
    name: str
    port: str


@record
class Proxy:
    kind: str  # of the options
    what: str  # for refusals
    find: Find
    outgoing: Outgoing
    methods: frozenset[str] = METHODS
    admitted: bool = True
    deep: bool = True

    def options(self, info: RequestInfo, query: Query, path: str) -> Object:
        options: Object = {"kind": self.kind, "apiVersion": "v1"}
        return {**options, "path": path} if path else options

    async def connect(self, info: RequestInfo, options: Object, request: Request) -> Answer:
        where = _parsed(info, self.what)
        destination = await self.find(where)
        path = options.get("path", "")
        if not path and request.method in ("GET", "HEAD") and wants_upgrade(request) is None:
            return _with_slash(request)
        target = (path or "/") + (f"?{request.query}" if request.query else "")
        return await self._pass_on(destination, target, request)

    async def _pass_on(self, destination: Destination, target: str, request: Request) -> Answer:
        headers: HeaderList = passed_headers(request, destination.authority.encode())
        protocol = wants_upgrade(request)
        if protocol is not None:
            headers += [(b"Connection", b"Upgrade"), (b"Upgrade", protocol)]
        client = self.outgoing.client
        try:
            body, length = await passed_on(request)
            answered = await client.call(destination, request.method, target.encode("latin-1"), headers, body, length)
            return await _answer(answered, request)
        except (DialFailed, CallFailed) as error:
            return Response(503, [_TEXT], f"error trying to reach service: {error}".encode())


async def _answer(answered: Answered, request: Request) -> Answer:
    raw = answered.raw
    if raw is not None:
        return Upgrade(answered.status, answered.headers, lambda front: tunnel(front, raw))
    headers = _relocated(returned_headers(answered), request)
    length = answered.length
    if answered.whole or request.method == "HEAD" or (length is not None and length <= _WHOLE):
        return await whole(answered, headers)
    if length is not None:
        headers.append((b"Content-Length", b"%d" % length))
    return streamed(answered, headers)


def _relocated(headers: HeaderList, request: Request) -> HeaderList:
    """A redirect within the proxied server stays within the proxy."""
    return [(name, _location(value, request) if name.lower() == b"location" else value) for name, value in headers]


def _location(value: bytes, request: Request) -> bytes:
    parts = urlsplit(value.decode("latin-1"))
    if parts.netloc or not parts.path.startswith("/"):
        return value
    before, mark, _ = request.raw_path.partition(b"/proxy")
    return before + mark + value


def _with_slash(request: Request) -> Response:
    """What is proxied begins at a slash: links in it are relative to that."""
    query = f"?{request.query}" if request.query else ""
    return Response(301, [(b"Location", request.raw_path + b"/" + query.encode("latin-1"))])


def _parsed(info: RequestInfo, what: str) -> Where:
    """Raises BadRequest for a name that is none."""
    parts = info.name.split(":")
    if len(parts) == 1:
        return Where(info.namespace, "", parts[0], "")
    scheme, name, port = parts if len(parts) == 3 else ("", *parts) if len(parts) == 2 else ("?", "", "")
    if scheme not in ("", "http", "https") or not name:
        raise bad_request(f'invalid {what} request "{info.name}"')
    return Where(info.namespace, scheme, name, port)


def _allowed(host: str) -> str:
    """An address that lies in the cluster. Raises BadRequest for the server's own and others that lead nowhere."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        if not host or host == "localhost" or host.endswith(".localhost"):
            raise bad_request("address not allowed") from None
        return host
    if address.is_loopback or address.is_link_local or address.is_multicast or address.is_unspecified:
        raise bad_request("address not allowed")
    return host


def _destination(outgoing: Outgoing, where: Where, host: str, port: str | int) -> Destination:
    tls = outgoing.careless if where.scheme == "https" else None
    return Destination(_allowed(host), int(port or _PORTS[where.scheme or "http"]), tls)


# Where they lie


def _pods(stores: Stores, outgoing: Outgoing) -> Find:
    async def find(where: Where) -> Destination:
        pods = stores["", "pods"]
        pod = pods.codec.decode(await pods.get(where.namespace, where.name))
        port: str | int = where.port
        if not port:
            listed = [one for box in (pod.get("spec") or {}).get("containers") or () for one in box.get("ports") or ()]
            port = listed[0].get("containerPort", "") if listed else ""
        return _destination(outgoing, where, (pod.get("status") or {}).get("podIP") or "", _number(port, where.port))

    return find


def _nodes(stores: Stores, outgoing: Outgoing) -> Find:
    async def find(where: Where) -> Destination:
        nodes = stores["", "nodes"]
        node = nodes.codec.decode(await nodes.get("", where.name))
        kubelet = address_of(node, outgoing.preferred)
        if not where.port or str(kubelet.port) == where.port:
            _allowed(kubelet.host)
            return kubelet.destination(outgoing)
        return _destination(outgoing, where, kubelet.host, _number(where.port, where.port))

    return find


def _services(stores: Stores, outgoing: Outgoing, choose: Callable[[list[Any]], Any]) -> Find:
    async def find(where: Where) -> Destination:
        found = await _endpoints(stores, where)
        if not found:
            message = f'no endpoints available for service "{where.name}"'
            raise APIError(503, "ServiceUnavailable", message)
        host, port = choose(found)
        return _destination(outgoing, where, host, port)

    return find


def _number(port: str | int, written: str) -> str | int:
    if isinstance(port, str) and port and not port.isdigit():
        raise bad_request(f'invalid port "{written}"')
    return port


async def _endpoints(stores: Stores, where: Where) -> list[tuple[str, int]]:
    """Addresses and ports of what is ready behind a service, by the name of the port."""
    slices = stores["discovery.k8s.io", "endpointslices"]
    options = ListOptions(label_selector=f"{_SERVICE_LABEL}={where.name}")
    name = await _port_name(stores, where)
    found: list[tuple[str, int]] = []
    for stored in (await list_objects(slices, where.namespace, options)).items:
        one = slices.codec.decode(stored)
        ports = [port.get("port") for port in one.get("ports") or () if (port.get("name") or "") == name]
        for endpoint in one.get("endpoints") or ():
            if (endpoint.get("conditions") or {}).get("ready") is not False:
                found += [(address, port) for address in endpoint.get("addresses") or () for port in ports if port]
    return found


async def _port_name(stores: Stores, where: Where) -> str:
    """A port that is given by its number has the name that the service gives it."""
    if not where.port.isdigit():
        return where.port
    services = stores["", "services"]
    try:
        service = services.codec.decode(await services.get(where.namespace, where.name))
    except APIError as error:
        if error.code != 404:
            raise
        return where.port
    for port in (service.get("spec") or {}).get("ports") or ():
        if str(port.get("port")) == where.port:
            name: str = port.get("name") or ""
            return name
    return where.port


def pods(context: PartContext) -> Proxy:
    return Proxy("PodProxyOptions", "pod", _pods(context.stores, context.outgoing), context.outgoing)


def nodes(context: PartContext) -> Proxy:
    return Proxy("NodeProxyOptions", "node", _nodes(context.stores, context.outgoing), context.outgoing)


def services(context: PartContext) -> Proxy:
    find = _services(context.stores, context.outgoing, random.choice)
    return Proxy("ServiceProxyOptions", "service", find, context.outgoing)
