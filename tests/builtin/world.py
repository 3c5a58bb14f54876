"""Pods and nodes that are reached through a server, and how a test asks for them."""

from __future__ import annotations

import json
from typing import Any

from inside import Inside

from pilothouse.serving.body import NO_BODY
from pilothouse.serving.http import Answer, Origin, Request, Response

PODS = "/api/v1/namespaces/wire/pods"


def box(name: str) -> dict[str, Any]:
    return {"name": name, "image": "i"}


async def world(inside: Inside, port: int = 1) -> None:
    """Pods on nodes: one whose kubelet is on `port` of this machine, one without an address, one that is missing."""
    await inside.make("/api/v1/namespaces", {"metadata": {"name": "wire"}})
    for name, addresses in (("wire-closed", [{"type": "InternalIP", "address": "127.0.0.1"}]), ("wire-noaddr", [])):
        endpoint = {"kubeletEndpoint": {"Port": port}}
        status = {"addresses": addresses, "daemonEndpoints": endpoint}
        await inside.make("/api/v1/nodes", {"metadata": {"name": name}, "status": status})
    places = {
        "closed": "wire-closed",
        "two": "wire-closed",
        "pending": "",
        "nonode": "missing",
        "noaddr": "wire-noaddr",
    }
    for name, node in places.items():
        spec: dict[str, Any] = {"containers": [box("a")], **({"nodeName": node} if node else {})}
        if name == "two":
            spec |= {"initContainers": [box("i")], "containers": [box("a"), box("b")]}
        await inside.make(PODS, {"metadata": {"name": name}, "spec": spec})


async def ask(inside: Inside, method: str, path: str, headers: dict[str, str] | None = None) -> Answer:
    where, _, query = path.partition("?")
    sent = [(b"host", b"localhost:6443"), (b"authorization", b"Bearer admin-token")]
    sent += [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()]
    request = Request(method, where.encode(), query, sent, NO_BODY, origin=Origin(("127.0.0.1", 5)))
    return await inside.application.handler(request)


async def told(inside: Inside, method: str, path: str, headers: dict[str, str] | None = None) -> tuple[int, str]:
    answer = await ask(inside, method, path, headers)
    assert isinstance(answer, Response)
    body = answer.body if isinstance(answer.body, bytes) else b"".join(answer.body)
    return answer.status, json.loads(body)["message"] if body.startswith(b"{") else body.decode()
