"""PUT of an object or of one of its parts (API concepts, "Update")."""

from __future__ import annotations

from pilothouse.endpoints.asked import asked_write, check_namespace
from pilothouse.endpoints.owners import Owners
from pilothouse.endpoints.requestinfo import RequestInfo
from pilothouse.endpoints.scope import FORMS, Scope, info_of
from pilothouse.machinery.errors import bad_request, conflict
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object
from pilothouse.serving.http import Request, Response


async def update_object(scope: Scope, request: Request) -> Response:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, FORMS)
    write = asked_write(scope, request, info, query, "UpdateOptions")
    sent = await scope.body.read(request, write)
    check_names(scope, info, sent)
    template = scope.body.freeze(sent)

    def replaced(before: Object) -> Object:
        obj = template()
        check_uid(scope, write, obj, before)
        return obj

    owners = Owners(scope, write, replaced)

    async def produce(old: Object | None) -> Object:
        if old is None:
            return await scope.options.aside.run(write.load.size, lambda: owners.created(template()))
        return await scope.options.aside.run(write.load.size, owners.changed, old)

    stored, created = await scope.store.update(
        info.name,
        produce,
        write,
        create=creates(scope),
        unconditional=unconditional(scope),
        leaves=scope.as_stored,
        owners=owners.found,
    )
    return await scope.forms.object_response(stored, scope.version, form, query, status=201 if created else 200)


def creates(scope: Scope) -> bool:
    """Whether a PUT of a missing name makes it."""
    if scope.subresource == "status":
        return scope.resource.status is not None and scope.resource.status.creates
    return scope.resource.create_on_update and not scope.subresource


def unconditional(scope: Scope) -> bool | None:
    if scope.subresource == "status" and scope.resource.status is not None:
        return scope.resource.status.unconditional
    return None


def check_names(scope: Scope, info: RequestInfo, obj: Object) -> None:
    """Raises BadRequest for an object of another namespace or name than the URL's, and for one without a name."""
    check_namespace(scope, info, obj)
    name = (obj.get("metadata") or {}).get("name")
    if not name:
        raise bad_request(
            f"the name of the object ({info.name} based on URL) was undeterminable: name must be provided"
        )
    if name != info.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({info.name})")


def check_uid(scope: Scope, write: Write, obj: Object, old: Object) -> None:
    """A uid in the body is a precondition: another object of the same name is a conflict."""
    uid = (obj.get("metadata") or {}).get("uid")
    found = old["metadata"].get("uid")
    if uid and uid != found:
        resource = scope.resource
        why = (
            f"StorageError: invalid object, Code: 4, Key: {resource.key(write.namespace, write.name)}, "
            f"ResourceVersion: 0, "
            f"AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object meta: {found}"
        )
        raise conflict(resource.group, resource.plural, write.name, why)
