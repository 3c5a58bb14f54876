"""GET of one object (API concepts, "Get")."""

from __future__ import annotations

from pilothouse.endpoints.options import resource_version
from pilothouse.endpoints.scope import OBJECT_FORMS, Scope, info_of
from pilothouse.serving.http import Request, Response
from pilothouse.storage.api import Read


async def get_object(scope: Scope, request: Request) -> Response:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, OBJECT_FORMS)
    read, revision = Read.LATEST, 0
    if query:
        version = resource_version(query.get("resourceVersion"), listing=False)
        if version == 0:
            read = Read.ANY
        elif version is not None:
            read, revision = Read.AT_LEAST, version
    stored = await scope.store.get(info.namespace, info.name, read, revision)
    return await scope.forms.object_response(stored, scope.version, form, query)
