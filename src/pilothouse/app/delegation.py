"""The delegation chain: paths of their own first, then the resources, then "not found", in the words of the original."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from pilothouse.endpoints.installer import Router
from pilothouse.endpoints.requestinfo import RequestInfo
from pilothouse.machinery.errors import method_not_allowed, path_not_found
from pilothouse.serving.http import Handler, Request, Response
from pilothouse.serving.http import Answer as Reply

_TEXT: Final = [(b"Content-Type", b"text/plain; charset=utf-8"), (b"X-Content-Type-Options", b"nosniff")]


class Link(Protocol):
    """One server of the chain."""

    def find(self, request: Request) -> Handler | None:
        """The handler of a request that is this server's; None passes it on. Raises APIError for what is its own and is not there."""
        ...


class PathRoutes:
    """Fixed paths: health, metrics, version."""

    def __init__(self) -> None:
        self._exact: dict[str, Handler] = {}
        self._under: dict[str, Handler] = {}

    def at(self, path: str, handler: Handler) -> None:
        self._exact[path] = handler

    def under(self, path: str, handler: Handler) -> None:
        """The path and everything below it."""
        self._under[path] = handler

    def paths(self) -> list[str]:
        return [path for path in (*self._exact, *self._under) if path != "/"]

    def find(self, request: Request) -> Handler | None:
        path = request.path
        found = self._exact.get(path)
        if found is not None:
            return found
        head = "/" + path[1:].partition("/")[0]
        return self._under.get(head)


class Delegate:
    """The resources of a router."""

    def __init__(self, router: Router) -> None:
        self._router = router

    def find(self, request: Request) -> Handler | None:
        info = request.attached(RequestInfo)
        if info.is_resource and self._router.serves(info.group, info.version):
            handler = self._router.find(info)
            if request.method == "HEAD":
                raise method_not_allowed()
            return handler
        group = _group_of(info.path)
        if group is not None and self._router.serves_group(group):
            raise path_not_found()
        return None


def _group_of(path: str) -> str | None:
    """The group that a path under /api or /apis names."""
    segments = path.strip("/").split("/")
    if segments[0] == "api":
        return "" if len(segments) > 1 else None
    return segments[1] if segments[0] == "apis" and len(segments) > 1 else None


def delegation(links: Sequence[Link]) -> Handler:
    """The first link that knows the request handles it."""

    async def handle(request: Request) -> Reply:
        for link in links:
            handler = link.find(request)
            if handler is not None:
                return await handler(request)
        return Response(404, list(_TEXT), b"404 page not found\n")

    return handle
