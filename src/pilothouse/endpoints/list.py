"""GET of a collection (API concepts, "Collections" and "Retrieving large results sets in chunks")."""

from __future__ import annotations

from pilothouse.endpoints.options import list_options
from pilothouse.endpoints.scope import FORMS, Scope, info_of
from pilothouse.registry.reader import list_objects
from pilothouse.serving.http import Answer, Request


async def list_collection(scope: Scope, request: Request) -> Answer:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, FORMS, watchable=True)
    options = list_options(query)
    namespace = info.namespace if scope.resource.namespaced else ""
    page = await list_objects(scope.store, namespace, options)
    newest = options.resource_version is None and not options.continue_token
    scope.options.metrics.lists(scope.resource.group, scope.resource.plural).count(
        page.looked, len(page.items), consistent=newest
    )
    return await scope.forms.list_answer(page, scope.version, form, query)
