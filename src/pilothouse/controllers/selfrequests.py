"""Counts what controllers ask of their own server: they are clients that need no socket. The name is the original's."""

from __future__ import annotations

from typing import Final

from pilothouse.endpoints.requestinfo import RequestInfo
from pilothouse.filters.metrics import verb_of
from pilothouse.kit.metrics import Counter, Registry
from pilothouse.serving.http import Answer, Handler, Request

_TEXT: Final = "[ALPHA] Counter of apiserver self-requests broken out for each verb, API resource and subresource."
_LABELS: Final = ("verb", "group", "resource", "subresource")


def self_requests(registry: Registry, handler: Handler) -> Handler:
    """The handler for callers in this process."""
    counter = registry.add(Counter("apiserver_selfrequest_total", _TEXT, _LABELS))

    async def handle(request: Request) -> Answer:
        answer = await handler(request)
        info = request.maybe(RequestInfo)
        if info is not None and info.is_resource:
            counter.bind(verb_of(request.method, info), info.group, info.resource, info.subresource).value += 1
        return answer

    return handle
