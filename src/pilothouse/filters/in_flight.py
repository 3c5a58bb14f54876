"""Bounds the requests that are handled at the same time: reading and changing ones each have a limit, beyond it is 429.

Long-running requests do not count, and the administrators' group is never refused.
"""

from __future__ import annotations

from pilothouse.endpoints.requestinfo import RequestInfo
from pilothouse.filters.metrics import Terminated
from pilothouse.kit.metrics import Gauge, Registry
from pilothouse.machinery.errors import too_many_requests
from pilothouse.registry.request import Caller
from pilothouse.serving.http import Answer, Filter, Handler, Request

_READ_ONLY = frozenset({"get", "list", "watch"})
_MASTERS = "system:masters"


class InFlight:
    """Counts of now, for metrics."""

    __slots__ = ("mutating", "reading")

    def __init__(self) -> None:
        self.reading = 0
        self.mutating = 0

    def show(self, registry: Registry) -> None:
        """Make a metric of them, read at a scrape."""
        registry.add(
            Gauge(
                "apiserver_current_inflight_requests",
                (
                    "[STABLE] Maximal number of currently used inflight request limit of this apiserver per "
                    "request kind in last second."
                ),
                ("request_kind",),
                lambda: [(("mutating",), self.mutating), (("readOnly",), self.reading)],
            )
        )


def in_flight(reading: int, mutating: int, counts: InFlight) -> Filter:
    """`reading`, `mutating`: how many at most; 0 is no limit."""

    def build(inner: Handler) -> Handler:
        async def handle(request: Request) -> Answer:
            info = request.attached(RequestInfo)
            if info.long_running:
                return await inner(request)
            if info.verb in _READ_ONLY:
                if reading and counts.reading >= reading and not _is_master(request):
                    request.attach(Terminated())
                    raise too_many_requests()
                counts.reading += 1
                try:
                    return await inner(request)
                finally:
                    counts.reading -= 1
            if mutating and counts.mutating >= mutating and not _is_master(request):
                request.attach(Terminated())
                raise too_many_requests()
            counts.mutating += 1
            try:
                return await inner(request)
            finally:
                counts.mutating -= 1

        return handle

    return build


def _is_master(request: Request) -> bool:
    return _MASTERS in request.attached(Caller).groups
