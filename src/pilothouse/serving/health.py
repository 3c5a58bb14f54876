"""/healthz, /livez and /readyz with their named checks (Kubernetes documentation, "Kubernetes API health endpoints").

Clients learn which check fails, the log and the metrics learn why.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final
from urllib.parse import parse_qs

from pilothouse.kit.metrics import Counter, Gauge, Registry, Value
from pilothouse.kit.record import record
from pilothouse.machinery.goquote import quote
from pilothouse.serving.http import Handler, Request, Response

_log = logging.getLogger(__name__)
_TEXT: Final = (b"Content-Type", b"text/plain; charset=utf-8")
_NOSNIFF: Final = (b"X-Content-Type-Options", b"nosniff")
_OK: Final = b"ok"


class CheckFailed(Exception):
    """Why a check fails; clients are not told, the log is."""


@record
class Check:
    """`probe` raises CheckFailed when something is wrong.

    `forgiven`: while the grace period of an endpoint runs, it does not fail for this check. `settled`: whether it can
    fail no more, so that it need not be probed again.
    """

    name: str
    probe: Callable[[], Awaitable[None]]
    forgiven: bool = False
    settled: Callable[[], bool] = bool  # False


async def always_well() -> None:
    """A check of something that can't fail while the server answers at all."""


def sure(name: str) -> Check:
    """The check of something that can't fail while the server answers at all."""
    return Check(name, always_well, settled=lambda: True)


class HealthMetrics:
    """How checks ended, for /metrics and /metrics/slis: `type` is the endpoint that was asked."""

    def __init__(self, *registries: Registry) -> None:
        labels = ("name", "type")
        self._last = Gauge("kubernetes_healthcheck", "This metric records the result of a single healthcheck.", labels)
        self._all = Counter(
            "kubernetes_healthchecks_total",
            "This metric records the results of all healthcheck.",
            (*labels, "status"),
        )
        self._bound: dict[tuple[str, str], tuple[Value, Value]] = {}
        for registry in registries:
            registry.add(self._last)
            registry.add(self._all)

    def passed(self, endpoint: str, check: str) -> tuple[Value, Value]:
        """The last result of a check, and how often it passed."""
        bound = self._bound.get((endpoint, check))
        if bound is None:
            bound = self._last.bind(check, endpoint), self._all.bind(check, endpoint, "success")
            self._bound[endpoint, check] = bound
        return bound

    def failed(self, endpoint: str, check: str) -> None:
        self._last.bind(check, endpoint).set(0.0)
        self._all.bind(check, endpoint, "error").add()


class Health:
    """One of the three endpoints. `in_grace` is true as long as forgiven checks may fail."""

    def __init__(
        self, name: str, checks: Sequence[Check], metrics: HealthMetrics, in_grace: Callable[[], bool] = lambda: False
    ) -> None:
        self.name = name
        self._checks = tuple(checks)
        self._names = frozenset(check.name for check in checks)
        self._metrics = metrics
        self._in_grace = in_grace
        self._open = list(checks)
        self._settled: list[Value] = []  # how often each check passed that can't fail any more

    async def failure(self, check: Check) -> CheckFailed | None:
        """Why the check fails, None where all is well."""
        try:
            await check.probe()
        except CheckFailed as error:
            self._metrics.failed(self.name, check.name)
            if check.forgiven and self._in_grace():
                return None
            _log.warning("%s check %s failed: %s", self.name, check.name, error)
            return error
        last, count = self._metrics.passed(self.name, check.name)
        last.value = 1.0
        count.value += 1.0
        return None

    async def one(self, name: str) -> Response:
        """The answer of /ENDPOINT/CHECK."""
        for check in self._checks:
            if check.name == name:
                if await self.failure(check) is None:
                    return Response(200, [_TEXT], _OK)
                return _text(500, b"internal server error: reason withheld\n")
        return _text(404, b"404 page not found\n")

    async def all(self, excluded: frozenset[str], verbose: bool) -> Response:
        """The answer of /ENDPOINT."""
        failing = await self._failing_of(self._checks, excluded) if excluded else await self._failing()
        if not failing and not verbose:
            return _text(200, _OK)
        lines = [self._line(check.name, failing, excluded) for check in self._checks]
        unknown = sorted(excluded - self._names)
        if unknown:
            shown = ",".join(map(quote, unknown))
            lines.append(f"warn: some health checks cannot be excluded: no matches for {shown}\n")
        if failing:
            return _text(500, f"{''.join(lines)}{self.name} check failed\n".encode())
        return _text(200, f"{''.join(lines)}{self.name} check passed\n".encode())

    async def _failing_of(self, checks: Sequence[Check], excluded: frozenset[str] = frozenset()) -> set[str]:
        asked = [check for check in checks if check.name not in excluded]
        return {check.name for check in asked if await self.failure(check) is not None}

    async def _failing(self) -> set[str]:
        """The names of all checks that fail. A load balancer asks every second: what is settled is only counted."""
        for passed in self._settled:
            passed.value += 1.0
        failing = await self._failing_of(self._open)
        for check in [check for check in self._open if check.name not in failing and check.settled()]:
            self._open.remove(check)
            self._settled.append(self._metrics.passed(self.name, check.name)[1])
        return failing

    @staticmethod
    def _line(name: str, failing: set[str], excluded: frozenset[str]) -> str:
        if name in excluded:
            return f"[+]{name} excluded: ok\n"
        return f"[-]{name} failed: reason withheld\n" if name in failing else f"[+]{name} ok\n"


def _text(status: int, body: bytes) -> Response:
    return Response(status, [_TEXT, _NOSNIFF], body)


def health_handler(health: Health) -> Handler:
    """Serves `/ENDPOINT` and `/ENDPOINT/CHECK`, whatever the method."""
    whole = f"/{health.name}"
    parts = f"{whole}/"

    async def serve(request: Request) -> Response:
        path = request.path
        if path != whole:
            return await health.one(path.removeprefix(parts))
        if not request.query:
            return await health.all(frozenset(), verbose=False)
        asked = parse_qs(request.query, keep_blank_values=True)
        return await health.all(frozenset(asked.get("exclude", ())), "verbose" in asked)

    return serve
