"""What a create, update or patch asks for, before its body is read and after."""

from __future__ import annotations

from pilothouse.endpoints.negotiation import content_type
from pilothouse.endpoints.options import write_options
from pilothouse.endpoints.requestinfo import Query, RequestInfo
from pilothouse.endpoints.scope import Scope
from pilothouse.machinery.errors import APIError
from pilothouse.registry.metadata import refuse_other_namespace
from pilothouse.registry.request import Write
from pilothouse.registry.resource import Object
from pilothouse.serving.http import Request


def asked_write(scope: Scope, request: Request, info: RequestInfo, query: Query, kind: str) -> Write:
    """The write, by the options in the query. `kind`: CreateOptions, ...

    Raises Invalid, and UnsupportedMediaType before it: a body that cannot be read is the first thing to be told.
    """
    try:
        dry_run, manager, validation = write_options(query, kind)
    except APIError:
        if kind != "PatchOptions":
            content_type(request, scope.options.offered)
        raise
    return scope.write(request, info, manager, dry_run, validation)


def check_namespace(scope: Scope, info: RequestInfo, obj: Object) -> None:
    """An object may leave its namespace out, but not name another than the URL. Raises BadRequest."""
    if scope.resource.namespaced:
        refuse_other_namespace((obj.get("metadata") or {}).get("namespace"), info.namespace)
