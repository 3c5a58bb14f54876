"""pods/exec, pods/attach, pods/portforward: a bare connection between the client and the kubelet, whatever they speak
on it (Kubernetes documentation, "Get a Shell to a Running Container", "Use Port Forwarding").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode

from pilothouse.builtin.core.connect.kubelets import Outgoing, kubelet_of
from pilothouse.builtin.core.connect.passing import passed_headers, returned_headers, wants_upgrade, whole
from pilothouse.builtin.core.connect.pods import container_of, node_of, pod_of
from pilothouse.endpoints.options import flag, unsigned
from pilothouse.endpoints.requestinfo import Query, RequestInfo
from pilothouse.machinery.errors import bad_request, bare_internal
from pilothouse.registry.resource import Object
from pilothouse.registry.store import GenericStore
from pilothouse.serving.client import CallFailed, Destination
from pilothouse.serving.dialing import DialFailed
from pilothouse.serving.http import Answer, HeaderList, Request, Upgrade
from pilothouse.serving.tunnel import tunnel

if TYPE_CHECKING:
    from pilothouse.builtin.oddparts import PartContext

_STREAMS: Final = ("stdin", "stdout", "stderr", "tty")
# What kubelets call the streams.
_THEIRS: Final = {"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"}
Place = Callable[[Object, Object], str]  # (pod, options) -> target on the kubelet


@dataclass(frozen=True, slots=True)
class PodStreams:
    """One of the three subresources."""

    pods: GenericStore
    nodes: GenericStore
    outgoing: Outgoing
    read: Callable[[Query], Object]
    place: Place
    methods: frozenset[str] = frozenset({"GET", "POST"})
    admitted: bool = True
    deep: bool = False

    def options(self, info: RequestInfo, query: Query, path: str) -> Object:
        return self.read(query)

    async def connect(self, info: RequestInfo, options: Object, request: Request) -> Answer:
        pod = await pod_of(self.pods, info.namespace, info.name)
        target = self.place(pod, options)
        kubelet = await kubelet_of(self.nodes, node_of(pod), self.outgoing.preferred)
        return await self._pass_on(kubelet.destination(self.outgoing), target, request)

    async def _pass_on(self, destination: Destination, target: str, request: Request) -> Answer:
        protocol = wants_upgrade(request)
        if protocol is None:
            raise bad_request("Upgrade request required")
        host = next((value for name, value in request.headers if name == b"host"), b"")
        headers: HeaderList = [*passed_headers(request, host), (b"Connection", b"Upgrade"), (b"Upgrade", protocol)]
        try:
            answered = await self.outgoing.client.call(destination, request.method, target.encode(), headers)
            raw = answered.raw
            if raw is None:
                return await whole(answered, returned_headers(answered))
        except (DialFailed, CallFailed) as error:
            raise bare_internal(f"error dialing backend: {error}") from error
        return Upgrade(answered.status, answered.headers, lambda front: tunnel(front, raw))


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


def _made(context: PartContext, read: Callable[[Query], Object], place: Place) -> PodStreams:
    return PodStreams(context.stores["", "pods"], context.stores["", "nodes"], context.outgoing, read, place)


def execution(context: PartContext) -> PodStreams:
    return _made(context, _exec_options, _in_container("exec"))


def attachment(context: PartContext) -> PodStreams:
    return _made(context, _attach_options, _in_container("attach"))


def forwarding(context: PartContext) -> PodStreams:
    return _made(context, _forward_options, _forwarded)
