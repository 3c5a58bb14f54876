"""POST to a collection (API concepts, "Create")."""

from __future__ import annotations

from functools import partial
from typing import Any

from pilothouse.endpoints.asked import asked_write, check_namespace
from pilothouse.endpoints.scope import FORMS, Scope, info_of
from pilothouse.machinery import jsonpieces
from pilothouse.registry.managed.objects import managed_fields, with_entries
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object
from pilothouse.serving.http import Request, Response


async def create_object(scope: Scope, request: Request) -> Response:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, FORMS)
    write = asked_write(scope, request, info, query, "CreateOptions")
    obj = await scope.body.read(request, write, unordered=True)
    check_namespace(scope, info, obj)
    wipe_server_fields(obj)
    owners = None
    if write.load.text is not None and not scope.store.services.admission.judges("CREATE", write):
        owners = partial(owners_of, scope, write.load.text, write)  # a big object that is refused needs none
    hub = await scope.options.aside.run(write.load.size, hub_object if owners else owned_object, scope, obj, write)
    del obj  # the store empties the other one before it waits
    stored = await scope.store.create(hub, write, owners)
    return await scope.forms.object_response(stored, scope.version, form, query, status=201)


def owned_object(scope: Scope, obj: Object, write: Write) -> Object:
    """The hub object of a new one, with the writer as the owner of its fields."""
    write.load.put_in_order(obj)
    return scope.body.to_hub(scope.owner.created(obj, write))


def hub_object(scope: Scope, obj: Object, write: Write) -> Object:
    """The hub object of a new one whose owners are found out later, and whose maps are put in order then."""
    return scope.body.to_hub(with_entries(obj, []))


def owners_of(scope: Scope, text: bytes, write: Write) -> list[dict[str, Any]]:
    """metadata.managedFields of a new object that was read as `text`, whatever has become of it since."""
    obj: Object = jsonpieces.loads(text)
    wipe_server_fields(obj)
    return managed_fields(scope.owner.created(obj, write)) or []


def wipe_server_fields(obj: Object) -> None:
    """Take out what only the server says of an object, so that nobody owns it."""
    metadata = obj.get("metadata")
    if metadata:
        for name in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
            metadata.pop(name, None)
