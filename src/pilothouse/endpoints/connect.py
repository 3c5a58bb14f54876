"""CONNECT: subresources that reach through the server to what runs elsewhere (API concepts; Kubernetes documentation,
"Access Services Running on Clusters"): exec, attach, port forwarding, logs, proxies.
"""

from __future__ import annotations

from typing import Final, Protocol

from pilothouse.endpoints.requestinfo import Query, RequestInfo
from pilothouse.endpoints.scope import Scope, info_of
from pilothouse.machinery.errors import method_not_allowed
from pilothouse.registry.resource import Object
from pilothouse.serving.http import Answer, Request

OPERATION: Final = "CONNECT"


class Connecter(Protocol):
    """The storage of such a subresource."""

    @property
    def methods(self) -> frozenset[str]:
        """HTTP methods that are served."""
        ...

    @property
    def deep(self) -> bool:
        """Whether paths below the subresource are served."""
        ...

    @property
    def admitted(self) -> bool:
        """Whether it is a CONNECT, of which admission is asked first. Else it is a GET, and what it gives is negotiated
        as for any, though it is text in the end.
        """
        ...

    def options(self, info: RequestInfo, query: Query, path: str) -> Object:
        """The options of a request as an object; `path` is what follows the subresource's name, as it was
        sent. Raises BadRequest.
        """
        ...

    async def connect(self, info: RequestInfo, options: Object, request: Request) -> Answer:
        """Raises APIError."""
        ...


async def connect(scope: Scope, storage: Connecter, request: Request) -> Answer:
    info, query = info_of(request)
    if request.method not in storage.methods:
        raise method_not_allowed()
    if not storage.admitted:
        scope.forms.negotiate(request, frozenset(), said=("text/plain",))
    options = storage.options(info, query, _rest(request, info))
    if storage.admitted:
        write = scope.write(request, info, "", False)
        admission = scope.store.services.admission
        await admission.mutate(OPERATION, options, None, write)
        await admission.validate(OPERATION, options, None, write)
    return await storage.connect(info, options, request)


def _rest(request: Request, info: RequestInfo) -> str:
    """The path behind the subresource as it was sent, with its first slash; "" where there is nothing."""
    before = (3 if info.prefix == "apis" else 2) + (2 if info.namespace else 0) + 3
    segments = request.raw_path.decode("latin-1").split("/", before + 1)
    return "/" + segments[before + 1] if len(segments) > before + 1 else ""
