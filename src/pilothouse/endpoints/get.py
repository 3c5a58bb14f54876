"""GET of one object (API concepts, "Get")."""

from __future__ import annotations

from pilothouse.endpoints.options import resource_version
from pilothouse.endpoints.requestinfo import Query
from pilothouse.endpoints.scope import FORMS, Scope, info_of
from pilothouse.serving.http import Request, Response
from pilothouse.storage.api import Read


async def get_object(scope: Scope, request: Request) -> Response:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, FORMS)
    read, revision = read_of(query) if query else (Read.LATEST, 0)
    stored = await scope.store.get(info.namespace, info.name, read, revision)
    return await scope.forms.object_response(stored, scope.version, form, query)


def read_of(query: Query) -> tuple[Read, int]:
    """How new the object must be. Raises a bare 500 for what is no resourceVersion."""
    version = resource_version(query.get("resourceVersion"), listing=False)
    if version is None:
        return Read.LATEST, 0
    return (Read.AT_LEAST, version) if version else (Read.ANY, 0)
