"""The delegation chain: each server takes what is its own and passes on the rest; at the end stands "not found"."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Final, Protocol

from pilothouse.endpoints.installer import Router
from pilothouse.endpoints.requestinfo import RequestInfo
from pilothouse.machinery.errors import method_not_allowed, path_not_found
from pilothouse.serving.http import Answer, Handler, Request, Response

_TEXT: Final = ((b"Content-Type", b"text/plain; charset=utf-8"), (b"X-Content-Type-Options", b"nosniff"))
_UNTOLD: Final = frozenset({"/debug", "/index.html"})
NOT_FOUND: Final = b"404 page not found\n"


class Link(Protocol):
    """One server of the chain."""

    def find(self, request: Request) -> Handler | None:
        """The handler of a request that is this server's; None passes it on.

        Raises APIError for what is its own and is not there.
        """
        ...


class PathRoutes:
    """Fixed paths outside the API: health, metrics, version, debugging."""

    def __init__(self) -> None:
        self._exact: dict[str, Handler] = {}
        self._under: dict[str, Handler] = {}
        self._heads: frozenset[str] = frozenset()  # first segments, to pass on at once what is not here

    def at(self, path: str, handler: Handler) -> None:
        """Serve this very path."""
        self._exact[path] = handler
        self._note(path)

    def under(self, path: str, handler: Handler) -> None:
        """Serve the path and everything below it, unless something below has a route of its own."""
        self._under[path] = handler
        self._note(path)

    def _note(self, path: str) -> None:
        self._heads |= {_head(path)}

    def paths(self) -> list[str]:
        """Those that are told of: debugging and second names are not."""
        served = (*self._exact, *self._under)
        return [path for path in served if not path.endswith("/") and _head(path) not in _UNTOLD]

    def find(self, request: Request) -> Handler | None:
        path = request.path
        if _head(path) not in self._heads:
            return None
        found = self._exact.get(path)
        while found is None and path:
            found = self._under.get(path)
            path = path[: path.rfind("/")]
        return found


def _head(path: str) -> str:
    end = path.find("/", 1)
    return path if end < 0 else path[:end]


class Delegate:
    """The resources of a router."""

    def __init__(self, router: Router) -> None:
        self._router = router

    def find(self, request: Request) -> Handler | None:
        info = request.attached(RequestInfo)
        if info.is_resource and self._router.serves(info.group, info.version):
            handler = self._router.find(info)
            if request.method == "HEAD" and info.subresource != "proxy":
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


def not_found() -> Response:
    """What nobody serves."""
    return Response(404, list(_TEXT), NOT_FOUND)


def delegation(links: Sequence[Link]) -> Handler:
    """The first link that knows the request handles it."""

    async def nobody(request: Request) -> Answer:
        return not_found()

    def handle(request: Request) -> Awaitable[Answer]:
        for link in links:
            handler = link.find(request)
            if handler is not None:
                return handler(request)
        return nobody(request)

    return handle
