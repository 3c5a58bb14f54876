"""pods/exec, pods/attach, pods/portforward: a bare connection between the client and the kubelet, whatever they speak
on it (Kubernetes documentation, "Get a Shell to a Running Container", "Use Port Forwarding").
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode

from pilothouse.builtin.core.connect.kubelets import Outgoing, kubelet_of
from pilothouse.builtin.core.connect.passing import passed_headers, returned_headers, wants_upgrade, whole
from pilothouse.builtin.core.connect.pods import container_of, node_of, pod_of
from pilothouse.builtin.core.connect.translate import PROTOCOL, Command, translate
from pilothouse.endpoints.options import flag
from pilothouse.endpoints.requestinfo import Query, RequestInfo
from pilothouse.endpoints.websocket import TOKEN_PROTOCOL
from pilothouse.kit.record import record
from pilothouse.machinery.digits import unsigned
from pilothouse.machinery.errors import bad_request, bare_internal
from pilothouse.registry.resource import Object
from pilothouse.registry.store import GenericStore
from pilothouse.serving.client import Answered, CallFailed, Destination
from pilothouse.serving.dialing import DialFailed
from pilothouse.serving.http import Answer, HeaderList, RawConnection, Request, Upgrade
from pilothouse.serving.messages import Messages, accepted
from pilothouse.serving.tunnel import tunnel

if TYPE_CHECKING:
    from pilothouse.builtin.oddparts import PartContext

TUNNEL: Final = "SPDY/3.1+"  # before the name of what is spoken within
_STREAMS: Final = ("stdin", "stdout", "stderr", "tty")
# What kubelets call the streams.
_THEIRS: Final = {"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"}
Place = Callable[[Object, Object], str]  # (pod, options) -> target on the kubelet


@record
class PodStreams:
    """One of the three subresources."""

    pods: GenericStore
    nodes: GenericStore
    outgoing: Outgoing
    read: Callable[[Query], Object]
    place: Place
    commands: bool  # whether what runs there has standard streams
    methods: frozenset[str] = frozenset({"GET", "POST"})
    admitted: bool = True
    deep: bool = False

    def options(self, info: RequestInfo, query: Query, path: str) -> Object:
        return self.read(query)

    async def connect(self, info: RequestInfo, options: Object, request: Request) -> Answer:
        pod = await pod_of(self.pods, info.namespace, info.name)
        target = self.place(pod, options)
        kubelet = await kubelet_of(self.nodes, node_of(pod), self.outgoing.preferred)
        destination = kubelet.destination(self.outgoing)
        protocol = wants_upgrade(request)
        if protocol is None:
            raise bad_request("Upgrade request required")
        offered = subprotocols(request) if protocol.lower() == b"websocket" else []
        if self.commands and PROTOCOL in offered:
            command = Command(destination, target, options)
            run = partial(translate, self.outgoing, command)
            return Upgrade(101, accepted(request, PROTOCOL), run)
        tunnelled = next((one for one in offered if one.startswith(TUNNEL)), "")
        if tunnelled and not self.commands:
            return await self._tunnel(destination, target, request, tunnelled)
        return await self._pass_on(destination, target, request, protocol)

    async def _tunnel(self, destination: Destination, target: str, request: Request, protocol: str) -> Answer:
        """The client puts the bytes of SPDY into messages; the kubelet gets them as they are."""
        host = next((value for name, value in request.headers if name == b"host"), b"")
        kept = [pair for pair in passed_headers(request, host) if not pair[0].startswith(b"sec-websocket-")]
        kept += [(b"Connection", b"Upgrade"), (b"Upgrade", b"SPDY/3.1")]
        kept.append((b"X-Stream-Protocol-Version", protocol.removeprefix(TUNNEL).encode()))
        answered = await self._call(destination, "POST", target, kept)
        raw = answered.raw
        if raw is None:
            return await self._refused(answered)
        return Upgrade(101, accepted(request, protocol), lambda front: tunnel(Unwrapped(front), raw))

    async def _pass_on(self, destination: Destination, target: str, request: Request, protocol: bytes) -> Answer:
        host = next((value for name, value in request.headers if name == b"host"), b"")
        headers: HeaderList = [*passed_headers(request, host), (b"Connection", b"Upgrade"), (b"Upgrade", protocol)]
        answered = await self._call(destination, request.method, target, headers)
        raw = answered.raw
        if raw is None:
            return await self._refused(answered)
        return Upgrade(answered.status, answered.headers, lambda front: tunnel(front, raw))

    async def _call(self, destination: Destination, method: str, target: str, headers: HeaderList) -> Answered:
        try:
            return await self.outgoing.client.call(destination, method, target.encode(), headers)
        except (DialFailed, CallFailed) as error:
            raise bare_internal(f"error dialing backend: {error}") from error

    @staticmethod
    async def _refused(answered: Answered) -> Answer:
        """What the kubelet said instead, as it said it."""
        try:
            return await whole(answered, returned_headers(answered))
        except CallFailed as error:
            raise bare_internal(f"error dialing backend: {error}") from error


def subprotocols(request: Request) -> list[str]:
    """What a client would speak over WebSocket, but for the one that carries its token."""
    words = (request.header(b"sec-websocket-protocol") or "").split(",")
    return [word.strip() for word in words if word.strip() and not word.strip().startswith(TOKEN_PROTOCOL)]


class Unwrapped:
    """The client's end of a tunnel: a bare connection whose bytes travel in messages."""

    def __init__(self, front: RawConnection) -> None:
        self._front = front
        self._messages = Messages(front)

    @property
    def gone(self) -> bool:
        return self._front.gone

    async def receive(self) -> bytes:
        while (message := await self._messages.receive()) is not None:
            if message:
                return message
        return b""

    async def send(self, data: bytes) -> None:
        await self._messages.send(data)

    def end(self) -> None:
        self._front.end()

    def abort(self) -> None:
        self._front.abort()


def _streams(query: Query) -> Object:
    return {name: True for name in _STREAMS if flag(query, name)}


def _exec_options(query: Query) -> Object:
    options: Object = {"kind": "PodExecOptions", "apiVersion": "v1", **_streams(query)}
    if query.get("container"):
        options["container"] = query.get("container")
    options["command"] = query.all("command") or None
    return options


def _attach_options(query: Query) -> Object:
    options: Object = {"kind": "PodAttachOptions", "apiVersion": "v1", **_streams(query)}
    if query.get("container"):
        options["container"] = query.get("container")
    return options


def _forward_options(query: Query) -> Object:
    ports = []
    for text in query.all("ports"):
        port = unsigned(text)
        if not isinstance(port, int):
            raise bad_request(f"cannot convert to []int32: {port}")
        ports.append(port)
    options: Object = {"kind": "PodPortForwardOptions", "apiVersion": "v1"}
    return {**options, "ports": ports} if ports else options


def _target(verb: str, pod: Object, container: str, parameters: list[tuple[str, str]]) -> str:
    metadata = pod["metadata"]
    segments = [verb, metadata["namespace"], metadata["name"], *([container] if container else [])]
    path = "/" + "/".join(quote(segment) for segment in segments)
    return f"{path}?{urlencode(sorted(parameters, key=lambda pair: pair[0]))}" if parameters else path


def _in_container(verb: str) -> Place:
    def place(pod: Object, options: Object) -> str:
        container = container_of(pod, options.get("container", ""))
        parameters = [(_THEIRS[name], "1") for name in _STREAMS if options.get(name)]
        parameters += [("command", word) for word in options.get("command") or ()]
        return _target(verb, pod, container, parameters)

    return place


def _forwarded(pod: Object, options: Object) -> str:
    ports = ",".join(str(port) for port in options.get("ports") or ())
    return _target("portForward", pod, "", [("port", ports)] if ports else [])


def _made(context: PartContext, read: Callable[[Query], Object], place: Place, commands: bool) -> PodStreams:
    pods, nodes = context.stores["", "pods"], context.stores["", "nodes"]
    return PodStreams(pods, nodes, context.outgoing, read, place, commands)


def execution(context: PartContext) -> PodStreams:
    return _made(context, _exec_options, _in_container("exec"), True)


def attachment(context: PartContext) -> PodStreams:
    return _made(context, _attach_options, _in_container("attach"), True)


def forwarding(context: PartContext) -> PodStreams:
    return _made(context, _forward_options, _forwarded, False)
