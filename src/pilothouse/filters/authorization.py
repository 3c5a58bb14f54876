"""Asks the authorizer whether the caller may (Kubernetes documentation, "Authorization Overview"); a no is 403."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final

from pilothouse.auth.attributes import AlwaysAllow, Attributes, Authorizer, Decision
from pilothouse.auth.metrics import AuthorizationMetrics
from pilothouse.auth.order import MASTERS
from pilothouse.auth.refusal import refusal_at_the_door
from pilothouse.endpoints.requestinfo import QUERY_WORK, Query, RequestInfo
from pilothouse.kit.aside import Aside
from pilothouse.kit.memo import remembered
from pilothouse.machinery.errors import forbidden
from pilothouse.machinery.selectors import (
    FieldSelector,
    LabelSelector,
    SelectorError,
    read_field_selector,
    read_label_selector,
)
from pilothouse.registry.request import Caller
from pilothouse.serving.http import Answer, Filter, Handler, Request

_SELECTING: Final = frozenset({"list", "watch", "deletecollection"})
# Opening these with GET needs the right to create as well: they run commands.
_ENTERING: Final = frozenset({"exec", "attach", "portforward"})


def authorization(
    authorizer: Authorizer, aside: Aside | None = None, measures: AuthorizationMetrics | None = None
) -> Filter:
    """`aside`: where long selectors are read."""
    run = (aside or Aside()).run

    def build(inner: Handler) -> Handler:
        if isinstance(authorizer, AlwaysAllow):
            return inner

        async def ask(request: Request, caller: Caller) -> Answer:
            started = measures.clock() if measures is not None else 0.0
            attributes = await run(QUERY_WORK * len(request.query), attributes_of, request, caller)
            decision, reason = authorizer.authorize(attributes)
            if measures is not None:
                measures.count(decision, started)
            if decision is not Decision.ALLOW:
                raise refusal_at_the_door(attributes, reason)
            if attributes.subresource in _ENTERING:
                _check_entering(authorizer, attributes)
            return await inner(request)

        def handle(request: Request) -> Awaitable[Answer]:
            caller = request.attached(Caller)
            if MASTERS not in caller.groups:
                return ask(request, caller)
            if measures is not None:
                measures.count_administrator()
            return inner(request)

        return handle

    return build


def attributes_of(request: Request, caller: Caller, verb: str = "") -> Attributes:
    """What a request asks of authorizers. `verb`: another one than the request's own."""
    info = request.attached(RequestInfo)
    fields: FieldSelector | None = None
    labels: LabelSelector | None = None
    if info.verb in _SELECTING:
        query = request.attached(Query)
        text = query.get("fieldSelector")
        fields = _field_selector(text) if text else None
        text = query.get("labelSelector")
        labels = _label_selector(text) if text else None
    return Attributes(
        caller, verb or info.verb, info.is_resource, info.path, info.group, info.version, info.namespace,
        info.resource, info.subresource, info.name, fields, labels,
    )  # fmt: skip


@remembered(1024)
def _field_selector(text: str) -> FieldSelector | None:
    try:
        return read_field_selector(text)
    except SelectorError:
        return None  # the endpoint refuses it


@remembered(1024)
def _label_selector(text: str) -> LabelSelector | None:
    try:
        return read_label_selector(text)
    except SelectorError:
        return None


def _check_entering(authorizer: Authorizer, asked: Attributes) -> None:
    if asked.verb != "get" or asked.resource != "pods" or asked.group:
        return
    create = Attributes(
        asked.caller, "create", True, asked.path, "", asked.version, asked.namespace, "pods", asked.subresource,
        asked.name,
    )  # fmt: skip
    if authorizer.authorize(create)[0] is not Decision.ALLOW:
        raise forbidden("", "pods", asked.name, "")
