"""Requests made as somebody else (Kubernetes documentation, "User Impersonation").

The headers Impersonate-* name the user that everything further in sees.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final
from urllib.parse import unquote

from pilothouse.auth.actingmetrics import ImpersonationMetrics
from pilothouse.auth.attributes import Authorizer
from pilothouse.auth.impersonation import Impersonation, Original, Wanted
from pilothouse.filters.authorization import attributes_of
from pilothouse.registry.request import Caller
from pilothouse.serving.http import Answer, Filter, Handler, HeaderList, Request

_PREFIX: Final = b"impersonate-"
_EXTRA: Final = b"impersonate-extra-"


def impersonation(authorizer: Authorizer, metrics: ImpersonationMetrics | None = None) -> Filter:
    decisions = Impersonation(authorizer, metrics)

    def build(inner: Handler) -> Handler:
        def handle(request: Request) -> Awaitable[Answer]:
            for name, _ in request.headers:
                if name.startswith(_PREFIX):
                    _impersonate(decisions, request)
                    break
            return inner(request)

        return handle

    return build


def _impersonate(decisions: Impersonation, request: Request) -> None:
    """Make the request the wanted user's. Raises BadRequest, Forbidden."""
    wanted = wanted_user(request.headers)
    if wanted is not None:
        caller = request.attached(Caller)
        request.attach(decisions.become(wanted, attributes_of(request, caller)))
        request.attach(Original(caller))
    request.headers = [(name, value) for name, value in request.headers if not name.startswith(_PREFIX)]


def wanted_user(headers: HeaderList) -> Wanted | None:
    """The user whom the headers name, None where they ask for nothing."""
    users: list[str] = []
    uids: list[str] = []
    groups: list[str] = []
    extra: dict[str, list[str]] = {}
    for name, value in headers:
        text = value.decode("utf-8", "replace")
        if name == b"impersonate-user":
            users.append(text)
        elif name == b"impersonate-group":
            groups.append(text)
        elif name == b"impersonate-uid":
            uids.append(text)
        elif name.startswith(_EXTRA):
            key = unquote(name[len(_EXTRA) :].decode("latin-1"))
            extra.setdefault(key, []).append(text)
    user, uid = users[0] if users else "", uids[0] if uids else ""
    if not (user or uid or groups or extra):
        return None
    return Wanted(user, uid, tuple(groups), tuple((key, tuple(values)) for key, values in sorted(extra.items())))
