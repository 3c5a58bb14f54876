"""Every answer carries an Audit-Id: the client's own where it sent one."""

from __future__ import annotations

from collections.abc import Callable

from pilothouse.serving.http import Answer, Filter, Handler, Request

_HEADER = b"Audit-Id"
_MAX = 64


class AuditId(str):
    """Attached to the request, so that logs and errors can name it."""

    __slots__ = ()


def audit_id(new_id: Callable[[], str]) -> Filter:
    """`new_id` makes a UUID."""

    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            sent = request.header(b"audit-id")
            ident = AuditId(sent[:_MAX] if sent else new_id())
            request.attach(ident)
            answer = await inner(request)
            answer.headers.insert(0, (_HEADER, ident.encode("latin-1", "replace")))
            return answer

        return handle

    return build
