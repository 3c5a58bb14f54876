"""DELETE of one object (API concepts, "Delete"; DeleteOptions in the API reference)."""

from __future__ import annotations

from functools import partial
from typing import Any

from pilothouse.endpoints.options import delete_options, delete_options_of_query
from pilothouse.endpoints.requestinfo import Query
from pilothouse.endpoints.scope import FORMS, Scope, info_of
from pilothouse.registry.request import DeleteOptions
from pilothouse.serving.http import Request, Response


async def read_delete_options(scope: Scope, request: Request, query: Query) -> DeleteOptions:
    """From the body; from the query only where there is no body."""
    body = await scope.body.read_delete_options(request)
    return delete_options(body) if body is not None else delete_options_of_query(query)


async def delete_object(scope: Scope, request: Request) -> Response:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, FORMS)
    options = await read_delete_options(scope, request, query)
    write = scope.write(request, info, "", options.dry_run, sent=partial(shown_options, options))
    done = await scope.deleter.delete(info.name, options, write)
    if scope.resource.delete.warning and not options.policy and options.orphan_dependents is None:
        write.warn(scope.resource.delete.warning)
    if done.gone and not scope.resource.delete.answers_object:
        return scope.forms.status_response(success(scope, info.name, done.uid), form)
    held = not done.gone and options.orphan_dependents is False and not options.policy
    return await scope.forms.object_response(done.shown, scope.version, form, query, status=202 if held else 200)


def shown_options(options: DeleteOptions) -> dict[str, Any]:
    """The members of the options as they were sent."""
    preconditions = {"uid": options.uid, "resourceVersion": options.resource_version}
    shown = {
        "gracePeriodSeconds": options.grace_seconds,
        "preconditions": {name: value for name, value in preconditions.items() if value is not None} or None,
        "orphanDependents": options.orphan_dependents,
        "propagationPolicy": options.policy or None,
        "dryRun": ["All"] if options.dry_run else None,
        "ignoreStoreReadErrorWithClusterBreakingPotential": options.ignore_read_errors or None,
    }
    return {name: value for name, value in shown.items() if value is not None}


def success(scope: Scope, name: str, uid: str) -> dict[str, Any]:
    details: dict[str, Any] = {"name": name}
    if scope.resource.group:
        details["group"] = scope.resource.group
    details["kind"] = scope.resource.plural
    if uid:
        details["uid"] = uid
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
