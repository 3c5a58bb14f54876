"""POST to a collection (API concepts, "Create")."""

from __future__ import annotations

from pilothouse.endpoints.asked import asked_write, check_namespace
from pilothouse.endpoints.scope import FORMS, Scope, info_of
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object
from pilothouse.serving.http import Request, Response


async def create_object(scope: Scope, request: Request) -> Response:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, FORMS)
    write = asked_write(scope, request, info, query, "CreateOptions")
    obj = await scope.body.read(request, write)
    check_namespace(scope, info, obj)
    wipe_server_fields(obj)
    owned = await scope.options.aside.run(write.load.size, owned_object, scope, obj, write)
    stored = await scope.store.create(owned, write)
    return await scope.forms.object_response(stored, scope.version, form, query, status=201)


def owned_object(scope: Scope, obj: Object, write: Write) -> Object:
    """The hub object of a new one, with the writer as the owner of its fields."""
    return scope.body.to_hub(scope.owner.created(obj, write))


def wipe_server_fields(obj: Object) -> None:
    """Take out what only the server says of an object, so that nobody owns it."""
    metadata = obj.get("metadata")
    if metadata:
        for name in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
            metadata.pop(name, None)
