"""POST to a collection (API concepts, "Create")."""

from __future__ import annotations

from pilothouse.endpoints.options import write_options
from pilothouse.endpoints.scope import OBJECT_FORMS, Scope, info_of
from pilothouse.machinery.errors import bad_request
from pilothouse.serving.http import Request, Response


async def create_object(scope: Scope, request: Request) -> Response:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, OBJECT_FORMS)
    dry_run, manager, validation = write_options(query, "CreateOptions")
    write = scope.write(request, info, manager, dry_run, validation)
    obj = await scope.body.read(request, write)
    sent = (obj.get("metadata") or {}).get("namespace")
    if scope.resource.namespaced and sent and sent != info.namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    owned = scope.owner.created(obj, write)
    stored = await scope.store.create(scope.body.to_hub(owned), write)
    return scope.forms.object_response(stored, scope.version, form, query, status=201)
