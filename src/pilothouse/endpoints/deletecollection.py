"""DELETE of a collection: every object that the selectors take, one by one;
the answer lists them as they were before.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pilothouse.endpoints.delete import read_delete_options, shown_options
from pilothouse.endpoints.options import list_options
from pilothouse.endpoints.scope import FORMS, Scope, info_of
from pilothouse.machinery.errors import APIError, Cause, invalid
from pilothouse.registry.reader import list_objects
from pilothouse.serving.http import Answer, Request


async def delete_collection(scope: Scope, request: Request) -> Answer:
    info, query = info_of(request)
    form = scope.forms.negotiate(request, FORMS)
    listing = list_options(query)
    options = await read_delete_options(scope, request, query)
    if options.ignore_read_errors:
        raise _unsafe_refused()
    write = scope.write(request, info, "", options.dry_run, sent=partial(shown_options, options))
    page = await list_objects(scope.store, write.namespace, listing)
    for stored in page.items:
        namespace, _, name = stored.key.removeprefix(scope.resource.prefix).rpartition("/")
        try:
            await scope.deleter.delete(name, options, replace(write, namespace=namespace, name=name, collection=True))
        except APIError as error:
            if error.code != 404:
                raise
    return await scope.forms.list_answer(page, scope.version, form, query)


def _unsafe_refused() -> APIError:
    text = "Invalid value: true: is not allowed with DELETECOLLECTION, try again after removing the option"
    cause = Cause("FieldValueInvalid", text, "ignoreStoreReadErrorWithClusterBreakingPotential")
    return invalid("meta.k8s.io", "DeleteOptions", "", [cause])
