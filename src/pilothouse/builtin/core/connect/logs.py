"""pods/log: what a container wrote, as the kubelet gives it (API reference, "Pod", "read log")."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

from pilothouse.builtin.core.connect.kubelets import Outgoing, kubelet_of
from pilothouse.builtin.core.connect.passing import returned_headers, streamed, wants_upgrade
from pilothouse.builtin.core.connect.pods import container_of, pod_of
from pilothouse.builtin.core.connect.streams import subprotocols
from pilothouse.endpoints.options import flag, parse_integer
from pilothouse.endpoints.requestinfo import Query, RequestInfo
from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError, bad_request, bare_internal, invalid
from pilothouse.machinery.rules import Field, rules
from pilothouse.machinery.times import TimeError, canonical_time, parse_time
from pilothouse.registry.resource import Object
from pilothouse.registry.store import GenericStore
from pilothouse.serving.client import Answered, CallFailed, Destination
from pilothouse.serving.dialing import DialFailed, Untrusted
from pilothouse.serving.http import (
    Answer,
    BodyTooLarge,
    ClientGone,
    HeaderList,
    RawConnection,
    Request,
    Response,
    Upgrade,
)
from pilothouse.serving.messages import BINARY, TEXT, Messages, accepted

if TYPE_CHECKING:
    from pilothouse.builtin.oddparts import PartContext

_FLAGS: Final = ("follow", "previous", "timestamps", "insecureSkipTLSVerifyBackend")
_NUMBERS: Final = ("sinceSeconds", "tailLines", "limitBytes")
_PASSED: Final = ("follow", "limitBytes", "previous", "sinceSeconds", "sinceTime", "tailLines", "timestamps")
BASE64: Final = "base64.binary.k8s.io"
_PROTOCOLS: Final = ("binary.k8s.io", BASE64)
_POSITIVE: Final = "must be greater than 0"
_LONGEST_TEXT: Final = 1 << 20  # bytes of an error's body


def _check(options: Object, field: Field) -> None:
    tail, limit, since = (options.get(name) for name in ("tailLines", "limitBytes", "sinceSeconds"))
    if tail is not None and tail < 0:
        field.invalid("tailLines", tail, "must be greater than or equal to 0")
    if limit is not None and limit < 1:
        field.invalid("limitBytes", limit, _POSITIVE)
    if since is not None and options.get("sinceTime") is not None:
        field.forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified")
    elif since is not None and since < 1:
        field.invalid("sinceSeconds", since, _POSITIVE)
    if options.get("stream") is not None:
        field.forbidden("stream", "may not be specified")


_validate: Final = rules(_check)


@record
class PodLogs:
    pods: GenericStore
    nodes: GenericStore
    outgoing: Outgoing
    methods: frozenset[str] = frozenset({"GET"})
    admitted: bool = False
    deep: bool = False

    def options(self, info: RequestInfo, query: Query, path: str) -> Object:
        options: dict[str, Any] = {name: True for name in _FLAGS if flag(query, name)}
        options |= {name: parse_integer(query.get(name)) for name in _NUMBERS if name in query}
        for name in ("container", "stream"):
            if query.get(name):
                options[name] = query.get(name)
        if query.get("sinceTime"):
            options["sinceTime"] = _time(query.get("sinceTime"))
        causes = _validate(options, None, None)
        if causes:
            raise invalid("", "PodLogOptions", info.name, causes)
        return options

    async def connect(self, info: RequestInfo, options: Object, request: Request) -> Answer:
        pod = await pod_of(self.pods, info.namespace, info.name)
        container = container_of(pod, options.get("container", ""))
        node = (pod.get("spec") or {}).get("nodeName")
        if not node:
            return Response(204, [])
        kubelet = await kubelet_of(self.nodes, node, self.outgoing.preferred)
        careless = bool(options.get("insecureSkipTLSVerifyBackend"))
        self.outgoing.logs.asked(careless=careless)
        destination = kubelet.destination(self.outgoing, careless=careless)
        answered = await self._ask(destination, _target(info, container, options), info.name)
        if (wants_upgrade(request) or b"").lower() == b"websocket":
            return _over_websocket(answered, request)
        return streamed(answered, returned_headers(answered))

    async def _ask(self, destination: Destination, target: str, name: str) -> Answered:
        headers: HeaderList = [(b"Host", destination.authority.encode()), (b"User-Agent", b"pilothouse")]
        try:
            answered = await self.outgoing.client.call(destination, "GET", target.encode(), headers)
            if answered.status != 200:
                raise await _failure(answered, name)
        except (DialFailed, CallFailed) as error:
            if isinstance(error, Untrusted):
                self.outgoing.logs.failed()
            raise bare_internal(f'Get "https://{destination.authority}{target}": {error}') from error
        return answered


def _over_websocket(answered: Answered, request: Request) -> Answer:
    """A message for each piece that comes, the first one empty."""
    offered = subprotocols(request)
    protocol = next((one for one in offered if one in _PROTOCOLS), "")
    if offered and not protocol:
        answered.close()
        return Response(403, [])
    plain = protocol != BASE64

    async def copy(messages: Messages) -> None:
        await messages.send(b"", BINARY if plain else TEXT)
        while data := await answered.chunk():
            await messages.send(data if plain else base64.b64encode(data), BINARY if plain else TEXT)
        await messages.close()

    async def talk(front: RawConnection) -> None:
        messages = Messages(front)
        halves = [asyncio.ensure_future(copy(messages)), asyncio.ensure_future(_until_gone(messages))]
        try:
            await asyncio.wait(halves, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for half in halves:
                half.cancel()
            results = await asyncio.gather(*halves, return_exceptions=True)
            if isinstance(results[0], CallFailed | ClientGone):
                front.abort()
            answered.close()

    return Upgrade(101, accepted(request, protocol), talk)


async def _until_gone(messages: Messages) -> None:
    """What the client says is ignored, but for pings and the end."""
    while await messages.receive() is not None:
        continue


def _time(text: str) -> str:
    try:
        parse_time(text)
    except TimeError as error:
        raise bad_request(str(error)) from error
    return canonical_time(text) or text


def _target(info: RequestInfo, container: str, options: Object) -> str:
    path = "/".join(quote(segment) for segment in ("", "containerLogs", info.namespace, info.name, container))
    parameters = [(name, _word(options[name])) for name in _PASSED if name in options]
    return f"{path}?{urlencode(parameters)}" if parameters else path


def _word(value: Any) -> str:
    return "true" if value is True else str(value)


async def _failure(answered: Answered, name: str) -> APIError:
    """What a kubelet's refusal is to the client."""
    try:
        text = (await answered.read(_LONGEST_TEXT)).decode("utf-8", "replace").strip()
    except BodyTooLarge:
        answered.close()
        text = "the answer of the kubelet is too long"
    if answered.status == 400:
        return bad_request(text)
    details = {"name": name, "kind": "pods/log"}
    where = f"( pods/log {name})"
    if answered.status == 404:
        return APIError(404, "NotFound", f"the server could not find the requested resource {where}", details)
    message = f'an error on the server ("{text}") has prevented the request from succeeding {where}'
    return APIError(answered.status, "InternalError", message, details)


def logs(context: PartContext) -> PodLogs:
    return PodLogs(context.stores["", "pods"], context.stores["", "nodes"], context.outgoing)
