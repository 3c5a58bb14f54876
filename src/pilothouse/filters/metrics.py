"""Measures every request: how many, how long, how large, with the original's names, labels and buckets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from pilothouse.endpoints.requestinfo import Query, RequestInfo
from pilothouse.kit.metrics import Buckets, Counter, Gauge, Histogram, Registry, Value
from pilothouse.registry.request import Caller
from pilothouse.serving.http import Answer, Filter, Handler, Request, Response, Stream, Upgrade
from pilothouse.serving.timelimit import Waits

T = TypeVar("T")
SLOW: Final = 0.5  # seconds; what takes longer is told in the log
_log = logging.getLogger(__name__)
_SECONDS: Final = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0,
    15.0, 20.0, 30.0, 45.0, 60.0,
)  # fmt: skip
_VALIDATED: Final = _SECONDS[2:]
_SIZES: Final = (1000.0, 10_000.0, 100_000.0, 1e6, 1e7, 1e8, 1e9)
_BODIES: Final = tuple(50_000.0 + 100_000.0 * step for step in range(31))
_TOTAL: Final = (
    "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, "
    "scope, component, and HTTP response code."
)
_DURATION: Final = (
    "[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, resource, "
    "subresource, scope and component."
)
_SLI: Final = (
    "[ALPHA] Response latency distribution (not counting webhook duration and priority & fairness queue wait "
    "times) in seconds for each verb, group, version, resource, subresource, scope and component."
)
_SIZE: Final = (
    "[STABLE] Response size distribution in bytes for each group, version, verb, resource, subresource, scope "
    "and component."
)
_LASTING: Final = (
    "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, "
    "resource, scope and component. Not all requests are tracked this way."
)
_ABORTS: Final = (
    "[ALPHA] Number of requests which apiserver aborted possibly due to a timeout, for each group, version, "
    "verb, resource, subresource and scope"
)
_TERMINATIONS: Final = "[ALPHA] Number of requests which apiserver terminated in self-defense."
_BODY_SIZE: Final = "[ALPHA] Apiserver request body size in bytes broken out by resource and verb."
_VALIDATION: Final = "[ALPHA] Response latency distribution in seconds for each field validation value"
_PROTECTING: Final = frozenset({429, 504})
_VALIDATIONS: Final = frozenset({"Ignore", "Warn", "Strict"})
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})
_LABELS: Final = ("verb", "group", "version", "resource", "subresource", "scope", "component")
_VERBS: Final = {
    "list": "LIST",
    "deletecollection": "DELETECOLLECTION",
    "watch": "WATCH",
    "create": "POST",
    "update": "PUT",
}


class Terminated:
    """Attached to a request that the server ended to protect itself."""

    __slots__ = ()


class RequestMetrics:
    """The families of requests, and the series bound for each kind of request."""

    def __init__(self, registry: Registry) -> None:
        add, labelled = registry.add, (*_LABELS[:1], "dry_run", *_LABELS[1:])
        self.total = add(Counter("apiserver_request_total", _TOTAL, (*labelled, "code")))
        self.duration = add(Histogram("apiserver_request_duration_seconds", _DURATION, labelled, _SECONDS))
        self.sli = add(Histogram("apiserver_request_sli_duration_seconds", _SLI, _LABELS, _SECONDS))
        self.sizes = add(Histogram("apiserver_response_sizes", _SIZE, _LABELS, _SIZES))
        self.long_running = add(Gauge("apiserver_longrunning_requests", _LASTING, _LABELS))
        self.aborts = add(Counter("apiserver_request_aborts_total", _ABORTS, _LABELS[:-1]))
        self.terminations = add(Counter("apiserver_request_terminations_total", _TERMINATIONS, (*_LABELS, "code")))
        sized = ("resource", "verb", "group")
        self.bodies = add(Histogram("apiserver_request_body_size_bytes", _BODY_SIZE, sized, _BODIES))
        name, said = "field_validation_request_duration_seconds", ("field_validation",)
        self.validations = add(Histogram(name, _VALIDATION, said, _VALIDATED))
        self._bound: dict[tuple[str, ...], _Series] = {}

    def aborted(self, request: Request) -> None:
        """Count a request whose client did not wait for the answer."""
        self.aborts.bind(*_labels(request.method, request.maybe(RequestInfo))[:-1]).add()

    def validated(self, request: Request, took: float) -> None:
        """A write said how unknown fields are to be taken."""
        query = request.maybe(Query)
        said = query.get("fieldValidation") if query is not None else ""
        self.validations.bind(said if said in _VALIDATIONS else "invalid").observe(took)

    def protected(self, request: Request, status: int) -> None:
        """Count a request that the server ended."""
        self.terminations.bind(*_labels(request.method, request.maybe(RequestInfo)), str(status)).add()

    def series(self, method: str, info: RequestInfo | None, dry_run: str, code: int) -> _Series:
        """The series of requests like this one. Paths outside the API share one."""
        if info is None or not info.is_resource:
            key: tuple[str, ...] = (method, dry_run, str(code))
        else:
            scope = _scope(info)
            key = (info.verb, dry_run, info.group, info.version, info.resource, info.subresource, scope, str(code))
        found = self._bound.get(key)
        if found is None:
            found = self._bound[key] = self._bind(method, info, dry_run, code)
        return found

    def _bind(self, method: str, info: RequestInfo | None, dry_run: str, code: int) -> _Series:
        labels = _labels(method, info)
        with_dry = (labels[0], dry_run, *labels[1:])
        sli = self.sli.bind(*labels) if labels[0] != "WATCH" else None
        return _Series(
            self.total.bind(*with_dry, str(code)),
            self.duration.bind(*with_dry),
            sli,
            self.sizes.bind(*labels),
            self.bodies.bind(labels[3], labels[0], labels[1]) if method in _WITH_BODY and labels[3] else None,
        )

    def lasting(self, method: str, info: RequestInfo | None) -> Value:
        """How many requests like this one go on now, their answers having begun."""
        return self.long_running.bind(*_labels(method, info))


class _Series:
    __slots__ = ("body", "duration", "size", "sli", "total")

    def __init__(
        self, total: Value, duration: Buckets, sli: Buckets | None, size: Buckets, body: Buckets | None
    ) -> None:
        self.total = total
        self.duration = duration
        self.sli = sli
        self.size = size
        self.body = body


def _labels(method: str, info: RequestInfo | None) -> tuple[str, ...]:
    if info is None or not info.is_resource:
        return (method, "", "", "", "", "", "apiserver")
    return (verb_of(method, info), info.group, info.version, info.resource, info.subresource, _scope(info), "apiserver")


def verb_of(method: str, info: RequestInfo) -> str:
    """What a request does, as metrics call it."""
    return _VERBS.get(info.verb, info.verb.upper()) if info.is_resource else method


def _scope(info: RequestInfo) -> str:
    if info.name:
        return "resource"
    return "namespace" if info.namespace else "cluster"


def metrics(families: RequestMetrics, clock: Callable[[], float]) -> Filter:
    """`clock` in seconds, monotonic."""

    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            started = clock()
            try:
                answer = await inner(request)
            except asyncio.CancelledError:
                families.aborted(request)
                raise
            info = request.maybe(RequestInfo)
            dry_run = "All" if "dryRun=All" in request.query else ""
            series = families.series(request.method, info, dry_run, answer.status)
            took = clock() - started
            series.total.value += 1
            series.duration.observe(took)
            if series.sli is not None:
                series.sli.observe(took)
            if series.body is not None and (length := request.header(b"content-length")) is not None:
                series.body.observe(float(length))
                if "fieldValidation=" in request.query:
                    families.validated(request, took)
            if answer.status in _PROTECTING and request.maybe(Terminated) is not None:
                families.protected(request, answer.status)
            if took > SLOW and (info is None or not info.long_running):
                _tell(request, answer, took)
            if answer.__class__ is Response:
                body = answer.body
                series.size.observe(len(body) if isinstance(body, bytes) else sum(len(piece) for piece in body))
            elif info is not None and info.long_running:
                _count_while_it_lasts(answer, families.lasting(request.method, info))
            return answer

        return handle

    return build


def _tell(request: Request, answer: Answer, took: float) -> None:
    """A line in the log of a request that took long."""
    caller = request.maybe(Caller)
    who = caller.name if caller is not None else "nobody"
    path, ident = request.path, request.header(b"audit-id") or ""
    waits = request.maybe(Waits)
    waited = f"; waited about {waits}" if waits is not None else ""
    _log.warning(
        "slow: %s %s by %s took %.0f ms, status %d %s%s",
        request.method, path, who, took * 1e3, answer.status, ident, waited,
    )  # fmt: skip


def _count_while_it_lasts(answer: Answer, going_on: Value) -> None:
    match answer:
        case Stream():
            answer.run = _counted(answer.run, going_on)
        case Upgrade():
            answer.run = _counted(answer.run, going_on)


def _counted(run: Callable[[T], Awaitable[None]], going_on: Value) -> Callable[[T], Awaitable[None]]:
    async def counted(far_end: T) -> None:
        going_on.add(1)
        try:
            await run(far_end)
        finally:
            going_on.add(-1)

    return counted
