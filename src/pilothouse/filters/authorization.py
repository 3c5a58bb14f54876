"""Asks the authorizer whether the caller may (Kubernetes documentation, "Authorization Overview"); a no is 403."""

from __future__ import annotations

from pilothouse.auth.attributes import AlwaysAllow, Attributes, Authorizer, Decision
from pilothouse.endpoints.requestinfo import RequestInfo
from pilothouse.machinery.errors import APIError, forbidden
from pilothouse.registry.request import Caller
from pilothouse.serving.http import Answer, Filter, Handler, Request


def authorization(authorizer: Authorizer) -> Filter:
    def build(inner: Handler) -> Handler:
        if isinstance(authorizer, AlwaysAllow):
            return inner

        async def handle(request: Request) -> Answer:
            attributes = attributes_of(request)
            decision, reason = authorizer.authorize(attributes)
            if decision is not Decision.ALLOW:
                raise refusal(attributes, reason)
            return await inner(request)

        return handle

    return build


def attributes_of(request: Request) -> Attributes:
    info = request.attached(RequestInfo)
    return Attributes(
        request.attached(Caller), info.verb, info.is_resource, info.path, info.group, info.version,
        info.namespace, info.resource, info.subresource, info.name,
    )  # fmt: skip


def refusal(attributes: Attributes, reason: str) -> APIError:
    """403 with what was asked for in words."""
    user = f'User "{attributes.caller.name}" cannot'
    end = f": {reason}" if reason else ""
    if not attributes.is_resource:
        return forbidden("", "", "", f'{user} {attributes.verb} path "{attributes.path}"{end}')
    resource = attributes.resource + (f"/{attributes.subresource}" if attributes.subresource else "")
    where = f' in the namespace "{attributes.namespace}"' if attributes.namespace else " at the cluster scope"
    why = f'{user} {attributes.verb} resource "{resource}" in API group "{attributes.group}"{where}{end}'
    return forbidden(attributes.group, attributes.resource, attributes.name, why)
