"""Verbs of subresources and resources that have a shape of their own: Scale, reviews, bindings, evictions, tokens."""

from __future__ import annotations

from pilothouse.endpoints.apply import applied_configuration, apply_options
from pilothouse.endpoints.options import write_options
from pilothouse.endpoints.patch import is_apply, read_patch
from pilothouse.endpoints.scope import OBJECT_FORMS, Scope, info_of
from pilothouse.endpoints.update import check_names
from pilothouse.machinery.errors import bad_request
from pilothouse.registry.capabilities import PartGetter, PartUpdater, VirtualCreater
from pilothouse.registry.managedfields import check_applied
from pilothouse.registry.resource import Object
from pilothouse.serving.http import Request, Response

_NO_TABLE = OBJECT_FORMS - {"Table"}


async def create_virtual(scope: Scope, storage: VirtualCreater, named: bool, request: Request) -> Response:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, _NO_TABLE)
    dry_run, manager, validation = write_options(query, "CreateOptions")
    write = scope.write(request, info, manager, dry_run, validation)
    obj = await scope.body.read(request, write)
    sent = (obj.get("metadata") or {}).get("namespace")
    if scope.resource.namespaced and sent and sent != info.namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    code, answer = await storage.create_virtual(obj, write)
    return scope.forms.virtual_response(answer, scope.version, form, code)


async def get_part(scope: Scope, storage: PartGetter, request: Request) -> Response:
    info, _ = info_of(request)
    form = scope.forms.negotiate(request, OBJECT_FORMS)
    return scope.forms.virtual_response(await storage.get_part(info.namespace, info.name), scope.version, form)


async def update_part(scope: Scope, storage: PartUpdater, request: Request) -> Response:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, OBJECT_FORMS)
    dry_run, manager, validation = write_options(query, "UpdateOptions")
    write = scope.write(request, info, manager, dry_run, validation)
    sent = await scope.body.read(request, write)
    check_names(scope, info, sent)
    template = scope.body.freeze(sent)

    async def produce(old: Object | None) -> Object:
        return template()

    return scope.forms.virtual_response(await storage.update_part(info.name, produce, write), scope.version, form)


async def patch_part(scope: Scope, storage: PartUpdater, request: Request) -> Response:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, OBJECT_FORMS)
    if is_apply(request):
        applying, force = apply_options(scope, request, info, query)
        config = await applied_configuration(scope, request, info, applying)
        target = scope.body.target
        check_applied(target.schema, config, target.api_version, target.kind)
        answer = await storage.apply_part(info.name, config, applying, force=force)
        return scope.forms.virtual_response(answer, scope.version, form)
    dry_run, manager, validation = write_options(query, "PatchOptions")
    write = scope.write(request, info, manager, dry_run, validation)
    patch = await read_patch(scope, request, write)

    async def produce(old: Object | None) -> Object:
        assert old is not None
        return patch(old)

    return scope.forms.virtual_response(await storage.update_part(info.name, produce, write), scope.version, form)
