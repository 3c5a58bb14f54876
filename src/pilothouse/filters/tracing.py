"""Makes an OpenTelemetry span of each request that is sampled. In the chain only where --tracing-config-file is given.

It stands inside of authorization, as in the original: only there it is known whether the caller may continue a trace of
his own, and so decide what is sampled. What is refused before that has no span.

Nothing else in the server knows of spans. Where a request waits is seen from here: the coroutine is stepped by hand,
and a wait that is not very short becomes a child span, named after the functions that waited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from types import coroutine
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    StatusCode,
    Tracer,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from pilothouse.endpoints.requestinfo import RequestInfo
from pilothouse.filters.audit_id import AuditId
from pilothouse.kit.traceparent import TRACEPARENT
from pilothouse.kit.whereabouts import whereabouts
from pilothouse.machinery.errors import APIError
from pilothouse.registry.request import Caller
from pilothouse.serving.http import Answer, Filter, Handler, Request, Response

PRIVILEGED: Final = frozenset({"system:masters", "system:monitoring"})  # groups whose traces are continued
SHORTEST: Final = 1_000_000  # nanoseconds of a wait that is told
WHEREABOUTS: Final = "pilothouse.whereabouts"  # an attribute: by which functions a wait was reached
MOST_WAITS: Final = 32  # of one request that are told
_HEADERS: Final = (b"traceparent", b"tracestate")
_FORMAT: Final = TraceContextTextMapPropagator()


def tracing(tracer: Tracer, now: Callable[[], int], *, samples: bool) -> Filter:
    """`now`: nanoseconds since 1970. `samples`: traces may begin here, and not only with a caller."""

    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            sent = _sent(request)
            trusted = sent is not None and _privileged(request)
            if samples or (sent is not None and trusted and sent.trace_flags.sampled):
                span = _begin(tracer, request, sent, trusted, now())
                if span.is_recording():
                    return await _traced(tracer, span, request, inner, now)
            if sent is not None and not trusted:
                _replace(request, {})
            return await inner(request)

        return handle

    return build


def _sent(request: Request) -> SpanContext | None:
    """The span that the caller says he is in."""
    parent = request.header(b"traceparent")
    if parent is None:
        return None
    carrier = {"traceparent": parent, "tracestate": request.header(b"tracestate") or ""}
    found = get_current_span(_FORMAT.extract(carrier, Context())).get_span_context()
    return found if found.is_valid else None


def _privileged(request: Request) -> bool:
    caller = request.maybe(Caller)
    return caller is not None and not PRIVILEGED.isdisjoint(caller.groups)


def _replace(request: Request, carrier: dict[str, str]) -> None:
    """What extension servers and kubelets are told of the trace, as they get the headers of the request."""
    kept = [(name, value) for name, value in request.headers if name not in _HEADERS]
    request.headers = kept + [(name.encode(), value.encode("latin-1")) for name, value in carrier.items()]


def _begin(tracer: Tracer, request: Request, sent: SpanContext | None, trusted: bool, at: int) -> Span:
    """A caller who may not decide what is sampled begins a new trace, with a link to his own."""
    context, links = Context(), []
    if sent is not None:
        if trusted:
            context = set_span_in_context(NonRecordingSpan(sent), context)
        else:
            links.append(Link(sent))
    return tracer.start_span(request.method, context, SpanKind.SERVER, links=links, start_time=at)


async def _traced(tracer: Tracer, span: Span, request: Request, inner: Handler, now: Callable[[], int]) -> Answer:
    _describe(span, request)
    within = set_span_in_context(span, Context())
    carrier: dict[str, str] = {}
    _FORMAT.inject(carrier, within)
    _replace(request, carrier)
    told = 0

    def waited(place: str, began: int, ended: int) -> None:
        nonlocal told
        told += 1
        if told <= MOST_WAITS:
            name = " > ".join(place.split(" > ")[-2:])  # what was wanted, and what waited for it
            tracer.start_span(name, within, attributes={WHEREABOUTS: place}, start_time=began).end(ended)

    try:
        answer = await _followed(_asked(inner, request), carrier["traceparent"].encode(), waited, now)
    except BaseException as error:
        _failed(span, error)
        span.end(now())
        raise
    _answered(span, answer, now)
    return answer


async def _asked(inner: Handler, request: Request) -> Answer:
    return await inner(request)


@coroutine
def _followed(
    work: Coroutine[Any, Any, Answer],
    parent: bytes,
    waited: Callable[[str, int, int], None],
    now: Callable[[], int],
) -> Generator[Any, Any, Answer]:
    """Run `work`, which sees `parent` as TRACEPARENT. `waited` is told where it waited, from when till when."""
    value: Any = None
    thrown: BaseException | None = None
    try:
        while True:
            before = TRACEPARENT.set(parent)  # for this step alone: what runs in between is for others
            try:
                waits_for = work.send(value) if thrown is None else work.throw(thrown)
            finally:
                TRACEPARENT.reset(before)
            began, value, thrown = now(), None, None
            try:
                value = yield waits_for
            except BaseException as error:  # whatever was thrown in is for the work to handle
                thrown = error
            ended = now()
            if ended - began >= SHORTEST and (place := whereabouts(work)):
                waited(place, began, ended)
    except StopIteration as done:
        answer: Answer = done.value
        return answer


def _describe(span: Span, request: Request) -> None:
    """The name and the attributes, as OpenTelemetry's conventions for HTTP servers have them."""
    span.update_name(_name(request))
    attributes: dict[str, AttributeValue] = {
        "http.request.method": request.method,
        "url.scheme": request.origin.scheme,
        "url.path": request.path,
        "network.protocol.version": request.version,
    }
    peer, port = request.origin.peer
    if peer:
        attributes |= {"network.peer.address": peer, "network.peer.port": port, "client.address": peer}
    for attribute, header in (("server.address", b"host"), ("user_agent.original", b"user-agent")):
        value = request.header(header)
        if value:
            attributes[attribute] = value
    ident = request.maybe(AuditId)
    if ident is not None:
        attributes["audit-id"] = str(ident)
    span.set_attributes(attributes)


def _name(request: Request) -> str:
    """The method and the kind of path: there shall not be more names than kinds of requests."""
    info = request.maybe(RequestInfo)
    if info is None or not info.is_resource:
        return request.method
    path = f"/{info.prefix}/{info.group}/{info.version}" if info.group else f"/{info.prefix}/{info.version}"
    if info.namespace and info.resource != "namespaces":
        path += "/namespaces/{:namespace}"
    path += f"/{info.resource}"
    if info.name:
        path += "/{:name}"
    if info.subresource:
        path += f"/{info.subresource}"
    return f"{request.method} {path}"


def _failed(span: Span, error: BaseException) -> None:
    if isinstance(error, APIError):
        _status(span, error.code)
    elif isinstance(error, asyncio.CancelledError):
        span.set_status(StatusCode.ERROR, "the client is gone, or the time was over")
    else:
        span.record_exception(error)
        _status(span, 500)


def _status(span: Span, code: int) -> None:
    span.set_attribute("http.response.status_code", code)
    if code >= 500:
        span.set_status(StatusCode.ERROR)


def _answered(span: Span, answer: Answer, now: Callable[[], int]) -> None:
    """What is still going on when the answer begins, as a watch, lasts until it is over."""
    _status(span, answer.status)
    if isinstance(answer, Response):
        body = answer.body
        size = len(body) if isinstance(body, bytes) else sum(map(len, body))
        span.set_attribute("http.response.body.size", size)
        span.end(now())
        return
    run: Callable[[Any], Awaitable[None]] = answer.run

    async def to_its_end(far_end: Any) -> None:
        try:
            await run(far_end)
        finally:
            span.end(now())

    answer.run = to_its_end
