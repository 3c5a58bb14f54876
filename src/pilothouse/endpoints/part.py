"""Verbs of subresources and resources that have a shape of their own: Scale, reviews, bindings, evictions, tokens."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pilothouse.endpoints.apply import apply_options, read_applied
from pilothouse.endpoints.asked import asked_write, check_namespace
from pilothouse.endpoints.get import read_of
from pilothouse.endpoints.patch import check_patch_type, is_apply, read_patch
from pilothouse.endpoints.scope import FORMS, Scope, info_of
from pilothouse.endpoints.update import check_names, check_uid
from pilothouse.machinery.decode import Findings
from pilothouse.machinery.times import format_time
from pilothouse.registry.capabilities import PartGetter, PartUpdater, VirtualCreater
from pilothouse.registry.managed.tracker import Tracker, check_applied
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object
from pilothouse.serving.http import Request, Response

_NO_TABLE = FORMS - {"Table"}


async def create_virtual(scope: Scope, storage: VirtualCreater, named: bool, request: Request) -> Response:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, _NO_TABLE)
    write = asked_write(scope, request, info, query, "CreateOptions")
    obj = await scope.body.read(request, write)
    check_namespace(scope, info, obj)
    if scope.store.services.admission.judges("CREATE", write):
        obj = await judged(scope, obj, write)
    code, answer = await storage.create_virtual(obj, replace(write, judged=True))
    respond = scope.forms.virtual_response
    return await scope.options.aside.run(write.load.size, respond, answer, scope.version, form, code)


async def judged(scope: Scope, obj: Object, write: Write) -> Object:
    """The object as webhooks and policies leave it, who see it with its writer as the owner of its fields."""
    target, admission = scope.body.target, scope.store.services.admission
    tracker = Tracker(
        schema=target.schema, api_version=target.api_version, kind=target.kind, subresource=scope.subresource
    )
    run, now = scope.options.aside.run, format_time(write.now)
    owned = await run(write.load.size, tracker.create, obj, write.manager, now)
    await admission.mutate_part("CREATE", owned, None, write, partial(taken, scope))
    await admission.validate_part("CREATE", owned, None, write)
    if owned.get("metadata"):
        owned["metadata"].pop("managedFields", None)  # of what keeps nothing
    return owned


def taken(scope: Scope, value: Object) -> Object:
    """The object that a plug-in made of one. Raises DecodeError."""
    document = {name: item for name, item in value.items() if name not in ("kind", "apiVersion")}
    return scope.body.decode_value(document, Findings())


async def get_part(scope: Scope, storage: PartGetter, request: Request) -> Response:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, FORMS)
    shown = await storage.get_part(info.namespace, info.name, *read_of(query))
    return scope.forms.virtual_response(shown, scope.version, form)


async def update_part(scope: Scope, storage: PartUpdater, request: Request) -> Response:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, FORMS)
    write = asked_write(scope, request, info, query, "UpdateOptions")
    sent = await scope.body.read(request, write)
    check_names(scope, info, sent)
    template = scope.body.freeze(sent)

    async def produce(old: Object | None) -> Object:
        made = await scope.options.aside.run(write.load.size, template)
        if old is not None:
            check_uid(scope, write, made, old)
        await scope.store.services.admission.mutate_part("UPDATE", made, old, write, partial(taken, scope))
        return made

    return scope.forms.virtual_response(await storage.update_part(info.name, produce, write), scope.version, form)


async def patch_part(scope: Scope, storage: PartUpdater, request: Request) -> Response:
    applies = is_apply(scope, request)
    if not applies:
        check_patch_type(scope, request)
    info, query = info_of(request)
    form = scope.forms.negotiate(request, FORMS)
    if applies:
        applying, force = apply_options(scope, request, info, query)
        sent = await read_applied(scope, request, applying)

        def configuration() -> Object:
            target = scope.body.target
            config = sent.configuration(scope)
            check_applied(target.schema, config, target.api_version, target.kind)
            if (config.get("metadata") or {}).get("name"):  # else it is that of the parent
                check_names(scope, info, config)
            sent.tell_repeated(applying)
            return config

        async def read() -> Object:
            return await scope.options.aside.run(applying.load.size, configuration)

        answer = await storage.apply_part(info.name, read, applying, force=force)
        return scope.forms.virtual_response(answer, scope.version, form)
    write = asked_write(scope, request, info, query, "PatchOptions")
    patch = await read_patch(scope, request, write)

    async def produce(old: Object | None) -> Object:
        assert old is not None
        made = await scope.options.aside.run(write.load.size, patch, old)
        check_names(scope, info, made)
        await scope.store.services.admission.mutate_part("UPDATE", made, old, write, partial(taken, scope))
        return made

    return scope.forms.virtual_response(await storage.update_part(info.name, produce, write), scope.version, form)
